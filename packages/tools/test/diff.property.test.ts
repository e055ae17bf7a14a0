import fc from "fast-check";
import { expect, test } from "vitest";
import { applyHunks } from "../src/patch/apply.ts";
import { parsePatch } from "../src/patch/parse.ts";
import { shortDiff } from "../src/text/diff.ts";

const file = (text: string) => ({ encoding: "utf-8", hasBom: false, text }) as const;
const counted = (hunks: string, mark: string) => hunks.split("\n").filter((line) => line.startsWith(mark)).length;

test("the hunks shown of a change make the one text of the other, and their lines are the ones counted", async () => {
  // Each line knows its place, so that a hunk fits nowhere else.
  const lines = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("\n", "\r\n")), { maxLength: 12 });
  const text = (parts: readonly (readonly [string, string])[], isOpen: boolean) => {
    const whole = parts.map(([word, ending], index) => `${index} ${word}${ending}`).join("");
    return isOpen ? whole.replace(/\r?\n$/, "") : whole;
  };
  await fc.assert(
    fc.asyncProperty(lines, lines, fc.boolean(), fc.boolean(), async (a, b, isOpenA, isOpenB) => {
      const [before, after] = [text(a, isOpenA), text(b, isOpenB)];
      const { hunks, added, removed } = await shortDiff(file(before), file(after));
      if (before === after || before === "" || after === "") {
        expect(hunks).toBe("");
        return;
      }
      expect([counted(hunks, "+"), counted(hunks, "-")]).toEqual([added, removed]);
      const parsed = parsePatch(`*** Begin Patch\n*** Update File: f\n${hunks}\n*** End Patch`);
      const [section] = parsed.type === "parsed" ? parsed.sections : [];
      if (section?.type !== "update") throw new Error(`no hunks: ${hunks}`);
      const patched = applyHunks(before, section.hunks);
      // A change of line endings alone can't be told by lines.
      const plain = (each: string) => each.replaceAll("\r\n", "\n");
      if (plain(before) === plain(after)) return;
      expect(patched).toMatchObject({ type: "patched" });
      expect(patched.type === "patched" ? plain(patched.text) : "").toBe(plain(after));
    }),
    { numRuns: 300 },
  );
});

test("a large file that is new, or wholly another, is counted, not shown", async () => {
  const large = "ab\n".repeat(1_500_000);
  expect(await shortDiff(null, file(large))).toEqual({ added: 1_500_000, removed: 0, hunks: "" });
  expect(await shortDiff(file(large), file(large.toUpperCase()))).toEqual({ added: 1_500_000, removed: 1_500_000, hunks: "" });
  const changed = `${large.slice(0, 3_000_000)}new\n${large.slice(3_000_003)}`;
  expect(await shortDiff(file(large), file(changed))).toMatchObject({
    added: 1,
    removed: 1,
    hunks: "@@ -999999,5 +999999,5 @@\n ab\n ab\n-ab\n+new\n ab\n ab",
  });
});
