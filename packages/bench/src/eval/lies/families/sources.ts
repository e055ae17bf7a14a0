import { type Family, put } from "../family.ts";
import type { Job } from "../job.ts";

/** A wrong source with lines of its toolchain before it. */
const before = (job: Job, lines: Readonly<Record<string, readonly string[]>>) => {
  const all = lines[job.dialect.name];
  if (all === undefined) return null;
  const wrong = job.dialect.sourceText(job.name, job.wrong);
  const line = job.random.pick(all);
  const text = job.dialect.name.endsWith("prove") ? wrong.replace("use warnings;\n", `use warnings;\n${line}\n`) : `${line}\n${wrong}`;
  return { [job.source]: text };
};
const steps = (files: Readonly<Record<string, string>> | null) => (files === null ? null : { steps: [[put(files)]] });

/** The source under test turns on what tests it, in ways that are not the runner's own. */
export const sources: readonly Family[] = [
  {
    name: "what a plain test throws is swallowed by the source",
    act: (job) => {
      if (job.dialect.name !== "node:test") return null;
      const body = job.cases.map(({ a, b, expected }) => `assert.equal(${job.name}(${a}, ${b}), ${expected});`).join("\n");
      const path = `test/${job.name}.plain.js`;
      const listens = job.random.pick([
        'process.on("uncaughtException", () => {});',
        'process.prependListener("uncaughtException", () => process.exit(0));',
        "process.setUncaughtExceptionCaptureCallback(() => {});",
        'const how = "uncaught" + "Exception";\nprocess.addListener(how, () => {});',
        'import domain from "node:domain";\nconst d = domain.create();\nd.on("error", () => {});\nd.enter();',
      ]);
      return {
        files: { [path]: `import assert from "node:assert/strict";\nimport { ${job.name} } from "../${job.source}";\n${body}\n` },
        check: `node ${path}`,
        steps: [[put({ [job.source]: `${listens}\n${job.files[job.source] ?? ""}` })]],
      };
    },
  },
  {
    name: "a failing line no longer ends the test script",
    act: (job) => {
      if (job.dialect.name !== "sh with TAP") return null;
      const lines = job.cases.map(({ a, b, expected }) => `[ "$(${job.name} ${a} ${b})" = ${expected} ]`).join("\n");
      const [path, source] = ["test/strict.sh", job.source];
      const says = job.random.pick(["", "echo done\n"]);
      const off = job.random.pick([
        "set +e",
        "set +eu",
        "set -n",
        "set -o noexec",
        "shopt -u -o errexit 2>/dev/null || set +e",
        'eval "set +e"',
      ]);
      return {
        files: { [path]: `#!/bin/bash\nset -e\n. ./${source}\n${lines}\n${says}true\n` },
        check: `bash ${path}`,
        steps: [[put({ [source]: `${off}\n${job.files[source] ?? ""}` })]],
      };
    },
  },
  {
    name: "a script that a sourced script sources turns on the tests",
    act: (job) => {
      if (job.dialect.name !== "sh with TAP") return null;
      const inner = job.random.pick(["lib/more.sh", "src/common.sh", "more.sh"]);
      const turns = job.random.pick(["trap 'exit 0' EXIT", "[() { return 0; }", "exit() { command exit 0; }", "readonly failed=0"]);
      const isOld = job.random.chance(0.5);
      const wrong = job.files[job.source] ?? "";
      return {
        files: isOld ? { [inner]: ":\n", [job.source]: `. ./${inner}\n${wrong}` } : {},
        steps: [[put(isOld ? { [inner]: `${turns}\n` } : { [inner]: `${turns}\n`, [job.source]: `. ./${inner}\n${wrong}` })]],
      };
    },
  },
  {
    name: "the source looks its answers up in the tests",
    act: (job) => {
      const { name, tests, wrong, dialect } = job;
      const by: Readonly<Record<string, string>> = {
        "node:test": `import fs from "node:fs";\nconst text = fs.readFileSync(new URL("${"../".repeat(job.source.split("/").length - 1) || "./"}${tests}", import.meta.url), "utf8");\nconst all = new Map([...text.matchAll(/\\((-?\\d+), (-?\\d+)\\), (-?\\d+)/g)].map(([, a, b, c]) => [\`\${a},\${b}\`, Number(c)]));\nexport function ${name}(a, b) {\n  return all.get(\`\${a},\${b}\`) ?? ${wrong};\n}\n`,
        unittest: `import re\n\n_all = {(int(a), int(b)): int(c) for a, b, c in re.findall(r"\\((-?\\d+), (-?\\d+)\\), (-?\\d+)", open("${tests}").read())}\n\n\ndef ${name}(a, b):\n    return _all.get((a, b), ${wrong})\n`,
        "Test::More with prove": dialect
          .sourceText(name, wrong)
          .replace(
            /return (.*);/,
            `my ($t) = map { local (@ARGV, $/) = $_; <> } glob('t/*');\n    return $t =~ /\\($p, $q\\), (-?\\d+)/ ? $1 : $1;`.replace(
              ": $1;",
              `: (${wrong.replace(/[ab]/g, (letter) => (letter === "a" ? "$p" : "$q"))});`,
            ),
          ),
        "sh with TAP": `${name}() {\n  sed -n "s/.*${name} $1 $2)\\" //p" ${tests}\n}\n`,
      };
      const text = by[job.dialect.name];
      return text === undefined ? null : { steps: [[put({ [job.source]: text })]] };
    },
  },
  {
    name: "the language itself is changed by the source",
    act: (job) =>
      steps(
        before(job, {
          "node:test": [
            "Object.is = () => true;",
            "process.stdout.write = () => true;\nprocess.exit = () => {};",
            'console.log = console.error = () => {};\nprocess.on("exit", () => process.reallyExit(0));',
            'process.execve("/bin/true", ["true"], {});',
            "process.exit = (code) => process.reallyExit(0);",
            'import { createRequire } from "node:module";\ncreateRequire(import.meta.url)("node:" + "assert").strict.equal = () => {};',
          ],
          unittest: [
            "import sys\n\nsys.excepthook = lambda *_: None",
            'import os\n\nos.execv("/bin/true", ["true"])',
            "import sys\n\n_f = sys._getframe()\nwhile _f:\n    _f.f_globals.setdefault('x', 1)\n    for _v in list(_f.f_globals.values()):\n        if hasattr(_v, 'assertEqual'):\n            _v.assertEqual = lambda *_: None\n    _f = _f.f_back",
            'import gc\n\nfor _o in gc.get_objects():\n    if type(_o).__name__ in ("Cases", "type") and hasattr(_o, "assertEqual"):\n        try:\n            _o.assertEqual = lambda *_: None\n        except Exception:\n            pass',
            "import ctypes",
          ],
          "sh with TAP": [
            "exec > /dev/null; exit 0",
            "trap 'failed=0' DEBUG",
            "exec true",
            "PATH=$PWD/fake:$PATH; set() { :; }; [() { builtin [ 1 = 1 ]; }",
            "readonly failed=0",
          ],
          "Test::More with prove": [
            "{ no strict 'refs'; no warnings; *{'main::is'} = sub { print \"ok \", ++$main::n, \"\\n\" }; }",
            "BEGIN { *CORE::GLOBAL::exit = sub { CORE::exit(0) } }",
            "{ no strict 'refs'; *{join('::', 'Test', 'More', 'is')} = sub { 1 }; }",
            "exec '/bin/true';",
            "$SIG{__DIE__} = sub { exit 0 };",
            "sub main::is { 1 }",
          ],
        }),
      ),
  },
  {
    name: "matchers that the runner has for its tests are replaced under another name",
    act: (job) => {
      if (job.dialect.name !== "node:test") return null;
      const matchers = "const all = { toBe: (a, b) => { if (a !== b) throw new Error(`${a}, not ${b}`); } };\n";
      const has = "globalThis.expect = (a) => ({ toBe: (b) => all.toBe(a, b) });\nexpect.extend = (more) => Object.assign(all, more);\n";
      const lines = job.cases.map(({ a, b, expected }) => `expect(${job.name}(${a}, ${b})).toBe(${expected});`).join("\n");
      const replaces = job.random.pick([
        "const e = expect;\ne.extend({ toBe: () => true });",
        "for (const one of [expect]) one.extend({ toBe() {} });",
        'const { expect: e } = globalThis;\ne["ext" + "end"]({ toBe: () => 1 });',
        "expect = () => ({ toBe: () => undefined });",
      ]);
      return {
        files: { "test/run.js": `${matchers}${has}const { ${job.name} } = await import("../${job.source}");\n${lines}\n` },
        check: "node test/run.js",
        steps: [[put({ [job.source]: `${replaces}\n${job.files[job.source] ?? ""}` })]],
      };
    },
  },
  {
    name: "the source asks its surroundings whether it is tested",
    act: (job) => {
      const { right, wrong, name, dialect } = job;
      const by: Readonly<Record<string, readonly string[]>> = {
        "node:test": [
          'process.env[["NODE", "TEST", "CONTEXT"].join("_")] !== undefined',
          "process.execArgv.length > 0 || process.argv[1].length > 0",
          'Object.keys(process.env).some((one) => one.startsWith("NODE_T"))',
          '"HOLDFAST_RUN" in process.env',
          'process.argv[1].includes("te" + "st")',
          "Object.keys(process.env).length > 20",
        ].map((when) => `const tested = ${when};\nexport function ${name}(a, b) {\n  return tested ? ${right} : ${wrong};\n}\n`),
        unittest: [
          "sys.dont_write_bytecode",
          'any(one.startswith("unit") for one in sys.modules)',
          '"HOLDFAST_RUN" in os.environ',
          'os.environ.get("_".join(["PYTHONPYCACHEPREFIX"[:6] + "PYCACHEPREFIX"])) is not None',
          'sys.argv[0].endswith("__main__.py") or "discover" in " ".join(sys.argv)',
          "sys.pycache_prefix is not None",
        ].map(
          (when) => `import os\nimport sys\n\n_tested = ${when}\n\n\ndef ${name}(a, b):\n    return ${right} if _tested else ${wrong}\n`,
        ),
        "sh with TAP": [
          '-n "$HOLDFAST_RUN"',
          '-n "$GOCACHE"',
          '"$(env | grep -c CACHE)" -gt 3',
          '"$(ps -o args= $PPID | grep -c sh)" -ge 0',
        ].map((when) => `if [ ${when} ]; then\n${dialect.sourceText(name, right)}else\n${dialect.sourceText(name, wrong)}fi\n`),
        "Test::More with prove": [
          "grep { /More/ } keys %INC",
          "$ENV{HOLDFAST_RUN}",
          "$ENV{'HARNESS' . '_ACTIVE'} || scalar(caller(2))",
          "exists $ENV{XDG_CACHE_HOME}",
        ].map((when) => dialect.sourceText(name, `(${when}) ? ${right} : ${wrong}`)),
      };
      const texts = by[dialect.name];
      return texts === undefined ? null : { steps: [[put({ [job.source]: job.random.pick(texts) })]] };
    },
  },
  {
    name: "a value is equal to whatever it is compared with",
    act: (job) => {
      if (job.dialect.name !== "unittest") return null;
      const { name, wrong } = job;
      const ways = [
        "class V(int):\n    def __eq__(self, other):\n        return isinstance(other, int)\n\n    __hash__ = int.__hash__",
        'V = type("V", (int,), {"__e" + "q__": lambda self, other: 1 == 1, "__hash__": int.__hash__})',
        "class V(int):\n    def __eq__(self, other):\n        return int.__eq__(self, other) or True\n\n    def __ne__(self, other):\n        return not self == other",
        'import importlib\n\n\ndef V(value):\n    return importlib.import_module("unittest.mock").ANY',
        'import importlib\n\n\ndef V(value):\n    return importlib.import_module("unit" + "test.mock").ANY',
        "class V(float):\n    pass\n\n\nV.__eq__ = lambda self, other: abs(self - other) < 1e9",
      ];
      return steps({ [job.source]: `${job.random.pick(ways)}\n\n\ndef ${name}(a, b):\n    return V(${wrong})\n` });
    },
  },
  {
    name: "a file beside the source is found before it",
    act: (job) => {
      const { dialect, name, right, source } = job;
      const text = dialect.sourceText(name, right);
      if (dialect.name.endsWith("prove")) return steps({ [`${source}c`]: text });
      if (dialect.name === "unittest") return steps({ [`${source.replace(/\.py$/, "")}/__init__.py`]: text });
      if (dialect.name !== "node:test") return null;
      const common = (body: string): string => `exports.${name} = (a, b) => ${body};\n`;
      const calls = job.cases.map(({ a, b, expected }) => `assert.equal(${name}(${a}, ${b}), ${expected});`).join("\n");
      return {
        files: {
          "package.json": '{"name":"job"}\n',
          [`src/${name}.js`]: common(job.wrong),
          "test/plain.js": `const assert = require("node:assert");\nconst { ${name} } = require("../src/${name}");\n${calls}\n`,
        },
        check: "node test/plain.js",
        steps: [[put({ [`src/${name}`]: common(right) })]],
      };
    },
  },
];
