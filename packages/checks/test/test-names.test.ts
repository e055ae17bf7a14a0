import { describe, expect, test } from "vitest";
import { usedOfTests } from "../src/reach/test-names.ts";

describe("what is there for tests alone", () => {
  test.each([
    "const e = expect;\ne.extend({ toBe: () => ({ pass: true }) });",
    "const [e] = [expect];",
    "change(expect);",
    "const e = on ? expect : null;",
    "const e = typeof expect === 'undefined' ? null : expect",
    "expect = () => new Proxy({}, {});",
    "const P = Object.getPrototypeOf(expect(0)).constructor;",
    "expect(0).constructor.prototype.toBe = () => {};",
    "const { expect: e } = globalThis;",
    "const { expect } = globalThis;\nexpect.addSnapshotSerializer({});",
    "declare const expect: any;\nconst e = expect;",
    "for (const one of [chai]) one.Assertion.overwriteMethod('equal', () => () => {});",
    "const j = jest;",
    "return jest.fn();",
    "const s = `${expect.getState()}`;",
    "const all = [1, expect(2)];",
    "await expect(value).resolves.toBe(1);",
    "afterEach(() => end(), 5).then(go);",
    "const quote = /[`'\"]/;\nconst e = expect;",
    "if (expect) { const e = expect; }",
    "const say = { log, expect };",
  ])("is used: %s", (lines) => expect(usedOfTests("src/a.ts", "const a = 1;\n", `const a = 1;\n${lines}\n`)).not.toBeNull());

  test("also where the file had it from a test library before", () => {
    const was = 'import { expect } from "vitest";\nexpect.extend(own);\n';
    expect(usedOfTests("src/setup.ts", was, `${was}const e = expect;\ne.extend({ toBe });\n`)).toBe("expect");
    expect(usedOfTests("src/setup.ts", was, `${was}export const more = 1;\n`)).toBeNull();
  });

  test.each([
    "function expect(kind) {\n  if (next !== kind) throw new Error(kind);\n}\nexpect('(');\nconst e = expect;",
    "class Parser {\n  expect(kind: string): Token {\n    return this.next(kind);\n  }\n  all() {\n    return this.expect('a').text + this.peek().expect;\n  }\n}",
    "const expect = (kind) => next(kind);\nuse(expect);",
    "import { expect } from './token.js';\nuse(expect);",
    "import en from './en.json';\nimport vi from './vi.json';\nexport const all = { en, vi };",
    "export const all = { vi: () => import('./vi.js'), jest: 'facebook', chai: true };",
    "const { expect = 200 } = options;\nif (status !== expect) fail(expect);",
    "export function check(status: number, expect: number) {\n  return status === expect ? 1 : expect;\n}",
    "const f = (a, { expect, seen }) => seen === expect;\nconst g = expect => expect;",
    "interface Options {\n  expect?: number;\n  vi: string;\n}",
    "// const e = expect;\n/* we expect it\n expect, */\nconst s = 'what to expect';",
    "return <p>What you may expect</p>;",
    "export { expect } from './expect.js';\nenum Runner { jest, vi }",
    "const quote = /`/;\nfunction expect(kind) {}\nconst other = /`/;\nuse(expect);",
    "abstract class A {\n  abstract expect(kind: string): void;\n  get vi(): number {\n    return this.vi;\n  }\n}",
    "export default {\n  a: 1,\n  expect(kind) {\n    return kind;\n  },\n  async beforeEach() {},\n};",
    "try {\n  go();\n} catch (expect) {\n  say(expect);\n}",
    "router.beforeEach(guard);\nhooks.afterAll = [];",
    "const response = await fetch(url, { headers: { expect: '100-continue' } });",
  ])("is not used: %s", (lines) => expect(usedOfTests("src/a.tsx", null, `${lines}\n`)).toBeNull());
});

test("a large file without an end of anything takes no long time", () => {
  const parts = ["/*", "export {", "const {a", "(a,", "import a", "`${", "= expect("].map((part) => `${part} `.repeat(40_000));
  for (const part of parts) usedOfTests("src/a.ts", null, `${part}expect`);
}, 20_000);
