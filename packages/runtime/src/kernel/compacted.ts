import type { EventPayload, Item, Notice } from "@holdfast/protocol";
import { itemChars } from "./change.ts";
import { spend } from "./sampling-settled.ts";
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

/** The part of the room that one text of what was not answered may take, where all of it takes more than there is. */
const longestPart = 0.5;

/**
 * What is not answered yet is shown whole where there is room; else each of its longest texts keeps both ends and says so. The
 * log has it all. A call keeps its input.
 */
export function shortened(tail: readonly Item[], room: number | null): readonly Item[] {
  if (room === null || charsOf(tail) <= room) return tail;
  const most = Math.max(2_000, Math.floor((room * longestPart) / Math.max(1, tail.length)));
  return tail.map((item): Item => {
    if (item.kind === "user_message")
      return { ...item, parts: item.parts.map((part) => (part.type === "text" ? { ...part, text: bothEnds(part.text, most) } : part)) };
    if (item.kind === "tool_result") return { ...item, text: bothEnds(item.text, most, item.output) };
    if (item.kind === "notice") return { ...item, text: bothEnds(item.text, most) };
    return item;
  });
}

function bothEnds(text: string, most: number, handle?: string): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const out = text.length - 2 * half;
  return `${text.slice(0, half).toWellFormed()}\n… [${out} characters left out, the window is full: ${handle === undefined ? "lookup finds what is in them" : `read_output reads ${handle}`}] …\n${text.slice(-half).toWellFormed()}`;
}

/** A new window begins; what the provider counted was of the old one. */
export function windowCompacted(head: Head, payload: EventPayload<"window.compacted">): Head {
  const { measured: _, windowSteps: __, ...uncounted } = head;
  const rest = settledDown(spend(uncounted, payload.judging?.usage ?? null, payload.judging?.cost ?? null));
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

export function compactionFailed(head: Head, { isCancelled }: EventPayload<"compaction.failed">): Head {
  const { compacting: _, ...rest } = head;
  return isCancelled === true ? rest : { ...rest, compactFailedAt: head.windowChars };
}

/** An answer more in this window, for a session whose windows end by their steps. */
export function countStep(head: Head, atSteps: number | undefined): Head {
  return atSteps === undefined ? head : { ...head, windowSteps: (head.windowSteps ?? 0) + 1 };
}

/** How much a window must have grown since a compaction of it failed before it is tried again by itself. */
const growth = 1.25;

/** Hardly any text has more characters a token: servers that count less than that, or nothing, are not believed. */
const mostCharsAToken = 8;

/** Tokens of the next request: as the provider counted the last one, and about what came since. */
export function requestTokens({ measured, windowChars }: Head): number {
  const since = measured === undefined ? windowChars + 8_000 : Math.max(0, windowChars - measured.chars);
  return Math.ceil(Math.max((measured?.tokens ?? 0) + since / 4, windowChars / mostCharsAToken));
}

export function isCompactionDue(head: Head, compactAt: number | null): boolean {
  return compactAt !== null && requestTokens(head) > compactAt && mayTryAgain(head);
}

/** By which of its marks the window is full; null: by none. */
export function compactionDue(head: Head, compactAt: number | null, atSteps: number | undefined): "tokens" | "steps" | null {
  if (isCompactionDue(head, compactAt)) return "tokens";
  return atSteps !== undefined && (head.windowSteps ?? 0) >= atSteps && mayTryAgain(head) ? "steps" : null;
}

function mayTryAgain({ compactFailedAt, windowChars }: Head): boolean {
  return compactFailedAt === undefined || windowChars > compactFailedAt * growth;
}

/** What the turn alone wanted ends with it; what a person asked for is still done. */
export function withoutPassing(head: Head): Head {
  if (head.compacting === undefined || head.compacting.trigger === "hand") return head;
  const { compacting: _, ...rest } = head;
  return rest;
}
