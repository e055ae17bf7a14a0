import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { failedIn } from "../src/mutants/failing.ts";
import { sitesIn } from "../src/mutants/sites.ts";
import { edited } from "../src/mutants/edit.ts";
import { endingOf } from "./adder.ts";
import { makePlace, type Place } from "./place.ts";

describe("a value that a test expects becomes another one", () => {
  test.each([
    ["a.test.js", "assert.equal(add(1, 2), 3, 'adds');", "assert.equal(add(1, 2), 4, 'adds');"],
    ["a.test.js", "assert.deepEqual(f(1), { a: 1, b: [2, 3] });", "assert.deepEqual(f(1), { a: 1, b: [2, 4] });"],
    ["a.test.js", "assert(h(5) === 6);", "assert(h(5) === 7);"],
    ["a.test.ts", "expect(name(1)).toBe('abc');", "expect(name(1)).toBe('~abc');"],
    ["a.test.ts", "expect(is(1)).toEqual(true);", "expect(is(1)).toEqual(false);"],
    ["a.test.js", "if (got !== 8) throw new Error(`got ${got}`);", "if (got !== 9) throw new Error(`got ${got}`);"],
    [
      "a.test.js",
      "if (Math.abs(got - 8) > 0.1) {\n  throw new Error('far');\n}",
      "if (Math.abs(got - 9) > 0.1) {\n  throw new Error('far');\n}",
    ],
    [
      "a.test.ts",
      "test.each([[1, 2, 3]])('x', (a, b, sum) => expect(add(a, b)).toBe(sum));",
      "test.each([[1, 2, 4]])('x', (a, b, sum) => expect(add(a, b)).toBe(sum));",
    ],
    ["test_a.py", "assert total([{'n': 2}]) == 8, 'of 2'", "assert total([{'n': 2}]) == 9, 'of 2'"],
    ["test_a.py", "assert total(x) == pytest.approx(2)", "assert total(x) == pytest.approx(3)"],
    ["test_a.py", 'assert re.search(r"total: 8", line(1))', 'assert re.search(r"~total: 8", line(1))'],
    ["test_a.py", "self.assertEqual(total(1), '2')", "self.assertEqual(total(1), '3')"],
    [
      "test_a.py",
      '@pytest.mark.parametrize("n, want", [(1, 2)])\ndef test_a(n, want):\n    assert f(n) == want',
      '@pytest.mark.parametrize("n, want", [(1, 3)])\ndef test_a(n, want):\n    assert f(n) == want',
    ],
    ["a.rs", 'assert_eq!(x, Some("a".to_string()));', 'assert_eq!(x, Some("~a".to_string()));'],
    ["a.t", "is(add(1, 2), 3, 'adds');", "is(add(1, 2), 4, 'adds');"],
    ["t.c", "assert(total(2, 3) == 6);", "assert(total(2, 3) == 7);"],
    ["t.c", 'if (strcmp(name(), "x") != 0) return 1;', 'if (strcmp(name(), "~x") != 0) return 1;'],
    ["T.java", 'assert Price.total(2, 3) == 6 : "of 2";', 'assert Price.total(2, 3) == 7 : "of 2";'],
    [
      "a_test.go",
      'if got := Add(1, 2); got != 3 {\n\tt.Errorf("got %d", got)\n}',
      'if got := Add(1, 2); got != 3 {\n\tt.Errorf("got %d", got)\n}',
    ],
    ["t.c", 'assert(!strcmp(name(), "x"));', 'assert(!strcmp(name(), "~x"));'],
    ["a.test.js", "if (!out.includes('total: 8')) throw new Error(out);", "if (!out.includes('~total: 8')) throw new Error(out);"],
    [
      "run.sh",
      'if [ "$(f)" = 12 ]; then\n  echo ok\nelse\n  echo "not ok"\nfi',
      'if [ "$(f)" = 13 ]; then\n  echo ok\nelse\n  echo "not ok"\nfi',
    ],
    ["run.sh", '[ "$(total 2 2)" = 4 ] || exit 1', '[ "$(total 2 2)" = 5 ] || exit 1'],
    ["run.sh", 'if [ "$(upper a)" != "A" ]; then\n  failed=1\nfi', 'if [ "$(upper a)" != "~A" ]; then\n  failed=1\nfi'],
  ])("%s: %s", (path, before, after) => expect(edited(before, sitesIn(path, before).values)).toBe(after));

  test.each([
    ["a.test.js", "assert.notEqual(a, 1);\nexpect(x).not.toBe(4);\nif (mode === 'prod') run(3);"],
    ["run.sh", 'if [ "$CI" = 1 ]; then n=1; fi\nwhile [ $i -ne 3 ]; do i=4; done\n[ "$a" = b ] || continue'],
    ["test_a.py", "assert total(items) == want\nif mode == 3:\n    run()"],
    ["test_a.py", "assert total(1) != 3\nassert not (f() == 4)\nassert a == 1 or b"],
    ["a.test.js", "if (list.length === 0) throw new Error('empty');\nif (out.includes('error')) throw new Error(out);"],
    ["a.test.js", "if (x !== 1 && onLinux) throw new Error('x');\nexpect(list).toContain(3);"],
    ["t.c", 'assert(total(1) != 3);\nif (!strcmp(a, "x")) return 1;'],
    ["a.t", "die 'x' if $got == 3;"],
    ["run.sh", '[ "$a" != b ] || exit 1\nif [ "$a" = b ]; then\n  fail\nfi'],
  ])("and in %s all else stays: %s", (path, text) => expect(sitesIn(path, text).values).toEqual([]));
});

describe("an assertion is turned round", () => {
  test.each([
    ["a.test.js", "assert.ok(f(x));", "assert.ok(!(f(x)));"],
    ["a.test.js", "assert.throws(() => f(0));", "assert.fail(() => f(0));"],
    ["a.test.ts", "await expect(f()).rejects.toThrow();", "await expect(f()).rejects.not.toThrow();"],
    ["test_a.py", "assert is_valid(a), 'no'", "assert not (is_valid(a)), 'no'"],
    ["test_a.py", "with pytest.raises(ValueError):\n    f()", "with pytest.fail(ValueError):\n    f()"],
    ["a.rs", 'assert!(is_ok(3), "x");', 'assert!(!(is_ok(3)), "x");'],
    ["a.t", "like(f(), $want);", "unlike(f(), $want);"],
    ["run.sh", '[ "$got" = "$want" ] || fail', '[ "$got" != "$want" ] || fail'],
  ])("%s: %s", (path, before, after) => expect(edited(before, sitesIn(path, before).turns)).toBe(after));
});

test("a test is known in what a failed run says", () => {
  const known = (lines: string, ...tests: string[]) =>
    failedIn(
      lines,
      tests.map((name) => ({ name })),
    ).map(({ name }) => name);
  expect(known("not ok 2 - adds zero", '"adds"', '"adds zero"')).toEqual(['"adds zero"']);
  expect(known("not ok 1 - adds\nnot ok 2 - adds zero", '"adds"', '"adds zero"')).toEqual(['"adds"', '"adds zero"']);
  expect(known("not ok 2 - adds zeros", '"adds zero"')).toEqual([]);
  expect(known("FAILED t/test_a.py::test_add - assert 1", "test_add", "test_a")).toEqual(["test_add"]);
  expect(known("✖ adds 1 and 2", '"adds %i and %i"')).toEqual(['"adds %i and %i"']);
});

describe("tests that failed before must be able to fail still", () => {
  let place: Place;
  beforeEach(() => {
    place = makePlace();
  });
  afterEach(() => place.end());
  const ending = async (command: string, files: Readonly<Record<string, string>>, work: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) place.write(path, text);
    place.commit();
    const end = await endingOf(place, () => Object.entries(work).forEach(([path, text]) => place.write(path, text)), commandCheck(command));
    return { verdict: end.verdict, reasons: end.reasons.join(" ") };
  };
  const survived = { verdict: "weak", reasons: expect.stringContaining("can't fail any more") };
  const passed = { verdict: "pass", reasons: "" };

  const script = {
    "package.json": '{"type":"module"}',
    "src/total.js": "export const total = (a, b) => a;\n",
    "checks/all.js":
      'import assert from "node:assert";\nimport { total } from "../src/total.js";\nconst main = async () => assert.equal(await total(1, 2), 3);\nmain().catch((error) => {\n  console.error(error);\n  process.exit(1);\n});\n',
  };
  const ends = Buffer.from('process.on("exit", () => process.reallyExit(0));').toString("base64");
  test.each([
    ["by a module in an address", `import "data:text/javascript;base64,${ends}";\nexport const total = (a, b) => a;\n`],
    ["by never answering", "export const total = (a, b) => new Promise(() => (a, b));\n"],
  ])("a script's failure is kept from being told %s", async (_, text) =>
    expect(await ending("node checks/all.js", script, { "src/total.js": text })).toEqual(survived),
  );
  test("an honest one fails where something else is expected", async () =>
    expect(await ending("node checks/all.js", script, { "src/total.js": "export const total = (a, b) => a + b;\n" })).toEqual(passed));

  const cart = (exit: string, sum: string) =>
    `class Cart:\n    def __enter__(self):\n        return self\n\n    def __exit__(self, *error):\n        ${exit}\n\n    def total(self, a, b):\n        return ${sum}\n`;
  const unit =
    "import unittest\nfrom cart import Cart\n\n\nclass CartTest(unittest.TestCase):\n    def test_total(self):\n        with Cart() as cart:\n            self.assertEqual(cart.total(1, 2), 3)\n\n    def test_first(self):\n        self.assertEqual(Cart().total(1, 0), 1)\n";
  test.each([
    ["swallowing it", cart("return True", "a"), survived],
    ["nothing", cart("return False", "a + b"), passed],
  ])("a test of several is made to pass by %s", async (_, text, end) =>
    expect(await ending("python3 -m unittest -v", { "cart.py": cart("pass", "a"), "test_cart.py": unit }, { "cart.py": text })).toEqual(
      end,
    ),
  );

  test("a check that only reads its tests is none of that", async () => {
    const files = {
      "check.sh": "node --check test/a.test.js && grep -q right src/notes.txt\n",
      "src/notes.txt": "wrong\n",
      "test/a.test.js": 'import assert from "node:assert";\nassert.equal(1, 1);\n',
    };
    expect(await ending("sh check.sh", files, { "src/notes.txt": "right\n" })).toEqual(passed);
  });
});
