import fc from "fast-check";
import { expect, test } from "vitest";
import { matchesWildcard } from "../src/rules/wildcard.ts";

test("stars and question marks, and those that are meant as themselves", () => {
  const yes: readonly (readonly [string, string])[] = [
    ["*", ""],
    ["a*", "a"],
    ["a*b*c", "axxbxbyc"],
    ["?", "🙂"],
    ["*.ts", "a.test.ts"],
    ["a\\*b", "a*b"],
    ["a\\", "a\\"],
    ["**", "x"],
  ];
  const no: readonly (readonly [string, string])[] = [
    ["", "a"],
    ["a*b", "a"],
    ["?", ""],
    ["a\\*b", "axb"],
    ["*a", "ab"],
    ["a.c", "abc"],
  ];
  for (const [pattern, text] of yes) expect(matchesWildcard(pattern, text), `${pattern} ${text}`).toBe(true);
  for (const [pattern, text] of no) expect(matchesWildcard(pattern, text), `${pattern} ${text}`).toBe(false);
});

test("a pattern of many stars looks at a long text a bounded number of times", () => {
  // As a regular expression this would take longer than anybody lives.
  expect(matchesWildcard(`${"*a".repeat(30)}*b`, "a".repeat(20_000))).toBe(false);
});

test("it says what the regular expression says", () => {
  const piece = fc.array(fc.constantFrom("a", "b", "*", "?", "\\*"), { maxLength: 7 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(piece, fc.array(fc.constantFrom("a", "b", "*"), { maxLength: 9 }), (pattern, letters) => {
      const source = pattern.replace(/\\\*|\*|\?/g, (found) => (found === "*" ? ".*" : found === "?" ? "." : "\\*"));
      expect(matchesWildcard(pattern, letters.join(""))).toBe(new RegExp(`^${source}$`, "s").test(letters.join("")));
    }),
  );
});
