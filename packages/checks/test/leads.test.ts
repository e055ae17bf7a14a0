import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createObserver } from "@holdfast/node/observer/index";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { findInputs } from "../src/inputs.ts";
import { findNamed } from "../src/named.ts";
import { makePlace, type Place } from "./place.ts";

describe("what a check leads to", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.end());

  async function inputs(command: string, files: Readonly<Record<string, string>>): Promise<string[]> {
    for (const [path, content] of Object.entries(files)) place.write(path, content);
    const { manifest } = await place.observer.snapshot(null);
    const workplace = { cwd: place.dir, roots: [{ id: "main", path: place.dir }] };
    const found = await findInputs(commandCheck(command), manifest, place.observer, workplace);
    return [...found.inputs.values()].map(({ entry }) => entry.path);
  }
  const script = { "scripts/ci.sh": "set -e\nnode src/main.js\n", "src/main.js": "throw 1;\n", "calc.py": "import sys\n" };

  test.each<readonly [string, string, Readonly<Record<string, string>>]>([
    ["a recipe of make", "make test", { Makefile: ".PHONY: test\ntest: prepare\nprepare:\n\t@sh scripts/ci.sh\n" }],
    ["a recipe of make in another folder", "cd tools && make -C .. -s", { Makefile: "all:\n\t./scripts/ci.sh\n" }],
    ["a variable of make", "make test", { Makefile: "RUN := sh scripts\ntest:\n\t@$(RUN)/ci.sh\n" }],
    ["a recipe of just", "just test", { justfile: "test name='x': \n    @sh scripts/ci.sh {{name}}\n" }],
    ["a command of tox", "tox -q", { "tox.ini": "[testenv]\ncommands =\n    sh {toxinidir}/scripts/ci.sh\n" }],
    ["an edge of ninja", "ninja", { "build.ninja": "rule run\n  command = sh $in > $out\nbuild all.done: run scripts/ci.sh | x\n" }],
    [
      "a rule of ninja in another file",
      "ninja",
      { "build.ninja": "include r.ninja\nbuild all: run x\n", "r.ninja": "rule run\n  command = sh scripts/ci.sh\n" },
    ],
    ["a runner of many packages", "turbo run ci", { "package.json": '{"scripts":{"ci":"sh scripts/ci.sh"}}' }],
    ["a target of Nx", "npx nx test shop", { "shop/project.json": '{"targets":{"test":{"options":{"command":"sh scripts/ci.sh"}}}}' }],
    [
      "a script for this system",
      "npm test",
      { "package.json": '{"scripts":{"test":"run-script-os","test:linux":"sh scripts/ci.sh","test:win32":"x"}}' },
    ],
    [
      "a value in package.json",
      "npm test",
      { "package.json": '{"config":{"suite":"scripts/ci.sh"},"scripts":{"test":"sh $npm_package_config_suite"}}' },
    ],
    ["a script around an install", "npm ci && npm test", { "package.json": '{"scripts":{"postinstall":"sh scripts/ci.sh"}}' }],
    ["a package's own program", "npx verify", { "package.json": '{"bin":{"verify":"./scripts/ci.sh","main":"src/main.js"}}' }],
    ["a task", "task test", { "Taskfile.yml": "tasks:\n  test:\n    cmds:\n      - sh scripts/ci.sh\n" }],
    ["a session of nox", "nox", { "noxfile.py": 'def test(session):\n    session.run("sh", "scripts/ci.sh")\n' }],
    ["options with values", "bash -eu -o pipefail scripts/ci.sh", {}],
    ["the folder it runs in", 'sh "$PWD/scripts/ci.sh"', {}],
    ["a folder that is found out", 'sh "$(cd "$(dirname "$0")" && pwd)/scripts/ci.sh"', {}],
    ["the script's own folder", "sh ci/all.sh", { "ci/all.sh": 'D=$(dirname "$0")\nsh "$D/../scripts/ci.sh"\n' }],
    ["a variable of a script", "sh all.sh", { "all.sh": "S=scripts/ci.sh\nsh $S\n" }],
    ["what is written into a shell", "cat scripts/ci.sh | sh", {}],
    ["names that a shell is given", "ls scripts/ci.sh | xargs -n1 sh", {}],
    ["a manager of environments", "uv run --directory . sh scripts/ci.sh", {}],
    ["a program around it", "npx c8 --all sh scripts/ci.sh", {}],
    ["a line in another language", "node run.mjs", { "run.mjs": "execSync('sh scripts/ci.sh');\n" }],
    ["words in another language", "python3 run.py", { "run.py": "subprocess.run(['sh', 'scripts/ci.sh'])\n" }],
  ])("%s: %s", async (_, command, files) => {
    const found = await inputs(command, { ...script, ...files });
    expect(found).toContain("scripts/ci.sh");
    expect(found).not.toContain("src/main.js");
  });

  test("a file that make's own takes in", async () => {
    expect(await inputs("make", { Makefile: "-include config.inc\nall:\n\t@$(RUN)\n", "config.inc": "RUN = sh test/x.sh\n" })).toContain(
      "config.inc",
    );
  });

  test("what a variable has an interpreter load first", async () => {
    expect(await inputs('NODE_OPTIONS="--require ./ci/hook.cjs" node all.js', { "ci/hook.cjs": "", "all.js": "" })).toContain(
      "ci/hook.cjs",
    );
    expect(await inputs("export BASH_ENV=ci/env; bash all.sh", { "ci/env": "", "all.sh": "" })).toContain("ci/env");
  });

  test("a file that says which suite is run", async () => {
    const vars = await inputs("export $(cat ci/vars); node $SUITE", { "ci/vars": "SUITE=checks/all.js\n", "checks/all.js": "" });
    expect(vars).toEqual(expect.arrayContaining(["ci/vars", "checks/all.js"]));
    const conf = { "ci.conf": "suite=checks/f.sh\n", "ready.txt": "ready\n" };
    expect(await inputs("sh ci.sh", { ...conf, "ci.sh": "sh $(sed -n 's/^suite=//p' ci.conf)\ngrep ready ready.txt\n" })).toContain(
      "ci.conf",
    );
    expect(await inputs("sh ci.sh", { ...conf, "ci.sh": "suite=$(cut -d= -f2 ci.conf)\nsh $suite\n" })).toContain("ci.conf");
    expect(await inputs("sh ci.sh", { ...conf, "ci.sh": "while read one; do sh $one; done < ci.conf\n" })).toContain("ci.conf");
    expect(await inputs("sh ci.sh", { ...conf, "ci.sh": "grep ready ready.txt\n" })).not.toContain("ready.txt");
  });

  const suite = "import { f } from '../src/f.js';\nprocess.exit(f(1, 2) === 3 ? 0 : 1);\n";
  test("a program of a script that loads what is tested, and fails where that is wrong", async () => {
    const files = { "src/f.js": "", "tools/suite.js": suite };
    expect(await inputs("sh ci.sh", { ...files, "ci.sh": "node tools/suite.js || exit 1\n" })).toContain("tools/suite.js");
    expect(await inputs("make", { ...files, Makefile: "all:\n\tnode tools/suite.js\n" })).toContain("tools/suite.js");
  });

  test.each([
    "flock .lock node tools/suite.js",
    "timeout -s KILL 60 node tools/suite.js",
    "env -u FOO node tools/suite.js",
    'script -qec "node tools/suite.js" /dev/null',
    "node tools/suite",
    "node more",
    "node -e 'import \"./tools/suite.js\"'",
    "node -e \"import('./tools/suite.js').catch(() => process.exit(1))\"",
    "cat tools/suite.js | node --input-type=module",
    "jiti tools/suite.js",
  ])("the script behind whatever runs it, however its name is written: %s", async (command) => {
    const found = await inputs(command, { "src/f.js": "", "tools/suite.js": suite, "more/index.js": "require('../tools/suite.js');\n" });
    expect(found).toContain(command === "node more" ? "more/index.js" : "tools/suite.js");
    expect(found).not.toContain("src/f.js");
  });

  test.each([
    "flock .lock eslint core/f.js",
    "node -e \"if (require('./core/f.js').f(1) !== 2) throw 1\"",
    "node -e \"console.log(require('./core/f.js').f(1))\" | grep -q 2",
    "node -e \"require('./f.js')\"",
    "prettier --check core/f.js",
  ])("not what is tested there: %s", async (command) => {
    const text = "const g = require('../g.js');\nexports.f = (n) => { if (n < 0) throw new Error('no'); return g(n); };\n";
    const found = await inputs(command, { "core/f.js": text, "f.js": text.replace("..", "."), "g.js": "" });
    expect(found).not.toContain("core/f.js");
    expect(found).not.toContain("f.js");
  });

  test("a script that lies in another root", async () => {
    const tools = join(place.top, "tools");
    mkdirSync(tools);
    writeFileSync(join(tools, "all.js"), "");
    const roots = [
      { id: "main", path: place.dir },
      { id: "tools", path: tools },
    ];
    const files = { cwd: place.dir, roots };
    const observer = createObserver({ files, blobs: place.blobs, cacheDir: join(place.top, "cache2"), home: place.top });
    const { manifest } = await observer.snapshot(null);
    for (const path of ["../tools/all.js", join(tools, "all.js"), "../tools/all", "all.js"]) {
      const line = path === "all.js" ? "cd ../tools && node all.js" : `node ${path}`;
      const found = await findInputs(commandCheck(line), manifest, observer, files);
      expect([...found.inputs.values()].map(({ entry }) => `${entry.root}:${entry.path}`)).toEqual(["tools:all.js"]);
    }
  });

  test.each([
    '[ "$(node tools/suite.js)" = 3 ]\n',
    "node tools/suite.js | grep -q 3\n",
    "node tools/suite.js 1 2\n",
    "if node tools/suite.js; then exit 1; fi\n",
    "node src/main.js\n",
  ])("what a script looks at is tested: %s", async (line) => {
    const found = await inputs("sh ci.sh", { ...script, "src/f.js": "", "tools/suite.js": suite, "ci.sh": line });
    expect(found).not.toContain("tools/suite.js");
    expect(found).not.toContain("src/main.js");
  });

  test("what a runner's configuration leads to, and not what it says is tested", async () => {
    const found = await inputs("npx jest", {
      "package.json": '{"jest":{"reporters":["./config/report.js"]},"main":"./index.js"}\n',
      "jest.config.js": 'module.exports = { transform: { x: "<rootDir>/config/to-cjs.js" }, roots: ["./src/a.js"] };\n',
      "config/to-cjs.js": 'require("./more.js");\n',
      "config/more.js": "",
      "config/report.js": "",
      "conftest.py": 'pytest_plugins = ["tools.plug"]\n',
      "tools/plug.py": "",
      "tools/other.py": "",
      "src/a.js": "",
      "index.js": "",
    });
    expect(found).toEqual(expect.arrayContaining(["config/to-cjs.js", "config/more.js", "config/report.js", "tools/plug.py"]));
    for (const path of ["src/a.js", "index.js", "tools/other.py"]) expect(found).not.toContain(path);
  });

  test("what runners and checkers load from among sources, and not what is tested there", async () => {
    const found = await inputs("npx mocha && npx eslint --rulesdir lib/rules src", {
      "vitest.config.js":
        'import { plain } from "./lib/plain.js";\nexport default { plugins: [plain()], test: { setupFiles: ["./src/setup.js"], coverage: { include: ["./src/a.js"] } } };\n',
      ".mocharc.json": '{ "require": "./lib/register.js", "spec": "./src/b.js" }\n',
      ".mocharc.yml": "require:\n  - ./lib/more.js\nspec: ./src/b.js\n",
      "jest.config.js": 'module.exports = { moduleNameMapper: { "^@/(.*)$": "./src/b.js" }, transform: { x: "<rootDir>/lib/t.js" } };\n',
      "src/setup.js": 'import "./a.js";\n',
      ...Object.fromEntries(["lib/plain.js", "lib/register.js", "lib/more.js", "lib/rules/r.js", "lib/t.js"].map((path) => [path, ""])),
      ...Object.fromEntries(["src/a.js", "src/b.js", "lib/c.js"].map((path) => [path, ""])),
    });
    const expected = ["lib/plain.js", "lib/register.js", "lib/more.js", "lib/rules/r.js", "lib/t.js", "src/setup.js"];
    expect(found.filter((path) => /^(?:src|lib)\//.test(path)).sort()).toEqual(expected.sort());
  });

  test("scenarios, the steps behind them, and what says how they run", async () => {
    const files = { "features/a.feature": "", "features/steps/a.js": "", "cucumber.js": "", "index.test-d.ts": "", "src/a.js": "" };
    const expected = ["cucumber.js", "features/a.feature", "features/steps/a.js", "index.test-d.ts"];
    expect((await inputs("npx cucumber-js", files)).sort()).toEqual(expected);
  });

  test("past a bound it is said that more is named than was followed", async () => {
    const named = await findNamed({
      command: "sh s0.sh",
      folder: "",
      has: (path) => /^s\d+\.sh$/.test(path),
      inside: () => null,
      top: "/work",
      packages: [],
      text: async (path) => `sh s${Number(/\d+/.exec(path)?.[0]) + 1}.sh\n`,
    });
    expect(named.isCut).toBe(true);
    expect(named.files.size).toBeGreaterThan(100);
  });
});
