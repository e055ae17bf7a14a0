import { expect, test } from "vitest";
import { judges } from "../src/reach/judging.ts";

const throwing = "export function same(a, b) {\n  if (a !== b) throw new Error(a);\n}\n";
const silent = "export function same() {}\n";
const near = "export const near = (a, b) => Math.abs(a - b) < 1;\n";

test.each([
  ["a result that it throws for", throwing, silent, 'test("a", () => same(total(1, 2), 3));'],
  ["a result in a variable", throwing, silent, "const got = total(1, 2);\nsame(got, 3);"],
  ["under another name", throwing, silent, 'import { same as eq } from "./same.js";\nconst got = total(1, 2);\neq(got, 3);'],
  ["a function to be called", throwing, silent, 'import { total } from "./total.js";\nsame(total, [[1, 2, 3]]);'],
  ["whether two are near", near, near, "const got = total(1, 2);\nassert.ok(near(got, 3));"],
  ["whether it is true", near, near, "expect(near(total(1, 2), 3)).toBe(true);"],
  ["in Python", "def near(a, b):\n    return a == b\n", "", "got = total(1, 2)\nassert near(got, 3)"],
  ["both sides of a comparison", near, near, "assert.equal(near(total(1, 2)), near(3));"],
  ["in a shell", 'same() {\n  [ "$1" = "$2" ] || exit 1\n}\n', "same() { :; }\n", 'same "$(total 1 2)" 3'],
])("a helper of the tests judges: %s", (_, was, is, tests) => {
  expect(judges(was, is, "same", tests)).toBe(true);
});

const parse = "export function parse(t) {\n  if (t === null) throw new Error(t);\n  return t;\n}\n";
const kind = "export function parse(t) {\n  return t;\n}\n";

test.each([
  ["a stage of more, compared with what it should give", "assert.deepEqual(parse(tokenize('1 2')), ['1', '2']);"],
  ["over several lines", "assert.deepEqual(\n  parse(tokenize('1 2')),\n  ['1', '2'],\n);"],
  ["in Python", "self.assertEqual(parse(tokenize('1 2')), ['1'])\nself.assertEqual(parse(tokenize('3')), ['3'])"],
  ["that it fails", "assert.throws(() => parse(tokenize('1')));\nwith self.assertRaises(ValueError):\n    parse(tokenize('2'))"],
  ["that it doesn't fail", "const user = { a: 1 };\nparse(user);\nassert.doesNotThrow(() => parse(2));"],
  ["what it does to another's", "const app = create();\nparse(app, '/x');\nassert.deepEqual(app.routes, ['/x']);"],
  ["each of some", "assert.deepEqual(rows.map((row) => parse(trim(row))), [1]);"],
])("what is tested does not: %s", (_, tests) => {
  expect(judges(parse, kind, "parse", tests)).toBe(false);
});

test("a file that is not called by any name judges where it fails less often than before", () => {
  expect(judges("throw 1;\n", "", "setup", 'import "./setup.js";')).toBe(true);
  expect(judges("1;\n", "throw 1;\n", "setup", 'import "./setup.js";')).toBe(false);
});
