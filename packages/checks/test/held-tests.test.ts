import { describe, expect, test } from "vitest";
import { changesTests } from "../src/reach/held-tests.ts";

const rust = (want: number, more = "") => `use super::*;\n\n#[test]\nfn adds() {\n    assert_eq!(total(3, 4), ${want});\n}\n${more}`;
const python = (want: number, more = "") =>
  `from shop.price import total\n\n\ndef test_many():\n    assert total(3, 4) == ${want}\n${more}`;
const mocha = (want: number) => `describe("total", () => {\n  it("many", () => assert.equal(total(3, 4), ${want}));\n});\n`;
const c = (want: number, more = "") => `#include <assert.h>\n${more}int main(void) { assert(total(3, 4) == ${want}); return 0; }\n`;

describe("tests in files that no pattern knows", () => {
  test.each([
    ["src/price/tests.rs", rust(12), rust(7)],
    ["src/lib.rs", `pub fn total() {}\n${rust(12)}`, "pub fn total() {}\n"],
    ["qa/prices.py", python(12), python(7)],
    ["qa/prices.c", c(12), c(7)],
    ["specs/price.js", mocha(12), mocha(7)],
    ["src/price.ts", 'import { test, expect } from "vitest";\ntest("a", () => expect(total()).toBe(12));\n', "export {};\n"],
  ])("%s: a test that says something else", (path, was, is) => expect(changesTests(path, was, is)).toBe(true));

  test.each([
    ["src/price/tests.rs", rust(12), rust(12, "#[test]\nfn more() {\n    assert_eq!(total(1, 1), 1);\n}\n")],
    ["qa/prices.py", python(12), python(12, "\n\ndef helper():\n    return 3\n")],
    ["qa/prices.c", c(12), c(12, "#include <stdio.h>\n")],
    ["src/main.c", c(12), c(7)],
    ["shop/network.py", "def test_connection(host):\n    return ping(host)\n", "def test_connection(host):\n    return ping(host, 3)\n"],
    ["src/price.rs", "pub fn total() -> i64 { 1 }\n", "pub fn total() -> i64 { 2 }\n"],
  ])("%s: further ones, and what is none", (path, was, is) => expect(changesTests(path, was, is)).toBe(false));
});
