import * as fc from "fast-check";
import { expect, test } from "vitest";
import { cells, fit, fold, table, wrap } from "../src/render/layout.ts";
import { jsonLine } from "../src/render/json-events.ts";
import { harmless, sanitize, sanitizeLine, sanitizeOutput } from "../src/render/sanitize.ts";

/** What a terminal must never get from outside: controls but for line ends, and what reorders or hides text. */
// eslint-disable-next-line no-control-regex -- these are the characters to be found
const dangerous =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb\u{e0000}-\u{e01ef}]|[\ud800-\udbff](?![\udc00-\udfff])/u;

/** Text as bad as it gets: escapes, bidi, hidden characters and halves of pairs, mixed with words. */
const nasty = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\u001b",
        "\u001b[",
        "\u001b]0;",
        "\u0007",
        "\u001b\\",
        "\u009b",
        "31m",
        "\u202e",
        "\u2066",
        "\u200b",
        "\u200d",
        "\ufe0f",
        "\r",
        "\n",
        "\r\n",
        "\t",
      ),
      fc.constantFrom(
        "a",
        "é",
        "漢字",
        "👩‍👩‍👧",
        "❤️",
        "नि",
        "می‌خواهم",
        "\ud83d",
        "\udc69",
        "\u{e0041}",
        "e\u0301".repeat(3) + "\u0301".repeat(30),
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(""));

test("no text can control, reorder or hide what a terminal shows", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      expect(sanitize(text)).not.toMatch(dangerous);
      expect(sanitizeOutput(text)).not.toMatch(dangerous);
      expect(sanitizeLine(text)).not.toMatch(/\n/);
      expect(sanitizeLine(text)).not.toMatch(dangerous);
    }),
    { numRuns: 3000 },
  );
});

test("an emoji of several parts stays whole, a joiner behind a selector that joins nothing shows", () => {
  expect(sanitize("👩\u200d❤\ufe0f\u200d👨")).toBe("👩\u200d❤\ufe0f\u200d👨");
  expect(sanitize("\ufe0f\u200d❤\ufe0f")).toBe("<U+FE0F><U+200D>❤\ufe0f");
});

test("cleaning what is clean changes nothing", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      expect(sanitize(sanitize(text))).toBe(sanitize(text));
      expect(sanitizeOutput(sanitizeOutput(text))).toBe(sanitizeOutput(text));
    }),
  );
});

test.each([
  ["\u001b[31mred\u001b[0m", "red"],
  ["\u001b]0;title\u0007after", "after"],
  ["\u001b]8;;https://example.org\u001b\\link\u001b]8;;\u001b\\", "link"],
  ["rm \u202Efdp.exe", "rm <U+202E>fdp.exe"],
  ["pass\u200bword", "pass<U+200B>word"],
  ["10%\r20%\r\ndone", "10%\n20%\ndone"],
  ["a\u0000b\u0008c", "a<U+0000>b<U+0008>c"],
  ["\ud800x", "<U+D800>x"],
  ["👩\u200d👩\u200d👧 ❤\ufe0f", "👩\u200d👩\u200d👧 ❤\ufe0f"],
  ["می\u200cخواهم", "می\u200cخواهم"],
  ["pay\u200cpal", "pay<U+200C>pal"],
])("%j of an output is shown as %j", (text, shown) => {
  expect(sanitizeOutput(text)).toBe(shown);
});

test.each([
  ["a\u001b]0;\nrm -rf x\n#\u0007b", "a<U+001B>]0;\nrm -rf x\n#<U+0007>b"],
  ["\u001b[;rm\u009d0;x\u009c", "<U+001B>[;rm<U+009D>0;x<U+009C>"],
  ["# note\rrm x\r\n", "# note<U+000D>rm x<U+000D>\n"],
  [`e${"\u0301".repeat(9)}`, `e${"\u0301".repeat(8)}<U+0301>`],
  ["rm \u202Efdp.exe", "rm <U+202E>fdp.exe"],
])("of %j, which is to be judged, nothing is dropped: %j", (text, shown) => {
  expect(sanitize(text)).toBe(shown);
});

// eslint-disable-next-line no-control-regex -- these are the characters to be found
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

test("nothing but line ends, tabs and our own colours leaves for a terminal, and JSON for a program stays as it is", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      // Without what looks like our own colours, which may stand there by chance.
      const plain = text.replaceAll("\u001b[", "\u001b");
      expect(harmless(plain, true).replaceAll("\r\n", "\n")).not.toMatch(controls);
    }),
  );
  expect(harmless("\u001b[1mok\u001b[22m\u001b]0;x\u0007\u001b[2J", false)).toBe("\u001b[1mok\u001b[22m<U+001B>]0;x<U+0007><U+001B>[2J");
  expect(harmless('{"a":"\u0085\u007f"}', false)).toBe('{"a":"\u0085\u007f"}');
});

test("a second line can't hide behind the first", () => {
  expect(sanitizeLine("npm test\nrm -rf ~")).toBe("npm test ⏎ rm -rf ~");
});

test("a JSON line is safe to look at and means the same", () => {
  fc.assert(
    fc.property(nasty, (text) => {
      const line = jsonLine({ type: "t", text });
      expect(line.slice(0, -1)).not.toMatch(dangerous);
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(JSON.parse(line)).toEqual({ type: "t", text });
    }),
  );
});

test("wrapped, cut and tabled text stays within its columns and keeps its words", () => {
  fc.assert(
    fc.property(nasty, fc.integer({ min: 2, max: 100 }), (text, width) => {
      const clean = sanitize(text);
      for (const line of wrap(clean, width)) expect(cells(line)).toBeLessThanOrEqual(width);
      expect(wrap(clean, width).join("").replace(/\s/g, "")).toBe(clean.replace(/\s/g, ""));
      expect(cells(fit(sanitizeLine(text), width))).toBeLessThanOrEqual(width);
    }),
  );
  const rows = table(
    [
      ["criterion", "before", "now", "evidence"],
      ["npm run a-very-long-script-name -- --with --many --flags", "fail", "pass", "41 passed, 1 failed before"],
    ],
    80,
    0,
  );
  for (const row of rows) expect(cells(row)).toBeLessThanOrEqual(80);
});

test("a table's last column that has no room beside the others stands below them, and ids are whole", () => {
  const id = "ses_01m8mfkvsk5s06hk8w68r0r2bq";
  const rows = table(
    [
      ["session", "status", "last change", "title"],
      [id, "idle", "2026-11-29 20:23Z", "Fix the login bug of people with an umlaut in their name"],
    ],
    60,
  );
  for (const row of rows) expect(cells(row)).toBeLessThanOrEqual(60);
  expect(rows.join("\n")).toContain(id);
  expect(rows).toContain("  Fix the login bug of people with an umlaut in their name");
});

test("folded output keeps its beginning and its end and says how much is between", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`);
  expect(fold(lines, 6)).toEqual(["line 1", "… 95 more lines …", "line 97", "line 98", "line 99", "line 100"]);
  expect(fold(lines.slice(0, 6), 6)).toEqual(lines.slice(0, 6));
});
