import fc from "fast-check";
import { expect, test } from "vitest";
import { compileGlob } from "../src/paths/glob.ts";
import { tester } from "../src/paths/linear.ts";

const { either } = fc.letrec<{ either: string; sequence: string; item: string }>((tie) => ({
  either: fc.array(tie("sequence"), { minLength: 1, maxLength: 3 }).map((all) => all.join("|")),
  sequence: fc.array(tie("item"), { maxLength: 4 }).map((all) => all.join("")),
  item: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("a", "b", "\\.", "\\/", "[^/]", "[^/]*", ".*", "(?:.*/)?", "(?:[^/]+/)*", "(?!/)[^a]", "[a-b\\]]", "(?!)", "é", "😀"),
    fc.tuple(tie("either"), fc.constantFrom("", "?", "*")).map(([inner, sign]) => `(?:${inner})${sign}`),
  ),
}));
// So many stars that the engine of the language isn't asked.
const many = fc.array(either, { minLength: 1, maxLength: 3 }).map((all) => `(?:${all.join(")(?:")})[^/]*b?[^/]*b?[^/]*b?[^/]*`);

test("a translated glob matches what the language's own engine says", () => {
  fc.assert(
    fc.property(many, fc.string({ unit: fc.constantFrom("a", "b", "/", ".", "]", "é", "😀"), maxLength: 7 }), (source, text) => {
      expect(tester(source)(text)).toBe(new RegExp(`^(?:${source})$`, "su").test(text));
    }),
    { numRuns: 250 },
  );
});

test("a glob of many stars takes no time to speak of", () => {
  const matches = compileGlob(`${"*a".repeat(30)}*b.ts`);
  expect(matches(`${"a".repeat(250)}.ts`)).toBe(false);
  expect(matches(`x/${"a".repeat(250)}b.ts`)).toBe(true);
});
