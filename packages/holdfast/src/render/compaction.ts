import type { Compaction } from "@holdfast/runtime/session/compactions";
import { plural } from "./numbers.ts";
import { sanitizeLine } from "./sanitize.ts";

const triggers = {
  tokens: "a full window",
  steps: "its number of steps",
  overflow: "a request that was too long",
  hand: "a person",
} as const;

/** What a compaction kept and let go, for a person. */
export function showCompaction({ number, seq, trigger, report, reason }: Compaction): string[] {
  const head = `${number}. by ${triggers[trigger]}, event ${seq}`;
  if (report === null) return [`${head}: failed, the old window stands: ${sanitizeLine(reason ?? "")}`];
  const { before, after, kept, dropped, pinned, flags } = report;
  return [
    `${head}: ${before.chars} characters (about ${before.tokens} tokens, ${plural(before.items, "item")}) became ${after.chars}`,
    `   kept: ${Object.entries(kept)
      .map(([section, count]) => `${count} ${section}`)
      .join(", ")}; ${plural(pinned, "line")} with exact values`,
    ...dropped.map(
      ({ what, count, chars, back }) =>
        `   out of the window: ${sanitizeLine(what)} (${count}, ${plural(chars, "character")}); back by ${sanitizeLine(back)}`,
    ),
    ...flags.map((flag) => `   not taken from the model's judgement: ${sanitizeLine(flag)}`),
  ];
}
