import type { EventPayload, Item, Notice } from "@holdfast/protocol";
import { itemChars } from "./change.ts";
import type { Head } from "./state.ts";

/** The state of the session as the first item of a new window. */
export function compactedNotice({ id, trust, entries }: EventPayload<"window.compacted">): Notice {
  return { kind: "notice", id, trust, text: entries.map(({ text }) => text).join("\n") };
}

/** What a window begins with. */
export function compactedItems(payload: EventPayload<"window.compacted">): readonly Item[] {
  return [compactedNotice(payload), ...(payload.tail ?? [])];
}

/** What the model has not answered yet: the last calls with their results, and what was said since. */
export function unanswered(items: readonly Item[]): readonly Item[] {
  const last = items.findLastIndex(({ kind }) => kind === "assistant_message" || kind === "reasoning" || kind === "tool_call");
  if (last === items.length - 1 || items[last]?.kind !== "tool_call") return items.slice(last + 1);
  let first = last;
  while (first > 0 && ["assistant_message", "reasoning", "tool_call"].includes(items[first - 1]!.kind)) first -= 1;
  return items.slice(first);
}

/** A new window begins; what the provider counted was of the old one. */
export function windowCompacted(head: Head, payload: EventPayload<"window.compacted">): Head {
  const { measured: _, ...uncounted } = head;
  const rest = settledDown(uncounted);
  return { ...rest, windowStart: payload.start, windowChars: charsOf(compactedItems(payload)), answersBefore: payload.answers };
}

export function charsOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + itemChars(item), 0);
}

function settledDown(head: Head): Head {
  const { compacting: _, ...rest } = head;
  return withoutFailure(rest);
}

function withoutFailure(head: Head): Head {
  const { compactFailedAt: _, ...rest } = head;
  return rest;
}

export function compactionFailed(head: Head): Head {
  const { compacting: _, ...rest } = head;
  return { ...rest, compactFailedAt: head.windowChars };
}

/** How much a window must have grown since a compaction of it failed before it is tried again by itself. */
const growth = 1.25;

/** Tokens of the next request: as the provider counted the last one, and about what came since. */
export function requestTokens({ measured, windowChars }: Head): number {
  const since = measured === undefined ? windowChars + 8_000 : Math.max(0, windowChars - measured.chars);
  return Math.ceil((measured?.tokens ?? 0) + since / 4);
}

export function isCompactionDue(head: Head, compactAt: number | null): boolean {
  if (compactAt === null || requestTokens(head) <= compactAt) return false;
  return head.compactFailedAt === undefined || head.windowChars > head.compactFailedAt * growth;
}

/** What the turn alone wanted ends with it; what a person asked for is still done. */
export function withoutPassing(head: Head): Head {
  if (head.compacting === undefined || head.compacting.trigger === "hand") return head;
  const { compacting: _, ...rest } = head;
  return rest;
}
