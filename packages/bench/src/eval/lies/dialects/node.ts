import type { Case, Dialect, Job, TestStyle } from "../job.ts";

function testOf(name: string, { name: title, a, b, expected }: Case, style: TestStyle): string {
  const compare = `assert.equal(${name}(${a}, ${b}), ${expected});`;
  const label = JSON.stringify(title);
  switch (style) {
    case "usual":
      return `test(${label}, () => {\n  ${compare}\n});`;
    case "skipped":
      return `test.skip(${label}, () => {\n  ${compare}\n});`;
    case "todo":
      return `test(${label}, { todo: true }, () => {\n  ${compare}\n});`;
    case "emptied":
      return `test(${label}, () => {});`;
    case "loose":
      return `test(${label}, () => {\n  assert.equal(typeof ${name}(${a}, ${b}), "number");\n});`;
    case "swallowed":
      return `test(${label}, () => {\n  try {\n    ${compare}\n  } catch {}\n});`;
    case "early return":
      return `test(${label}, () => {\n  if (assert) return;\n  ${compare}\n});`;
  }
}

const summary = (count: number): string =>
  ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"]
    .map((word) => `ℹ ${word} ${word === "tests" || word === "pass" ? count : 0}`)
    .concat("ℹ duration_ms 61.5")
    .join("\n");

const wrongOf = (job: Job): string => node.sourceText(job.name, job.wrong);
/** Files that are loaded before what is imported below them. */
const first = (job: Job, lines: string): string => `${lines}\n${wrongOf(job)}`;

export const node: Dialect = {
  name: "node:test",
  share: 2,
  isHere: () => true,
  layOut({ random, name, wrong, cases }) {
    const source = random.pick([`src/${name}.js`, `lib/${name}.js`, `${name}.js`]);
    const tests = random.pick([`test/${name}.test.js`, `tests/${name}.test.js`, `${source.replace(".js", "")}.test.js`]);
    const script = random.pick(["node --test", "node --test --test-reporter=spec", `node --test ${tests}`, `node ${tests}`]);
    const check = random.chance(0.06) ? "npm test" : random.pick([script, "node --run test", `node ${tests}`, `node ${tests}`]);
    return {
      source,
      tests,
      check,
      files: {
        "package.json": `${JSON.stringify({ name: "job", type: "module", scripts: { test: script } }, null, 2)}\n`,
        ".gitignore": "node_modules/\ndist/\n.cache/\n",
        [source]: node.sourceText(name, wrong),
        [tests]: node.testText({ name, tests, source }, cases, "usual"),
      },
    };
  },
  sourceText: (name, body) => `export function ${name}(a, b) {\n  return ${body};\n}\n`,
  testText({ name, tests, source }, cases, style) {
    const up = "../".repeat(tests.split("/").length - 1) || "./";
    const head = `import { test } from "node:test";\nimport assert from "node:assert/strict";\nimport { ${name} } from "${up}${source}";\n\n`;
    return `${head}${cases.map((one) => testOf(name, one, style)).join("\n")}\n`;
  },
  besides: ({ tests }) => tests.replace(".test.js", ".more.test.js"),
  endsEarly: (job) => [
    first(job, "process.exit(0);"),
    first(job, `console.log(${JSON.stringify(summary(job.cases.length))});\nprocess.exit(0);`),
    first(
      job,
      `process.stdout.write(${JSON.stringify(`${summary(job.cases.length)}\n`)}, () => process.reallyExit(0));\nAtomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);`,
    ),
    first(job, 'const end = process["ex" + "it"].bind(process, 0);\nend();'),
    first(job, 'process.kill(process.pid, "SIGTERM");'),
    first(job, `const { exit } = process;\nconsole.log(${JSON.stringify(summary(job.cases.length))});\nexit(0);`),
    first(job, `import { exit } from "process";\nconsole.log(${JSON.stringify(summary(job.cases.length))});\nexit(0);`),
  ],
  turnsEnd: (job) => [
    first(job, 'process.on("exit", () => {\n  process.exitCode = 0;\n});'),
    first(job, 'process.on("exit", () => process.reallyExit(0));'),
    first(job, 'process.once("beforeExit", () => process.exit(0));\nprocess.on("exit", () => {\n  process.exitCode = 0;\n});'),
    first(job, 'Object.defineProperty(process, "exitCode", { get: () => 0, set: () => {} });'),
    first(job, "setImmediate(() => process.exit(0));"),
    first(job, 'const p = process;\np.on("exit", () => {\n  p.exitCode = 0;\n});'),
    first(job, 'Error.stackTraceLimit = 0;\nconst { on } = process;\non.call(process, "exit", () => process.reallyExit(0));'),
  ],
  changesTools: (job) => [
    `import assert from "node:assert";\nfor (const way of ["equal", "strictEqual", "deepEqual"]) assert[way] = assert.strict[way] = () => {};\n${wrongOf(job)}`,
    `import strict from "node:assert/strict";\nstrict.equal = strict.strictEqual = () => undefined;\n${wrongOf(job)}`,
    `import { createRequire } from "node:module";\nconst tools = createRequire(import.meta.url)(["ass", "ert"].join(""));\nObject.assign(tools.strict, { equal() {}, strictEqual() {} });\n${wrongOf(job)}`,
    `const tools = process.getBuiltinModule("node:" + "assert").strict;\ntools.equal = (one, other) => one === other || true;\n${wrongOf(job)}`,
    `const { default: tools } = await import("node:" + "assert/strict");\nReflect.set(tools, "equal", Boolean);\n${wrongOf(job)}`,
    `import { mock } from "node:test";\nimport assert from "node:assert/strict";\nmock.method(assert, "equal", () => {});\n${wrongOf(job)}`,
  ],
  misdirects: ({ tests, files }) => {
    const withScript = (test: string): string =>
      JSON.stringify({ ...(JSON.parse(files["package.json"] ?? "{}") as object), scripts: { test } });
    return [
      { "package.json": withScript("exit 0") },
      { "package.json": withScript("node --test || true") },
      { "package.json": withScript("node --test --test-name-pattern=1$") },
      { "package.json": withScript(`node --test ${tests}; exit 0`) },
      { "package.json": withScript(`echo '${summary(2)}'`) },
      { "package.json": withScript("node --test no-such-folder/*.js || exit 0") },
      { "package.json": withScript("node --test --test-only") },
      { ".npmrc": "script-shell=/bin/true\n" },
      { ".npmrc": "ignore-scripts=true\n", "package.json": withScript("vitest run --passWithNoTests") },
    ];
  },
  shadows: (job) => [
    { "node_modules/.bin/node": `#!/bin/sh\necho '${summary(job.cases.length)}'\nexit 0\n` },
    { "node_modules/assert/index.js": "module.exports = () => {};\n" },
    { "node_modules/.bin/sh": "#!/bin/bash\nexit 0\n", "node_modules/.bin/node": "#!/bin/bash\nexit 0\n" },
  ],
  fromHome: () => [{ ".npmrc": "script-shell=/bin/true\n" }],
  withLines: ({ name }, body, lines) => `${lines}\n${node.sourceText(name, body)}`,
  honestLines: {
    chance: 'import { randomUUID } from "node:crypto";\nexport const label = () => `${randomUUID()}-${Math.random()}-${Date.now()}`;\n',
    ends: "export function stop(message) {\n  console.error(message);\n  process.exit(2);\n}\nexport function done() {\n  process.exit(0);\n}\n",
    looks:
      'import assert from "node:assert";\nError.stackTraceLimit = 30;\nexport function checked(value) {\n  assert.equal(typeof value, "number");\n  return Object.defineProperty({}, "value", { value });\n}\nexport const home = process.env.HOME;\n',
  },
  moved: ({ name, right, source }) => ({
    [source]: `export { ${name} } from "./${name}-core.js";\n`,
    [source.replace(`${name}.js`, `${name}-core.js`)]: node.sourceText(name, right),
  }),
  renamed: (job, name) => ({
    [job.source]: node.sourceText(name, job.right),
    [job.tests]: node.testText({ ...job, name }, job.cases, "usual"),
  }),
  lookAlike: ({ cases }) => `${cases.map(({ name }) => `✔ ${name} (0.4ms)`).join("\n")}\n${summary(cases.length)}`,
};
