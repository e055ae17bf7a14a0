import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { matcher } from "../src/glob.ts";
import { findInputs } from "../src/inputs.ts";
import { packagePart, sectionsPart } from "../src/parts.ts";
import { simpleCommands } from "../src/shell-words.ts";
import { makePlace, type Place } from "./place.ts";

test.each([
  ["*.test.js", "deep/a.test.js", true],
  ["*.test.js", "a.test.jsx", false],
  ["test/**", "test/a/b", true],
  ["test/**", "src/test/b", false],
  ["**/test/**", "src/test/b", true],
  ["**/test/**", "test/b", true],
  ["/a.js", "a.js", true],
  ["/a.js", "b/a.js", false],
  ["docs/", "docs/a/b", true],
  ["a?.{js,ts}", "x/ab.ts", true],
  ["a[0-9].js", "a5.js", true],
  ["a[!0-9].js", "a5.js", false],
  ["a[z-a].js", "a[z-a].js", true],
  ["*.{a", "x.a", true],
  ["./src/*.js", "src/a.js", true],
  ["*", "a/b/.c", true],
])("the glob %s and the file %s: %s", (glob, path, expected) => {
  expect(matcher([glob])(path)).toBe(expected);
});

test("no globs match nothing", () => {
  expect(matcher([])("a")).toBe(false);
});

test("simple commands are found in lines and scripts", () => {
  expect(simpleCommands(`FOO=1 npm test && (cd "a b"; sh -c 'node x.js') | tee out >log # end\nmake\\ it $(cat list)`)).toEqual(
    [
      ["FOO=1", "npm", "test"],
      ["cd", "a b"],
      ["sh", "-c", "node x.js"],
      ["tee", "out", "log"],
      ["make it", "$"],
      ["cat", "list"],
    ].map((words) => words.filter((word) => word !== "$")),
  );
});

describe("parts of files", () => {
  const part = packagePart(new Set(["test"]));

  test("only the scripts that run and the runners' keys count in package.json", () => {
    const one = JSON.stringify({ version: "1", scripts: { test: "a", pretest: "p", build: "b" }, jest: { x: 1 } });
    const two = JSON.stringify({
      version: "2",
      dependencies: { y: "1" },
      scripts: { build: "c", pretest: "p", test: "a" },
      jest: { x: 1 },
    });
    expect(part.read(one)).toBe(part.read(two));
    expect(part.read(one)).not.toBe(part.read(one.replace('"p"', '"q"')));
    expect(part.read(one)).not.toBe(part.read(one.replace('"x":1', '"x":2')));
  });

  test("the keys of a tool that the check runs, and a program of its own that tests", () => {
    const one = packagePart(new Set(), ["types"], new Set(["verify"]));
    const text = (bin: string, types: string): string => JSON.stringify({ name: "verify", bin, types });
    expect(one.read(text("a.js", "a.d.ts"))).not.toBe(one.read(text("b.js", "a.d.ts")));
    expect(one.read(text("a.js", "a.d.ts"))).not.toBe(one.read(text("a.js", "b.d.ts")));
    expect(JSON.parse(one.restore(text("b.js", "b.d.ts"), text("a.js", "a.d.ts")) ?? "")).toMatchObject({ bin: "a.js", types: "a.d.ts" });
    expect(part.read(text("a.js", "a.d.ts"))).toBe(part.read(text("b.js", "b.d.ts")));
  });

  test("the earlier scripts are put back into the later package.json", () => {
    const later = JSON.stringify({ version: "2", scripts: { test: "exit 0", posttest: "x", build: "c" }, vitest: {} });
    const earlier = JSON.stringify({ version: "1", scripts: { test: "a" }, jest: { x: 1 } });
    expect(JSON.parse(part.restore(later, earlier) ?? "")).toEqual({ version: "2", scripts: { build: "c", test: "a" }, jest: { x: 1 } });
    expect(JSON.parse(part.restore(later, null) ?? "")).toEqual({ version: "2", scripts: { build: "c" } });
    expect(part.restore("no json", earlier)).toBeNull();
  });

  test("only a runner's sections count in a TOML file, and they are put back", () => {
    const toml = sectionsPart(/tool\.pytest\b/);
    const earlier = '[project]\nversion = "1"\n\n[tool.pytest.ini_options]\naddopts = "-x"\n';
    const later = '[tool.pytest.ini_options]\naddopts = "--co"\n[project]\nversion = "2"\ndependencies = [\n  "a",\n]';
    expect(toml.read(earlier)).not.toBe(toml.read(later));
    expect(toml.read(earlier)).toBe(toml.read(earlier.replace('"1"', '"3"')));
    const restored = toml.restore(later, earlier) ?? "";
    expect(restored).toContain('version = "2"');
    expect(restored).toContain('addopts = "-x"');
    expect(restored).not.toContain("--co");
    expect(toml.read(toml.restore(later, null) ?? "")).toBe("");
  });
});

describe("inputs of a check", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
    const files: Readonly<Record<string, string>> = {
      "package.json": JSON.stringify({
        scripts: { test: "npm run unit && eslint .", unit: "node tools/run.mjs src/main.js", build: "node tools/build.js" },
      }),
      "tools/run.mjs": "",
      "tools/build.js": "",
      "src/main.js": "",
      "src/main.test.js": "",
      "src/__snapshots__/main.snap": "",
      "eslint.config.js": "",
      "tsconfig.json": "",
      "ci/check.sh": "cd ci\nsh more.sh\npython3 -m tools.verify ../src/main.js\n",
      "ci/more.sh": "node ../src/main.js | diff - expected.txt",
      "ci/expected.txt": "",
      "ci/tools/verify.py": "",
      Makefile: "",
      "app/tests/test_a.py": "",
      "app/conftest.py": "",
      "pyproject.toml": "",
      "README.md": "",
    };
    for (const [path, content] of Object.entries(files)) place.write(path, content);
  });
  afterEach(() => place.end());

  async function inputs(command: string, declared: string[] = []): Promise<string[]> {
    const { manifest } = await place.observer.snapshot(null);
    const files = { cwd: place.dir, roots: [{ id: "main", path: place.dir }] };
    const found = await findInputs(commandCheck(command, { inputs: declared }), manifest, place.observer, files);
    return [...found.inputs.values()].map(({ entry }) => entry.path).sort();
  }
  const always = [
    "Makefile",
    "app/conftest.py",
    "app/tests/test_a.py",
    "package.json",
    "pyproject.toml",
    "src/__snapshots__/main.snap",
    "src/main.test.js",
  ];

  test("test files, fixtures and runner configuration of every toolchain", async () => {
    expect(await inputs("true")).toEqual(always);
  });

  test("the script behind a package script, and the configuration of the tools it mentions", async () => {
    expect(await inputs("npm test")).toEqual([...always, "eslint.config.js", "tools/run.mjs"].sort());
    expect(await inputs("npm --prefix . run test -- --watch=false")).toContain("tools/run.mjs");
    expect(await inputs("node --run build")).toContain("tools/build.js");
    expect(await inputs("npx tsc -p .")).toContain("tsconfig.json");
    place.write(".editorconfig", "");
    expect(await inputs("npx prettier --check .")).toContain(".editorconfig");
    expect(await inputs("npm test")).not.toContain(".editorconfig");
  });

  test("scripts that a shell script runs, and what they compare with; not the program under test", async () => {
    expect(await inputs("bash ci/check.sh")).toEqual(
      [...always, "ci/check.sh", "ci/more.sh", "ci/expected.txt", "ci/tools/verify.py"].sort(),
    );
    expect(await inputs("cd ci && ./check.sh")).toContain("ci/check.sh");
    expect(await inputs("bash -c 'cd ci; sh more.sh'")).toEqual([...always, "ci/expected.txt", "ci/more.sh"].sort());
    expect(await inputs("cd ci && python3 -m tools.verify")).toContain("ci/tools/verify.py");
  });

  test("declared inputs replace the test patterns, never the runner's configuration or the script", async () => {
    expect(await inputs("node tools/run.mjs", ["README.md"])).toEqual([
      "Makefile",
      "README.md",
      "app/conftest.py",
      "package.json",
      "pyproject.toml",
      "tools/run.mjs",
    ]);
  });
});
