import { expect, test } from "vitest";
import { evaluate } from "../src/eval/undo.ts";
import { differences } from "../src/eval/undo/tree.ts";

test("after random edits and commands undo leaves every file as it was, and git's own as they were", async () => {
  const { figures, misses } = await evaluate({ count: 1, seed: "7", rest: ["--deeds", "45"] });
  expect(misses).toEqual([]);
  expect(figures.map(({ value, isMet }) => [value, isMet ?? null])).toEqual([
    [45, null],
    [0, true],
  ]);
}, 120_000);

test("a difference in content, permissions or presence is seen", () => {
  const before = new Map([
    ["a", "file 644 x"],
    ["b", "folder 755"],
  ]);
  expect(
    differences(
      before,
      new Map([
        ["a", "file 600 x"],
        ["c", "link y"],
      ]),
    ),
  ).toEqual(['"a": file 644 x became file 600 x', '"b": folder 755 became nothing', '"c": nothing became link y']);
});
