import { describe, expect, test } from "vitest";
import { keptTests } from "../src/tests/kept.ts";

const js = `import { test } from "node:test";
import assert from "node:assert/strict";
import { total } from "../src/price.js";
const same = (a, b) => assert.equal(a, b);
test("one", () => assert.equal(total([{ price: 2, qty: 1 }]), 2));
test("many", () => assert.equal(total([{ price: 2, qty: 3 }]), 8));
describe("empty", () => {
  test('none', () => {
    // Nothing costs nothing.
    same(total([]), 0);
  });
});
`;
const py = `import unittest
from shop.price import total


class TestPrice(unittest.TestCase):
    def test_one(self):
        self.assertEqual(total([1]), 1)

    def test_many(self):
        self.assertEqual(total([1, 2]), 3)
`;
const plain =
  "import pytest\nfrom shop.price import total\n\n\ndef test_one():\n    assert total([1]) == 1\n\n\ndef test_many():\n    assert total([1, 2]) == 3\n";
const go = `package price

import "testing"

func TestTotal(t *testing.T) {
	cases := []struct{ in, out int }{
		{1, 1},
		{2, 4},
	}
	for _, c := range cases {
		if Total(c.in) != c.out {
			t.Errorf("got %d", c.in)
		}
	}
}
`;
const rs = `use shop::*;

#[test]
fn one() {
    assert_eq!(total(&[1]), 1);
}

#[test]
fn many() {
    assert_eq!(total(&[1, 2]), 3);
}
`;
const java = `class PriceTest extends Base {
  @Test
  void one() {
    assertEquals(1, total(1));
  }
}
`;
const perl = `use strict;\nuse Test::More tests => 2;\nis(total(1), 1, 'one');\nis(total(1, 2), 3, 'many');\n`;

type Files = Readonly<Record<string, readonly [was: string | null, is: string | null]>>;
const judged = (files: Files) => {
  const all = keptTests(Object.entries(files).map(([path, [was, is]]) => ({ path, was, is })));
  return {
    lost: all.flatMap(({ lost }) => lost).join("\n"),
    changed: all.flatMap(({ changed }) => (changed === "" ? [] : [changed])).join(", "),
  };
};
const one = (path: string, was: string, is: string): Files => ({ [path]: [was, is] });
const t = "test/price.test.js";
const p = "tests/test_price.py";
const many = "assert.equal(total([{ price: 2, qty: 3 }]), 8)";

describe("tests are kept", () => {
  test.each<[string, Files]>([
    [
      "one comes, and an assertion, a helper and an import with it",
      one(
        t,
        js,
        js
          .replace('"node:test"', '"node:test"')
          .replace("same(total([]), 0);", "same(total([]), 0);\n    const zero = total([0]);\n    assert.equal(zero, 0);")
          .replace(
            "const same",
            'import { readFile } from "node:fs/promises";\nfunction priced(price) {\n  return [{ price }];\n}\nconst same',
          )
          .concat('test("more", () => {\n  if (1) return;\n  assert.ok(priced(1));\n});\n'),
      ),
    ],
    ["one gets another name", one(t, js, js.replace('"many"', '"of many"').replace("'none'", '"nothing"'))],
    [
      "a formatter went over them",
      one(
        t,
        js,
        js
          .replace(
            'test("one", () => assert.equal(total([{ price: 2, qty: 1 }]), 2));',
            "test('one', () =>\n  assert.equal(\n    total([\n      { price: 2, qty: 1, },\n    ]),\n    2,\n  ))",
          )
          .replace("// Nothing costs nothing.\n    ", "/* none */ ")
          .replaceAll(";", ""),
      ),
    ],
    ["they lie elsewhere", { [t]: [js, null], "test/shop/price.test.js": [null, js.replace("../src", "../../src")] }],
    [
      "one lies in another file",
      {
        [t]: [js, js.replace(/test\("many".*\n/, "")],
        "test/many.test.js": [null, `${js.split("const same")[0] ?? ""}test("many", () => ${many});\n`],
      },
    ],
    [
      "a group of its own has a hook",
      one(t, js, `${js}describe("new", () => {\n  beforeEach(() => clear());\n  test("x", () => assert.ok(1));\n});\n`),
    ],
    ["what they test has another place", { [t]: [js, js.replace("price.js", "prices.js")], "src/price.js": ["1", null] }],
    [
      "Python: a test and a case more, and a class of another name",
      one(
        p,
        py,
        py
          .replace("TestPrice", "TestPrices")
          .concat("\n    def test_none(self):\n        if True:\n            return\n        self.assertEqual(total([]), 0)\n")
          .replaceAll("    ", "  "),
      ),
    ],
    [
      "Python: a row of a table",
      one(
        p,
        `@pytest.mark.parametrize("a", [(1, 2), (3, 4)])\n${plain.slice(plain.indexOf("def"))}`,
        `@pytest.mark.parametrize("a", [\n    (1, 2),\n    (3, 4),\n    (5, 6),\n])\n${plain.slice(plain.indexOf("def"))}`,
      ),
    ],
    ["Go: a row of a table", one("price_test.go", go, go.replace("{2, 4},", "{2, 4},\n\t\t{3, 9},"))],
    ["Rust: one more", one("tests/price.rs", rs, `${rs}\n#[test]\nfn none() {\n    assert_eq!(total(&[]), 0);\n}\n`)],
    [
      "Java: one more, with a method that it calls",
      one(
        "PriceTest.java",
        java,
        java.replace(
          "  @Test",
          "  private int half(int x) {\n    return x / 2;\n  }\n\n  @Test\n  void two() {\n    assertEquals(1, total(half(2)));\n  }\n\n  @Test",
        ),
      ),
    ],
    ["Perl: one more", one("t/price.t", perl, `${perl.replace("2;", "3;")}is(total(), 0, 'none');\n`)],
    ["data and snapshots grow", { "test/__snapshots__/a.snap": ["a\nb\n", "a\n\nnew\nb\n"], "test/README.md": ["a", "b"] }],
  ])("%s", (_, files) => expect(judged(files)).toEqual({ lost: "", changed: "" }));
});

describe("tests are lost", () => {
  test.each<[string, Files, string]>([
    ["in a comment", one(t, js, js.replace('test("many"', '/* test("many"').replace("8));", "8)); */")), "tests were removed: many"],
    ["in a string", one(p, plain, `${plain.replace("def test_many", '"""\ndef test_many')}"""\n`), "tests were removed: test_many"],
    ["under a name that no runner knows", one(p, plain, plain.replace("test_many", "_test_many")), "tests were removed: test_many"],
    ["in a file that no runner looks for", { [t]: [js, null], "test/price.js": [null, js] }, "tests were removed"],
    [
      "by a mark",
      one(p, plain, plain.replace("import pytest", "import pytest\npytestmark = pytest.mark.skipif(True)")),
      "tests are skipped",
    ],
    ["by an import", one(p, plain, plain.replace("import pytest", 'import pytest\npytest.importorskip("nowhere")')), "tests are skipped"],
    ["by an attribute", one(p, py, py.replace("    def test_one", "    __test__ = False\n\n    def test_one")), "tests are skipped"],
    ["by an option", one(t, js, js.replace('"many",', '"many", { timeout: 9, skip: 1 },')), "tests are skipped"],
    ["by another, spelled otherwise", one(t, js, js.replace('test("one"', 'test["only"]("one"')), "tests are focused"],
    ["behind an empty one of the same name", one(p, plain, `${plain}\n\ndef test_many():\n    pass\n`), "2 assertions before, 1 now"],
    [
      "with fewer assertions, beside a new test",
      one(t, js, js.replace(many, "total([])").concat(`test("more", () => ${many.replace("8", "9")});\n`)),
      "assertions before",
    ],
  ])("%s", (_, files, says) => expect(judged(files).lost).toContain(says));
});

describe("tests are changed in what they assert", () => {
  test.each<[string, Files, string?]>([
    ["a return comes first", one(t, js, js.replace(many, `{ return; ${many}; }`))],
    ["a weaker assertion", one(t, js, js.replace(`${many}`, "assert.ok(total([{ price: 2, qty: 3 }]))"))],
    ["its opposite", one(t, js, js.replace("assert.equal(total([{ price: 2, qty: 3", "assert.notEqual(total([{ price: 2, qty: 3"))],
    ["failures are caught", one(t, js, js.replace(many, `{ try { ${many}; } catch {} }`))],
    ["another value", one(t, js, js.replace(", 8)", ", 2)"))],
    ["a condition around it", one(t, js, js.replace('test("many"', 'if (process.env.SLOW) test("many"'))],
    [
      "a group that may be skipped",
      one(t, js, js.replace('describe("empty", ', 'describe("empty", { skip: !process.env.SLOW }, ')),
      'test/price.test.js ("none")',
    ],
    ["a helper that compares less", one(t, js, js.replace("assert.equal(a, b)", "assert.equal(a, a)")), t],
    ["a hook", one(t, js, `${js}beforeEach(() => mock(total));\n`), t],
    ["another library", one(t, js, js.replace("node:assert/strict", "node:assert")), t],
    ["another thing is tested", one(t, js, js.replace("../src/price.js", "./right.js")), t],
    ["a class that no runner takes", one(p, py, py.replace("unittest.TestCase", "object"))],
    [
      "Python: a return",
      one(p, plain, plain.replace("    assert total([1, 2])", "    return\n    assert total([1, 2])")),
      "tests/test_price.py (test_many)",
    ],
    ["Python: only on a condition", one(p, plain, plain.replace("    assert total([1, 2])", "    if SLOW:\n        assert total([1, 2])"))],
    ["Python: another name", one(p, plain, `${plain}\n\ntest_many = None\n`), p],
    ["Go: a row is another", one("price_test.go", go, go.replace("{2, 4}", "{2, 2}")), "price_test.go (TestTotal)"],
    ["Go: a tag leaves the file out", one("price_test.go", go, `//go:build slow\n\n${go}`), "price_test.go"],
    ["Go: one function runs them all", one("price_test.go", go, `${go}\nfunc TestMain(m *testing.M) {}\n`), "price_test.go"],
    ["Rust: another value", one("tests/price.rs", rs, rs.replace(", 3)", ", 1)")), "tests/price.rs (many)"],
    ["Java: another value", one("PriceTest.java", java, java.replace("(1, total", "(2, total")), "PriceTest.java (one)"],
    ["Perl: another value", one("t/price.t", perl, perl.replace("3, 'many'", "1, 'many'")), "t/price.t"],
    ["a snapshot", { "test/__snapshots__/a.snap": ["a\nb\n", "a\nc\n"] }, "test/__snapshots__/a.snap"],
  ])("%s", (_, files, says = "many") => expect(judged(files).changed).toContain(says));
});
