import { expect, test } from "vitest";
import { createAnswerStream } from "../src/line/answer-stream.ts";
import { wrap } from "../src/render/layout.ts";
import { sanitize } from "../src/render/sanitize.ts";

/** Fault area 14, showing an answer: work is counted, time isn't. */

const code = Array.from({ length: 40 }, (_, line) => `  const value${line} = compute(${line}); // and so on`).join("\n");
const table = Array.from({ length: 30 }, (_, row) => `| ${row} | a cell | another |`).join("\n");
const prose = "Words that go on and on, without any end of their line. ".repeat(20);
const block = `${prose}\n\n\`\`\`js\n${code}\n\`\`\`\n\n${table}\n`;

/** Shows a text in pieces of four characters; `laidOut` is how often a paragraph was laid out. */
function show(text: string): { lines: string[]; laidOut: number } {
  let laidOut = 0;
  const stream = createAnswerStream(() => {
    laidOut += 1;
    return 80;
  });
  const lines: string[] = [];
  for (let offset = 0; offset < text.length; offset += 4) {
    lines.push(...stream.take({ type: "text.delta", itemId: "i", offset, text: text.slice(offset, offset + 4) }));
  }
  lines.push(...stream.complete({ kind: "assistant_message", id: "i", text }));
  return { lines, laidOut };
}

const oneShot = (text: string): string => wrap(sanitize(text), 80).join("\n").trimEnd();

test.each([
  ["prose, code and tables", block.repeat(Math.ceil(200_000 / block.length))],
  ["one paragraph without an end", prose.repeat(Math.ceil(200_000 / prose.length))],
  ["one word without an end", "x".repeat(200_000)],
])("F05 O(n^2) rendering: 200 kB of %s in pieces of four look as if they came at once", (_, text) => {
  expect(show(text).lines.join("\n").trimEnd()).toBe(oneShot(text));
});

test("F05 O(n^2) rendering: a paragraph twice as long is laid out a few times more, not twice as often", () => {
  const of = (length: number): number => show(prose.repeat(length / prose.length)).laidOut;
  const short = of(100_000);
  expect(short).toBeLessThan(300);
  expect(of(200_000) - short).toBeLessThan(20);
});
