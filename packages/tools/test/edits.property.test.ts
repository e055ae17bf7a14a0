import { structuredPatch } from "diff";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyHunks } from "../src/patch/apply.ts";
import { parsePatch } from "../src/patch/parse.ts";
import { decodeText, encodeText, type TextFile } from "../src/text/encoding.ts";
import { joinLines, splitLines } from "../src/text/lines.ts";
import { replace } from "../src/text/replace.ts";

const ending = fc.constantFrom("\n", "\r\n");
const word = fc.constantFrom("a", "b", "  c", "d\t", "é", "\u2028", "x\fy", "$&", "", "}", "\ufeff", "lone\rcr");
const lines = fc.array(fc.tuple(word, ending), { maxLength: 30 });
const text = fc
  .tuple(lines, fc.boolean())
  .map(([all, hasFinal]) => all.map(([line, end], index) => line + (hasFinal || index < all.length - 1 ? end : "")).join(""));
const asFile = (content: string): TextFile => ({ encoding: "utf-8", hasBom: false, text: content });

describe("for any file", () => {
  test("splitting and joining lines loses nothing", () => {
    fc.assert(fc.property(text, (content) => joinLines(splitLines(content)) === content));
  });

  test("decoding and encoding loses nothing", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom([], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]), (body, mark) => {
        const bytes = Uint8Array.from([...mark, ...body]);
        const file = decodeText(bytes);
        if (file !== null) expect(encodeText(file.text, file)).toEqual(bytes);
      }),
    );
  });

  test("a literal edit leaves every character outside it as it was", () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.nat({ max: 40 }), fc.array(word, { maxLength: 4 }), (content, start, length, fresh) => {
        const plain = content.replaceAll("\r\n", "\n");
        const at = plain.length === 0 ? 0 : start % plain.length;
        const old = plain.slice(at, at + length);
        const isUnique = old !== "" && plain.indexOf(old) === plain.lastIndexOf(old);
        const replacement = fresh.join("\n");
        const result = replace(asFile(content), [{ old, new: replacement, all: false }]);
        if (!isUnique || old === replacement) {
          expect(result.type).toBe("refused");
          return;
        }
        expect(result.type).toBe("replaced");
        if (result.type !== "replaced") return;
        const before = original(content, at);
        const after = original(content, at + old.length);
        expect(result.text.startsWith(content.slice(0, before))).toBe(true);
        expect(result.text.endsWith(content.slice(after))).toBe(true);
        const middle = result.text.slice(before, result.text.length - (content.length - after));
        expect(middle.replaceAll("\r\n", "\n")).toBe(replacement);
        if (!content.includes("\r\n")) expect(middle).not.toContain("\r\n");
        if (!/(^|[^\r])\n/.test(content) && content.includes("\n")) expect(middle).not.toMatch(/(^|[^\r])\n/);
        if (!/\r(?!\n)/.test(content)) expect(result.text).not.toContain("\r\r\n");
      }),
      { numRuns: 400 },
    );
  });

  test("several edits give what each gives alone, in any order", () => {
    const unique = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        unique,
        ending,
        fc.array(fc.constantFrom("", "new", "two\nlines", "$1"), { minLength: 5, maxLength: 5 }),
        (picks, end, news) => {
          const all = Array.from({ length: 61 }, (_, index) => `line ${index};`);
          const content = all.map((line) => line + end).join("");
          const edits = picks.map((pick, index) => ({ old: `line ${pick};`, new: news[index]!, all: false }));
          const expected = all
            .map((line, index) => (picks.includes(index) ? news[picks.indexOf(index)]!.replaceAll("\n", end) : line) + end)
            .join("");
          expect(replace(asFile(content), edits)).toMatchObject({ type: "replaced", text: expected });
        },
      ),
    );
  });
});

describe("for any two texts", () => {
  const pair = fc.tuple(
    lines,
    fc.array(fc.tuple(fc.nat({ max: 40 }), fc.constantFrom("delete", "insert", "replace"), word), { maxLength: 6 }),
    fc.boolean(),
    fc.boolean(),
    ending,
  );

  test("the patch from one to the other gives exactly the other", () => {
    fc.assert(
      fc.property(pair, fc.nat({ max: 4 }), ([original, changes, hadFinal, hasFinal, end], context) => {
        // One kind of line end: in which of two an added line is meant can't be said in a patch.
        const before = original.map(([line]) => line);
        const after = [...before];
        for (const [place, kind, line] of changes)
          after.splice(place % (after.length + 1), kind === "insert" ? 0 : 1, ...(kind === "delete" ? [] : [line]));
        const whole = (each: readonly string[], final: boolean, newline: string) =>
          each.map((line, index) => line + (final || index < each.length - 1 ? newline : "")).join("");
        const oldText = whole(before, hadFinal, end);
        const newText = whole(after, hasFinal, end);
        // A text without a line end tells nothing of how lines end in it.
        if (oldText === newText || !oldText.includes("\n") || isOnlyEmptyLine(after, hasFinal) || isOnlyEmptyLine(before, hadFinal)) return;
        const hunks = structuredPatch("f", "f", whole(before, hadFinal, "\n"), whole(after, hasFinal, "\n"), "", "", { context }).hunks;
        if (hunks.some((hunk) => hunk.lines.every((line) => line.startsWith("+") || line.startsWith("\\")))) return;
        const body = hunks.flatMap((hunk) => [
          `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
          ...hunk.lines,
        ]);
        const parsed = parsePatch(["*** Begin Patch", "*** Update File: f", ...body, "*** End Patch"].join("\n"));
        expect(parsed.type).toBe("parsed");
        const section = parsed.type === "parsed" ? parsed.sections[0]! : null;
        if (section?.type !== "update") throw new Error("no update");
        expect(applyHunks(oldText, section.hunks)).toMatchObject({ type: "patched", text: newText });
      }),
      { numRuns: 600 },
    );
  });
});

/** Without a final newline a last line that is empty is no line at all. */
function isOnlyEmptyLine(all: readonly string[], hasFinal: boolean): boolean {
  return !hasFinal && all.at(-1) === "";
}

/** Offset in the text with CRLF of an offset in the one with LF. */
function original(content: string, plainOffset: number): number {
  let at = 0;
  for (let plain = 0; plain < plainOffset; plain += 1) at += content.startsWith("\r\n", at) ? 2 : 1;
  return at;
}
