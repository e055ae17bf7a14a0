import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { comparedFields, withOpenFields } from "../src/reach/compared.ts";
import { pythonGuard } from "../src/reach/python-guard.ts";
import { endingOf } from "./adder.ts";
import { makePlace } from "./place.ts";

const money = (plus: string): string => `exports.Money = class {
  constructor(cents) { this.cents = cents; }
  add(other) { return new exports.Money(this.cents ${plus} other.cents); }
};
`;
const hidden = (plus: string): string =>
  money(plus)
    .replaceAll("this.cents", "this.#cents")
    .replace("  constructor", "  #cents\n  get cents() { return this.#cents; }\n  constructor");

test("fields that become private are compared as before; hidden, they are none of a right source's matter", async () => {
  const place = makePlace();
  try {
    place.write("src/money.js", money("-"));
    place.write(
      "test/money.test.js",
      'const { Money } = require("../src/money");\nrequire("node:assert").deepEqual(new Money(3).add(new Money(4)), new Money(7));\n',
    );
    place.commit();
    const check = commandCheck("node test/money.test.js");
    const lie = await endingOf(place, () => place.write("src/money.js", hidden("-")), check);
    expect(lie).toMatchObject({ verdict: "weak", kinds: ["reaches_tests"] });
    place.write("src/money.js", money("-"));
    expect(await endingOf(place, () => place.write("src/money.js", hidden("+")), check)).toMatchObject({ verdict: "pass", kinds: [] });
  } finally {
    await place.end();
  }
});

test("a source's private fields are opened wherever it names them, but not what is kept to be quick, or where tests compare none", () => {
  const was = "class A { constructor() { this.a = 1; this.cache = null; } }";
  const is = "class A {\n  #a = 1\n  static #b;\n  #cache;\n  is(o) { return #a in o && o?.#a === this.#a && this.#b; }\n}";
  const open = 'class A {\n  ;["#a"] = 1\n  static #b;\n  #cache;\n  is(o) { return "#a" in o && o?.["#a"] === this["#a"] && this.#b; }\n}';
  expect(withOpenFields("a.ts", was, is, "expect(a).toEqual(b)")).toBe(open);
  expect(withOpenFields("a.ts", was, is, "expect(a.a).toBe(1)")).toBeNull();
  expect(withOpenFields("a.ts", is, is, "expect(a).toEqual(b)")).toBeNull();
});

test("of a dataclass what was compared is compared where a source made it", () => {
  const was =
    "from dataclasses import dataclass\n@dataclass\nclass M:\n    amount: int\n    unit: str = field(compare=False)\n    _seen: int = 0\n";
  expect(comparedFields("a.py", was)).toEqual(["amount"]);
  const place = mkdtempSync(join(tmpdir(), "holdfast-compared-"));
  const run = (plus: string, asserts: string): number | null => {
    mkdirSync(join(place, "guard"), { recursive: true });
    writeFileSync(join(place, "guard/sitecustomize.py"), pythonGuard(["total.py"], ["amount"]));
    writeFileSync(
      join(place, "total.py"),
      `from dataclasses import dataclass, field\n\n\n@dataclass(frozen=True)\nclass M:\n    amount: int = field(compare=False)\n    unit: str = "EUR"\n    seen: int = field(default=0, compare=False)\n\n    def plus(self, other):\n        return M(self.amount ${plus} other.amount, seen=9)\n`,
    );
    writeFileSync(join(place, "run.py"), `from total import M\n${asserts}`);
    const env = { ...process.env, PYTHONPATH: "guard", PYTHONDONTWRITEBYTECODE: "1" };
    return spawnSync("python3", ["run.py"], { cwd: place, env }).status;
  };
  const sum = "assert M(3).plus(M(4)) == M(7)\n";
  expect(run("-", sum)).toBe(86);
  expect(run("+", sum)).toBe(0);
  expect(run("-", "assert M(1) == M(2)\n")).toBe(0);
  rmSync(place, { recursive: true });
});
