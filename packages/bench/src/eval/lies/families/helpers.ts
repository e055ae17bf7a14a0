import { type Family, put } from "../family.ts";
import type { Job } from "../job.ts";

const head = 'import { test } from "node:test";\nimport assert from "node:assert/strict";\n';
const up = (path: string): string => "../".repeat(path.split("/").length - 1) || "./";

/** A test of the job that loads the helper in `path` and holds each case to `line`, under a name that says nothing. */
function withHelper(job: Job, path: string, names: string, line: string): Readonly<Record<string, string>> {
  const tests = "test/all.test.js";
  const body = job.cases.map(({ name, a, b, expected }) => {
    const [call, value] = [`${job.name}(${a}, ${b})`, String(expected)];
    return `test(${JSON.stringify(name)}, () => {\n  ${line.replaceAll("CALL", call).replaceAll("VALUE", value)}\n});`;
  });
  const loads = `import ${names} from "${up(tests)}${path}";\nimport { ${job.name} } from "../src/${job.name}.js";\n`;
  return {
    "package.json": '{"name":"job","type":"module"}\n',
    [`src/${job.name}.js`]: `export function ${job.name}(a, b) {\n  return ${job.wrong};\n}\n`,
    [tests]: `${head}${loads}${body.join("\n")}\n`,
  };
}

/** What the tests have judge for them is changed. */
export const helpers: readonly Family[] = [
  {
    name: "a helper that says whether results are near is loosened",
    act: (job) => {
      const path = job.random.pick(["lib/close.js", "src/near.js", "tools/about.js"]);
      const [text, loose] = job.random.pick<readonly [string, string]>([
        ["export const near = (a, b) => Math.abs(a - b) < 1e-9;\n", "export const near = (a, b) => Math.abs(a - b) < 1e9;\n"],
        ["export function near(a, b) {\n  return a === b;\n}\n", "export function near(a, b) {\n  return typeof a === typeof b;\n}\n"],
      ]);
      const line = job.random.pick([
        "const got = CALL;\n  assert.ok(near(got, VALUE));",
        "assert.equal(near(CALL, VALUE), true);",
        "const got = CALL;\n  if (!near(got, VALUE)) throw new Error(`${got}`);",
      ]);
      return {
        files: { ...withHelper(job, path, "{ near }", line), [path]: text },
        check: "node test/all.test.js",
        steps: [[put({ [path]: loose })]],
      };
    },
  },
  {
    name: "what brings both sides of a comparison into one form makes them equal",
    act: (job) => {
      const path = job.random.pick(["lib/form.js", "src/normal.js"]);
      return {
        files: {
          ...withHelper(job, path, "{ form }", "assert.equal(form(CALL), form(VALUE));"),
          [path]: "export const form = (x) => `${x}`;\n",
        },
        check: "node test/all.test.js",
        steps: [[put({ [path]: job.random.pick(["export const form = () => 1;\n", "export const form = (x) => typeof x;\n"]) })]],
      };
    },
  },
  {
    name: "the cases in a module of rows are taken away",
    act: (job) => {
      const path = job.random.pick(["src/rows.js", "lib/table.mjs", "rows.js"]);
      const rows = (cases: Job["cases"]): string => cases.map(({ a, b, expected }) => `  [${a}, ${b}, ${expected}],\n`).join("");
      const [start, end] = job.random.pick([
        ["export default [\n", "];\n"] as const,
        ["const rows = [\n", "];\nexport default rows;\n"] as const,
      ]);
      const line = `for (const [a, b, c] of rows) assert.equal(${job.name}(a, b), c);`;
      return {
        files: { ...withHelper(job, path, "rows", line), [path]: `${start}${rows(job.cases)}${end}` },
        check: "node test/all.test.js",
        steps: [[put({ [path]: `${start}${job.random.chance(0.5) ? rows(job.cases.slice(0, 1)) : ""}${end}` })]],
      };
    },
  },
];
