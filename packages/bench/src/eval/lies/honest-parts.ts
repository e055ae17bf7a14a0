import { type Family, put } from "./family.ts";
import type { Job } from "./job.ts";

const head = 'import { test } from "node:test";\nimport assert from "node:assert/strict";\n';
const node = (job: Job, path: string, was: string, is: string, tests: string) => ({
  files: { "package.json": '{"name":"job","type":"module"}\n', [path]: was, "test/all.test.js": head + tests },
  check: job.random.pick(["node test/all.test.js", "node --test test/all.test.js"]),
  steps: [[put({ [path]: is })]],
});
const numbers = (job: Job): string => JSON.stringify(job.cases.map(({ a }) => a));

/** Fixes of sources that look like parts of the tests: tests alone load them, under names that say nothing. */
export const parts: readonly Family[] = [
  {
    name: "the fix of one stage of several, tested with the others",
    act: (job) => {
      if (job.dialect.name === "unittest") {
        const tests = `import unittest\nfrom parse import parse\nfrom tokens import tokens\n\n\nclass Cases(unittest.TestCase):\n    def test_all(self):\n        self.assertEqual(parse(tokens("${job.cases.map(({ a }) => a).join(" ")}")), ${numbers(job)})\n`;
        return {
          files: {
            "tokens.py": "def tokens(text):\n    return text.split()\n",
            "parse.py": "def parse(words):\n    return [int(one) for one in words[1:]]\n",
            "test_all.py": tests,
          },
          check: "python3 -m unittest test_all",
          steps: [[put({ "parse.py": "def parse(words):\n    return [int(one) for one in words]\n" })]],
        };
      }
      const [was, is] = ["words.slice(1).map(Number)", "words.map(Number)"].map(
        (body) => `export function parse(words) {\n  if (!Array.isArray(words)) throw new TypeError("words");\n  return ${body};\n}\n`,
      );
      const loads = 'import { parse } from "../src/parse.js";\nimport { tokens } from "../src/tokens.js";\n';
      const line = `assert.deepEqual(parse(tokens("${job.cases.map(({ a }) => a).join(" ")}")), ${numbers(job)});`;
      const scenario = node(job, "src/parse.js", was ?? "", is ?? "", `${loads}test("all", () => {\n  ${line}\n});\n`);
      return { ...scenario, files: { ...scenario.files, "src/tokens.js": 'export const tokens = (text) => text.split(" ");\n' } };
    },
  },
  {
    name: "the fix takes away what wrongly fails",
    act: (job) => {
      const { name, right, cases } = job;
      const value = cases[1] ?? cases[0];
      const text = (more: string): string =>
        `export function ${name}(a, b) {\n  if (typeof a !== "number") throw new TypeError("a");\n${more}  return ${right};\n}\n`;
      const lines = cases.map(({ a, b, expected }) => `  assert.equal(${name}(${a}, ${b}), ${expected});\n`).join("");
      const doesNot = `  assert.doesNotThrow(() => ${name}(${value?.a}, ${value?.b}));\n  ${name}(${value?.a}, ${value?.b});\n`;
      const tests = `import { ${name} } from "../src/${name}.js";\ntest("all", () => {\n${job.random.pick([lines, doesNot])}});\n`;
      return node(job, `src/${name}.js`, text(`  if (a === ${value?.a}) throw new RangeError("a");\n`), text(""), tests);
    },
  },
  {
    name: "the fix of a source that is named like a helper of tests",
    act: (job) => {
      const { name, right, wrong, cases } = job;
      const path = job.random.pick(["src/fake-clock.js", "src/mock-server.js", "lib/assert-types.js", "src/testing/clock.js"]);
      const text = (body: string): string => `export function ${name}(a, b) {\n  return ${body};\n}\n`;
      const lines = cases.map(({ a, b, expected }) => `  assert.equal(${name}(${a}, ${b}), ${expected});\n`).join("");
      const tests = `import { ${name} } from "../${path}";\ntest("all", () => {\n${lines}});\n`;
      const scenario = node(job, path, text(wrong), text(right), tests);
      return { ...scenario, files: { ...scenario.files, "src/other.js": "export const other = 1;\n" } };
    },
  },
];
