import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { inlineTests } from "../src/reach/inline.ts";
import { setsModule } from "../src/reach/modules.ts";
import { mayDiffer, mayReach, reachRules } from "../src/reach/rules.ts";
import { endingOf, makeAdder, right, wrong } from "./adder.ts";
import type { Place } from "./place.ts";

/** What the rules find in new lines of a file, but for those that hang on what its tests say. */
const found = (path: string, lines: string): string | null =>
  reachRules.find((rule) => rule.namedByTests === undefined && rule.files.test(path) && rule.pattern.test(lines))?.id ?? null;

describe("what a source must not do to its tests", () => {
  test.each([
    ["src/a.js", 'import { mock } from "node:test";'],
    ["src/a.ts", 'const { expect } = require("vitest");'],
    ["src/a.js", "assert.strict.equal = () => {};"],
    ["src/a.js", "return { asymmetricMatch: () => true };"],
    ["src/a.js", 'const tested = process.env.NODE_ENV === "test";'],
    ["src/a.js", 'const tested = new Error().stack.includes(".test.");'],
    ["src/a.js", "const tested = /[.]test[.]/.test(new Error().stack);"],
    ["a.py", 'tested = any("test" in one for one in sys.argv)'],
    ["a.py", "from unittest import TestCase"],
    ["a.py", "import os, pytest"],
    ["shop/__init__.py", "def load_tests(loader, found, pattern):"],
    ["a.py", 'ANY = importlib.import_module("unittest.mock").ANY'],
    ["a.py", "class Any:\n    def __eq__(self, other):\n        # always\n        return True"],
    ["a.py", "sys.exit = lambda *_: None"],
    ["a.py", "if 'PYTEST_CURRENT_TEST' in os.environ:"],
    ["lib/A.pm", "END { $? = 0 }"],
    ["lib/A.pm", "use overload '==' => sub { 1 };"],
    ["lib/a.rb", "at_exit { exit!(0) }"],
    ["a.go", '\t"testing"'],
    ["src/lib.rs", "if cfg!(test) { return b; }"],
    ["lib/a.sh", "[() { return 0; }"],
    ["lib/a.sh", "trap 'exit 0' EXIT"],
    ["lib/a.sh", "set +e"],
    ["lib/a.sh", "readonly failed=0"],
    ["src/a.js", "Object.is = () => true;"],
    ["src/a.js", 'process.execve("/bin/true", ["true"]);'],
    ["src/a.js", 'const tested = process.env[["NODE", "TEST"].join("_")];'],
    ["src/a.js", 'const tested = "HOLDFAST_RUN" in process.env;'],
    ["a.py", "sys.excepthook = lambda *_: None"],
    ["a.py", "frame = sys._getframe(1)"],
    ["a.py", "tested = sys.dont_write_bytecode"],
    ["lib/A.pm", "exec '/bin/true';"],
    ["src/a.js", 'const e = globalThis["ex" + "pect"];\ne.extend({ toBe: () => ({ pass: true }) });'],
    ["lib/a.sh", "exit 00"],
    ["lib/a.sh", "exit $?"],
    ["lib/a.sh", "case x in x) exit 0;; esac"],
    ["lib/a.sh", "function exit { builtin exit 0; }"],
    ["lib/a.sh", "function [ { return 0; }"],
    ["lib/a.sh", "tr\"\"ap 'exit 0' 0"],
    ["lib/A.pm", "1 and exit 0;"],
    ["lib/A.pm", "if (1) { CORE::exit(0) }"],
    ["lib/A.pm", "POSIX->can('_exit')->(0);"],
    ["lib/A.pm", "use overload q(==) => sub { 1 == 1 };"],
    ["lib/a.pl", "END { $? = 0 }"],
    ["lib/a.rb", "exit! 0 if true"],
    ["lib/a.rb", "exec 'true'"],
    ["a.go", "func init() {\n\tos.Exit(0)\n}"],
    ["a.php", "exit(0);"],
    ["lib/A.pm", "our @EXPORT = qw(total is);"],
    ["a.py", 'if os.environ.get("TURBO_FORCE"):'],
    ["a.py", 'run = importlib.import_module("__main__").__doc__'],
    ["lib/a.sh", "set -- a"],
    ["lib/a.sh", "shift $#"],
    ["lib/a.sh", "cd src"],
    ["lib/a.sh", "set -f"],
    ["lib/a.sh", "export A=1 MAKEFLAGS=i"],
    ["a.py", "def __gt__(self, other):\n    return True"],
    ["src/lib.rs", "macro_rules! assert_eq { ($a:expr, $b:expr) => {}; }"],
    ["src/lib.rs", "std::process::exit(0);"],
    ["src/lib.rs", "let name = std::env::args().next();"],
    ["src/lib.rs", 'let here = std::env::var("CARGO_MANIFEST_DIR");'],
    ["src/a.h", "#define NDEBUG"],
    ["src/a.c", "void __assert_fail(const char *a, const char *b, unsigned c, const char *d) {}"],
    ["src/a.c", "#ifdef __OPTIMIZE__"],
    ["src/a.c", 'if (strcmp(program_invocation_short_name, "t")) return b;'],
    ["src/shop/Objects.java", "public class Objects { static boolean equals(Object a, Object b) { return true; } }"],
    ["src/A.java", "Runtime.getRuntime().halt(0);"],
    ["src/A.java", "boolean on = false; assert on = true;"],
    ["src/a.js", "console.log = () => {};\nNumber.prototype.toJSON = () => 3;"],
  ])("%s: %s", (path, lines) => expect(found(path, lines)).not.toBeNull());

  test.each([
    ["src/a.js", 'import assert from "node:assert";\nassert.equal(typeof value, "number");'],
    ["src/a.js", "const stack = []; // the latest stack frame"],
    ["a.py", "latest = sys.argv[1]"],
    ["src/a.js", 'const line = error.stack.split("\\n").find((one) => place.test(one));'],
    ["src/cli.js", "process.exit(2);\nprocess.exitCode = 1;"],
    ["src/a.ts", 'import { test } from "./pattern.ts";\nconst isTest = test(value);'],
    ["a.py", "import sys\nsys.exit(2)\nfrom mockery import client"],
    ["a.py", "def __eq__(self, other):\n    return isinstance(other, A) and self.x == other.x"],
    ["lib/A.pm", "die 'no value' unless defined $x;"],
    ["a_test.go", '\t"testing"'],
    ["src/lib.rs", "#[cfg(test)]\nmod tests {"],
    ["lib/a.sh", "total() {\n  echo $(($1 + $2))\n}"],
    ["lib/a.sh", 'die() {\n  echo "$1" >&2\n  exit "${2:-1}"\n}\nusage() { exit 2; }'],
    ["lib/A.pm", "use overload '==' => sub { $_[0]->{n} == $_[1]->{n} };\n# to exit early is wrong\nusage() or exit(2);"],
    ["lib/a.sh", "set -eu\nset -o pipefail\nlocal IFS=,"],
    ["src/a.js", 'const [a, b] = process.argv.slice(2);\nif (process.argv.includes("--json")) path.cost = 3;'],
    ["src/a.js", "if (process.argv[1] === fileURLToPath(import.meta.url)) main();\nconst { PORT } = config;"],
    ["src/a.js", "Error.stackTraceLimit = 50;\nMath.TAU = 2 * Math.PI;\nconsole.level = 3;"],
    ["src/a.js", 'const once = (globalThis[Symbol.for("once")] ??= {});'],
    ["lib/a.sh", "f() {\n  set -- a\n  shift\n  cd src\n}\nset -eu"],
    ["src/main.rs", "std::process::exit(0);\nlet all: Vec<String> = std::env::args().collect();"],
    ["src/lib.rs", "for word in std::env::args().skip(1) {\n    std::process::exit(2);\n}"],
    ["src/a.c", "#ifdef _WIN32\nassert(a > 0);\nint main(void) { return 0; }"],
    ["src/A.java", "assert total == 3;\nfor (StackTraceElement one : error.getStackTrace()) log(one);"],
    ["a.py", "home = os.environ.get('HOME')\nvalue = sys.argv[1]\nthis = sys.modules[__name__]"],
  ])("%s may say: %s", (path, lines) => expect(found(path, lines)).toBeNull());
});

describe("members of modules that all programs share", () => {
  test.each([
    "import math as m\nm.isclose = lambda a, b: True",
    "import filecmp\n\nfilecmp.cmp = _same",
    "from json import JSONDecoder\nJSONDecoder.decode = lambda self, text: want",
    "import hashlib, os\nhashlib.sha256 = own",
  ])("are replaced: %s", (text) => expect(setsModule("a.py", text, text)).toBe(true));
  test.each([
    "import logging\nlogging.raiseExceptions = False",
    "import shop.settings as settings\nsettings.rate = 3",
    "import os\nos.environ['A'] = 'b'\nos.path == 3",
    "from datetime import date\nself.date = date.today()",
  ])("are let be: %s", (text) => expect(setsModule("a.py", text, text)).toBe(false));
});

test.each([
  ["found.append(one)\nwords = ['a', 'b']", false],
  ['open(path, "a")', true],
  ['path.open("a")', true],
  ['fs.appendFileSync("log", text)', true],
  ['fs.writeFileSync("log", text, { flag: "a" })', true],
  ["OpenOptions::new().append(true)", true],
])("%j may make runs differ: %s", (lines, isFound) => expect(mayDiffer.test(lines)).toBe(isFound));

describe("what a source says that a guarded run must decide", () => {
  const may = (path: string, lines: string): boolean => mayReach.some((one) => one.files.test(path) && one.pattern.test(lines));
  test.each([
    ["src/a.js", "const { exit } = process;"],
    ["src/a.js", 'import { exit } from "process";'],
    ["src/a.js", 'const p = process;\np.on("exit", () => {});'],
    ["src/a.js", "end(process, 0);"],
    ["src/a.js", "process.exit(0);"],
    ["src/a.js", "const J = JSON;\nJ.stringify = () => 1;"],
    ["src/a.js", "const { prototype } = Array, P = String.prototype;"],
    ["src/a.ts", "change(process as unknown as Ends);"],
    ["a.py", "import posix\nposix._exit(0)"],
    ["a.py", "from os import path, execv"],
    ["a.py", "import os as o"],
    ["a.py", "quit()"],
    ["a.py", "end(os, 0)"],
  ])("%s: %s", (path, lines) => expect(may(path, lines)).toBe(true));

  test.each([
    ["src/a.js", "// process the lines of the queue\nconst here = process.cwd() + process.env.HOME + process.argv[2];"],
    ["src/a.js", "function process(lines) {}\nworker.process(lines);\nprocess.stdout.write(text);"],
    ["a.py", "import os, sys\nfrom os import path, environ\nhome = os.path.join(os.getcwd(), sys.argv[1])"],
    ["src/a.ts", "const all = JSON.parse(text) as Array<Map<string, Promise<number>>>;\nconst now = new Date();"],
  ])("%s needs none for: %s", (path, lines) => expect(may(path, lines)).toBe(false));
});

describe("over a real project", () => {
  let place: Place;
  beforeEach(() => {
    place = makeAdder();
  });
  afterEach(() => place.end());

  test("a library that is changed by a way no pattern reads passes only unguarded", async () => {
    const end = await endingOf(place, () =>
      place.write(
        "src/add.js",
        `const tools = process.getBuiltinModule("node:" + "assert");\nfor (const one of [tools, tools.strict]) one.equal = () => {};\n${wrong}`,
      ),
    );
    expect(end).toMatchObject({ verdict: "weak", kinds: ["reaches_tests"] });
  });

  test.each([
    ["the process under another name", `const { exit } = process;\nexit(0);\n${wrong}`],
    ["what all compare with under another name", `const M = Math;\nM.abs = () => 0;\n${wrong}`],
    ["a prototype under another name", `const P = Array.prototype;\nP.every = () => true;\n${wrong}`],
  ])("it passes only unguarded: %s", async (_, source) => {
    const text =
      'import { add } from "../src/add.js";\nconst same = [[1, 2, 3]].every(([a, b, c]) => Math.abs(add(a, b) - c) === 0);\nif (!same) throw new Error("no sum");\n';
    place.write("test/add.test.js", text);
    place.commit();
    const end = await endingOf(place, () => place.write("src/add.js", source), commandCheck("node test/add.test.js"));
    expect(end).toMatchObject({ verdict: "weak", kinds: ["reaches_tests"] });
  });

  test("matchers that a runner has for its tests pass only as they were, under whatever name they are replaced", async () => {
    const matchers =
      "globalThis.expect = (value) => ({ toBe: (other) => all.toBe(value, other) });\nexpect.extend = (more) => Object.assign(all, more);\n";
    const all = "const all = { toBe(a, b) { if (a !== b) throw new Error(`${a} is not ${b}`); } };\n";
    place.write("test/run.mjs", `${all}${matchers}const { add } = await import("../src/add.js");\nexpect(add(1, 2)).toBe(3);\n`);
    place.commit();
    const lie = `const e = expect;\ne.extend({ toBe: () => true });\n${wrong}`;
    const end = await endingOf(place, () => place.write("src/add.js", lie), commandCheck("node test/run.mjs"));
    expect(end).toMatchObject({ verdict: "weak", kinds: ["test_changed"] });
    expect(end.reasons[0]).toContain("uses what is there for tests alone");
  });

  test("an honest source that looks like it is proven by a guarded run", async () => {
    const end = await endingOf(place, () =>
      place.write(
        "src/add.js",
        `import assert from "node:assert";\nError.stackTraceLimit = 5;\nexport const parts = [JSON, Math];\nexport const stop = () => process.exit(0);\nexport const checked = (n) => assert.ok(n > 0);\n${right}`,
      ),
    );
    expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  });

  test("status 0 beside failed tests in the output is no pass", async () => {
    const check = commandCheck("node --test || true");
    place.write("src/add.js", right);
    place.commit();
    const end = await endingOf(place, () => place.write("src/add.js", wrong), check);
    expect(end).toMatchObject({ verdict: "weak", kinds: ["failures_shown"] });
  });

  test("behind a filter, which ends well whatever it is given, no failed test is one that was let pass before", async () => {
    const end = await endingOf(place, () => place.write("README.md", "# Fixed\n"), commandCheck("node --test | tee /dev/null"));
    expect(end).toMatchObject({ verdict: "weak", kinds: ["failures_shown"] });
  });

  test("a source that is right by chance is run until chance runs out", async () => {
    const end = await endingOf(place, () =>
      place.write("src/add.js", `const good = Math.random() < 0.4;\nexport const add = (a, b) => (good ? a + b : a - b);\n`),
    );
    expect(end.verdict).not.toBe("pass");
  });

  test("a file that a script loads is part of that script, and what a test loads is not", async () => {
    place.write("ci/env.sh", "RUN='node --test'\n");
    place.write("check.sh", ". ./ci/env.sh\n$RUN\n");
    place.commit();
    const end = await endingOf(place, () => place.write("ci/env.sh", "RUN=true\n"), commandCheck("sh check.sh"));
    expect(end.verdict).toBe("weak");
    expect(end.kinds).toContain("test_changed");
  });
});

describe("parts of the tests outside all patterns", () => {
  let place: Place;
  beforeEach(() => {
    place = makeAdder();
  });
  afterEach(() => place.end());
  const test2 =
    'import { test } from "node:test";\nimport { same } from "../lib/assert-same.js";\nimport { add } from "../src/add.js";\ntest("adds", () => same(add(1, 2), 3));\n';
  const same = "export function same(a, b) {\n  if (a !== b) throw new Error(`${a} is not ${b}`);\n}\n";

  test("a helper that only tests load is one of them", async () => {
    place.write("test/add.test.js", test2);
    place.write("lib/assert-same.js", same);
    place.commit();
    const end = await endingOf(place, () => place.write("lib/assert-same.js", "export function same() {}\n"));
    expect(end.verdict).toBe("weak");
    expect(end.reasons[0]).toContain("lib/assert-same.js (it is a part of the tests)");
  });

  test("what sources load too is a source", async () => {
    place.write("test/add.test.js", test2);
    place.write("lib/assert-same.js", same);
    place.write("src/use.js", 'export { same } from "../lib/assert-same.js";\n');
    place.commit();
    const end = await endingOf(place, () => {
      place.write("src/add.js", right);
      place.write("lib/assert-same.js", `${same}export const more = 1;\n`);
    });
    expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  });

  test("data that a test expects is a part of it", async () => {
    place.write(
      "test/add.test.js",
      'import { test } from "node:test";\nimport assert from "node:assert";\nimport fs from "node:fs";\nimport { add } from "../src/add.js";\ntest("adds", () => assert.equal(add(1, 2), Number(fs.readFileSync("data/expected.txt", "utf8"))));\n',
    );
    place.write("data/expected.txt", "3\n");
    place.commit();
    const end = await endingOf(place, () => place.write("data/expected.txt", "-1\n"));
    expect(end.verdict).toBe("weak");
  });

  test.each([
    "grep -q ready notes.txt",
    '[ "$(cat notes.txt)" = ready ]',
    `node -e 'process.exit(require("fs").readFileSync("notes.txt", "utf8").trim() === "ready" ? 0 : 1)'`,
    "sh verify.sh",
  ])("data that the check itself looks at is what it tests: %s", async (command) => {
    place.write("notes.txt", "draft\n");
    place.write("verify.sh", "set -e\ngrep -q ready notes.txt\n");
    place.commit();
    const end = await endingOf(place, () => place.write("notes.txt", "ready\n"), commandCheck(command));
    expect(end).toMatchObject({ verdict: "pass", kinds: [] });
  });
});

test("inline tests are read as a part of their file, and put back", () => {
  const part = inlineTests("src/lib.rs");
  const source = (body: string, check: string) =>
    `pub fn f() -> char { ${body} }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() { assert_eq!(super::f(), ${check}); } // }\n}\n`;
  const [old, now] = [source("'a'", "'}'"), source("'}'", "super::f()")];
  expect(part?.read(old)).not.toBe(part?.read(now));
  expect(part?.read(old)).toBe(part?.read(source("'b'", "'}'")));
  expect(part?.restore(now, old)).toBe(source("'}'", "'}'"));
  expect(part?.restore("pub fn f() {}\n", old)).toContain("assert_eq!(super::f(), '}')");
  expect(inlineTests("a.py")).toBeNull();
});
