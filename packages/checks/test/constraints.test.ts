import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { constraintCheck, constraintsIn } from "../src/constraints.ts";
import { dependenciesIn } from "../src/kinds/dependencies.ts";
import { commandCheck } from "../src/index.ts";
import { makePlace, type Place } from "./place.ts";

describe("what words limit", () => {
  test.each([
    ["Fix the login, but don't touch the public API.", ["don't touch the public API"]],
    ["Add a flag. Please do not add new dependencies!", ["Please do not add new dependencies"]],
    ["Fix the login, but no extra deps. Add no packages.", ["no extra deps", "Add no packages"]],
    ["- Only change src/a.ts\n- No new dependencies", ["Only change src/a.ts", "No new dependencies"]],
    ["Keep the command line unchanged and don't edit `docs/`.", ["Keep the command line unchanged", "don't edit `docs/`"]],
  ])("%s", (words, found) => expect(constraintsIn(words)).toEqual(found));

  test.each([
    "No additional package was found. No further context is there. Without new packages it is slow?",
    "Don't you think that the API is too large?",
    "It does not work when there is no new line. Users never see it.",
    "> do not touch this\nExplain the quoted line.",
    "```sh\nnever run this\n```\nWhat does it do?",
  ])("limits nothing: %s", (words) => expect(constraintsIn(words)).toEqual([]));
});

describe("a constraint that code can judge is a check", () => {
  test.each([
    ["no new dependencies", { kind: "diff", addsNoDependencies: true }],
    ["no new deps", { kind: "diff", addsNoDependencies: true }],
    ["no new package names", { kind: "stated" }],
    ["without new dependencies of a.js on b.js", { kind: "stated" }],
    ["Don't add any new npm packages.", { kind: "diff", addsNoDependencies: true }],
    ["don't touch src/api or `docs`", { kind: "diff", never: ["/src/api", "/src/api/**", "/docs", "/docs/**"] }],
    ["leave config/*.toml alone", { kind: "diff", never: ["config/*.toml"] }],
    ["only change files in src/", { kind: "diff", only: ["/src", "/src/**"] }],
    ["do not change anything outside src/ui", { kind: "diff", only: ["/src/ui", "/src/ui/**"] }],
    ["don't touch the public API", { kind: "stated", isRequired: false }],
    ["don't change the tests before the sources", { kind: "stated" }],
    ["never edit /etc/passwd", { kind: "stated" }],
  ])("%s", (text, wanted) => expect(constraintCheck(text, "flag")).toMatchObject(wanted));
});

test.each([
  "no new deps",
  "No extra libs, please.",
  "no additional third-party packages",
  "don't add a dep",
  "never pull in new libraries",
  "add no packages",
  "without new deps",
  "without adding any new dependency",
])("wants no new dependencies: %s", (text) => expect(constraintCheck(text, "flag")).toMatchObject({ addsNoDependencies: true }));

test("the packages that manifests and lock files name", () => {
  const names = (path: string, text: string): string[] => [...dependenciesIn(path, text)];
  expect(names("package.json", '{"dependencies":{"a":"1"},"devDependencies":{"@x/b":"2"}}')).toEqual(["a", "@x/b"]);
  expect(names("app/package-lock.json", '{"packages":{"":{},"node_modules/a":{},"node_modules/a/node_modules/@x/b":{}}}')).toEqual([
    "a",
    "@x/b",
  ]);
  expect(names("pyproject.toml", '[project]\ndependencies = ["httpx>=1", "rich"]\n[tool.poetry.dependencies]\npython = "3"\n')).toEqual([
    "httpx",
    "rich",
    "python",
  ]);
  expect(names("Cargo.toml", '[package]\nname = "x"\n[dependencies]\nserde = "1"\n[dev-dependencies.insta]\nversion = "1"\n')).toEqual([
    "serde",
    "insta",
  ]);
  expect(names("go.mod", "module m\nrequire (\n\tgithub.com/a/b v1.0.0\n)\n")).toEqual(["github.com/a/b"]);
  expect(names("requirements.txt", "# c\nflask==3\n-r other.txt\n")).toEqual(["flask"]);
  expect(names("src/a.js", 'import "a"')).toEqual([]);
});

describe("a new dependency under an old name, or in another place, is one", () => {
  const lock = (entry: object): string => JSON.stringify({ packages: { "": {}, "node_modules/a": entry } });
  const registry = "https://registry.npmjs.org";
  test.each<[path: string, was: string, is: string, added: readonly string[]]>([
    ["package.json", '{"dependencies":{"a":"^1"}}', '{"dependencies":{"a":"npm:left-pad@1"}}', ["left-pad"]],
    ["package.json", '{"dependencies":{"a":"^1"}}', '{"dependencies":{"a":"github:evil/x"}}', ["github:evil/x"]],
    ["package.json", '{"dependencies":{"a":"^1"}}', '{"dependencies":{"a":"^1"},"overrides":{"b":{"c":"npm:left-pad"}}}', ["left-pad"]],
    ["package.json", '{"dependencies":{"a":"o/a#v1"}}', '{"dependencies":{"a":"o/a#v2"}}', []],
    ["package.json", '{"dependencies":{"a":"^1"}}', '{"dependencies":{"a":"2.0.0 || >=3"},"overrides":{"b":"1.2.3"}}', []],
    ["package.json", '{"dependencies":{"a":"^1"}}', '{"dependencies":{"a":"workspace:*"}}', []],
    ["package-lock.json", lock({}), lock({ resolved: `${registry}/left-pad/-/left-pad-1.3.0.tgz` }), ["left-pad"]],
    ["package-lock.json", lock({ version: "1.0.0" }), lock({ version: "1.0.1", resolved: `${registry}/a/-/a-1.0.1.tgz` }), []],
    ["setup.py", 'setup(name="x", install_requires=["flask"])', 'setup(name="x", install_requires=["flask", "requests>=2"])', ["requests"]],
    [
      "setup.py",
      'setup(extras_require={"dev": ["a"]})',
      'more = ["b"]\nsetup(extras_require={"test": ["a"]}, install_requires=more)',
      ["b"],
    ],
    ["setup.cfg", "[options]\ninstall_requires =\n  a\n", "[options]\ninstall_requires =\n  a>1\n  b\nzip_safe = no\n", ["b"]],
    ["tools/x.py", "import os\n", '# /// script\n# dependencies = ["requests"]\n# ///\nimport requests\n', ["requests"]],
    ["requirements.txt", "flask\n", "flask @ git+https://x.org/flask@v1\n# -r a\n", ["git+https://x.org/flask"]],
    [
      "pyproject.toml",
      '[project]\ndependencies = ["a"]\n',
      '[project]\ndependencies = ["a @ https://x.org/b.zip"]\n',
      ["https://x.org/b.zip"],
    ],
    ["Cargo.toml", '[dependencies]\na = "1"\n', '[dependencies]\na = { version = "1", package = "b" }\n', ["b"]],
    [
      "Cargo.toml",
      '[dependencies]\na = "1"\n',
      '[dependencies]\na = "2"\n[patch.crates-io]\na = { git = "https://x.org/b" }\n',
      ["https://x.org/b"],
    ],
    ["go.mod", "require a.org/a v1.0.0\n", "require a.org/a v1.0.1\nreplace a.org/a => b.org/b v1.0.0\n", ["b.org/b"]],
    ["src/x.ts", 'import a from "a";\n', 'import a from "npm:left-pad@1";\n', ["left-pad"]],
  ])("%s: %s becomes %s", (path, was, is, added) => {
    const known = dependenciesIn(path, was);
    expect([...dependenciesIn(path, is)].filter((name) => !known.has(name))).toEqual(added);
  });
});

describe("over a real workspace", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
    place.write("package.json", '{"name":"p","dependencies":{"a":"1"}}');
    place.write("src/api/a.js", "1\n");
    place.write("src/b.js", "1\n");
    place.commit();
  });
  afterEach(() => place.end());
  const ending = async (text: string, work: () => void) => {
    const check = constraintCheck(text, "flag");
    const baseline = await place.baseline();
    work();
    const { verdict } = await place.round(baseline, check);
    return { verdict: verdict.verdict, heading: verdict.report.heading, rows: verdict.report.criteria.map(({ now }) => now) };
  };

  test("broken, the work is refuted", async () => {
    expect(await ending("don't touch src/api", () => place.write("src/api/a.js", "2\n"))).toMatchObject({
      verdict: "fail",
      rows: ["fail"],
    });
    expect(
      await ending("no new dependencies", () => place.write("package.json", '{"name":"p","dependencies":{"a":"1","b":"1"}}')),
    ).toMatchObject({ verdict: "fail" });
  });

  test("a cache that the check's tool keeps breaks none, and needs no second run", async () => {
    const mark = "Signature: 8a477f597d28d172789f06886806bc55";
    const cache = `mkdir -p .c; printf '\\52\\n' > .c/.gitignore; echo ${mark} > .c/CACHEDIR.TAG; date > .c/time\n`;
    place.write("test/f.sh", `${cache}. ./lib/f.sh\n[ "$(f 1 2)" = 3 ]\n`);
    place.write("lib/f.sh", "f() { echo $(($1 - $2)); }\n");
    place.commit();
    const check = commandCheck("sh test/f.sh");
    const baseline = await place.baseline(check);
    place.write("lib/f.sh", "f() { echo $(($1 + $2)); }\n");
    const { evidence, verdict } = await place.round(baseline, check, constraintCheck("only change lib/", "flag"));
    expect(verdict).toMatchObject({ verdict: "pass", report: { changes: [{ path: "lib/f.sh" }], reasons: [] } });
    expect(evidence[0]?.repeats).toEqual([]);
  });

  test("requirements are read with the files that they take in", async () => {
    place.write("requirements.txt", "flask\n-r more.txt\n");
    place.write("more.txt", "rich\n");
    place.write("notes.txt", "requests\n");
    place.commit();
    const grows = () => place.write("more.txt", "rich\nrequests\n");
    expect(await ending("no new dependencies", grows)).toMatchObject({ verdict: "fail" });
    place.write("more.txt", "rich\n");
    const takes = () => place.write("more.txt", "rich\n-r notes.txt\n");
    expect(await ending("no new dependencies", takes)).toMatchObject({ verdict: "fail" });
    place.write("more.txt", "rich\n");
    const moves = () => {
      place.write("requirements.txt", "-r more.txt\n");
      place.write("more.txt", "rich\nflask>2\n");
    };
    expect(await ending("no new dependencies", moves)).toMatchObject({ rows: ["pass"] });
  });

  test("held, nothing is proven by it", async () => {
    expect(await ending("don't touch src/api", () => place.write("src/b.js", "2\n"))).toMatchObject({
      verdict: "none",
      heading: "not verified: no check was asked for",
      rows: ["pass"],
    });
  });

  test("one that no code can judge is shown as not judged", async () => {
    expect(await ending("don't touch the public API", () => place.write("src/b.js", "2\n"))).toMatchObject({
      verdict: "none",
      rows: ["not judged"],
    });
  });
});
