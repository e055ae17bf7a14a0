import fc from "fast-check";
import { expect, test } from "vitest";
import { lineBefore, linesOf } from "../src/inspect/line-before.ts";

test("a line that stayed is found where it was, and a new one nowhere", () => {
  const plan = fc.array(fc.constantFrom("keep", "drop", "insert"), { maxLength: 60 });
  fc.assert(
    fc.property(plan, (steps) => {
      const [before, after]: [string[], string[]] = [[], []];
      steps.forEach((step, index) => {
        if (step !== "insert") before.push(`line ${index}`);
        if (step !== "drop") after.push(`line ${index}`);
      });
      const was = after.map((line) => (before.includes(line) ? before.indexOf(line) : null));
      expect(after.map((_, index) => lineBefore(before, after, index))).toEqual(was);
    }),
  );
});

test("of equal lines each is matched with an equal one, in order", () => {
  const text = fc.array(fc.constantFrom("a", "b", "}"), { maxLength: 25 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const found = after.map((_, index) => lineBefore(before, after, index));
      const matched = found.filter((at) => at !== null);
      expect(matched).toEqual([...new Set(matched)].toSorted((a, b) => a - b));
      found.forEach((at, index) => at === null || expect(before[at]).toBe(after[index]));
    }),
  );
});

test("what is too long to be compared is matched where a line stands once", () => {
  const before = Array.from({ length: 3_000 }, (_, index) => `${index}`);
  const after = ["first", ...before.toReversed(), "last"];
  expect(lineBefore(before, after, 1)).toBe(2_999);
  expect(lineBefore(before, after, 0)).toBeNull();
});

test("a line end at the end begins no line", () => {
  expect([linesOf(""), linesOf("a"), linesOf("a\n"), linesOf("a\n\n")]).toEqual([[], ["a"], ["a"], ["a", ""]]);
});
