import type { Item, SessionEvent } from "@holdfast/protocol";
import { compactedNotice } from "./compacted.ts";
import type { Erasing } from "./erased.ts";

type Numbered = SessionEvent & { readonly seq: number };

/** Where the words of an item stand: `brought` is the event it came with, `title` the session's. */
export function erasingOf(item: Item, brought: SessionEvent, events: readonly Numbered[], title: string): Erasing {
  return {
    item,
    samplingId: brought.type === "sampling.settled" ? brought.payload.samplingId : null,
    isTitle: item.kind === "user_message" && isFrom(title, item),
    titles: new Set(item.kind === "user_message" ? events.flatMap((event) => (isFrom(titleIn(event), item) ? [event.seq] : [])) : []),
    ...reportsOf(events, item),
  };
}

/** The items that an event brings. */
export function itemsOf(event: SessionEvent): readonly Item[] {
  switch (event.type) {
    case "turn.started":
    case "input.taken":
      return [event.payload.message];
    case "notice.added":
      return [event.payload.notice];
    case "sampling.settled":
      return event.payload.items;
    case "call.settled":
      return [event.payload.result];
    case "window.compacted":
      return [compactedNotice(event.payload)];
    default:
      return [];
  }
}

function titleIn(event: SessionEvent): string {
  const brings = event.type === "session.created" || event.type === "session.forked" || event.type === "session.renamed";
  return brings ? event.payload.title : "";
}

/** A title is the beginning of a prompt, maybe cut. */
function isFrom(title: string, item: Extract<Item, { kind: "user_message" }>): boolean {
  const words = (text: string): string => text.split(/\s+/).join(" ").trim();
  const start = words(title.replace(/\uFFFD?…$/, ""));
  return start !== "" && item.parts.some((part) => part.type === "text" && words(part.text).includes(start));
}

/** Events whose report has the item as the model's last words, as the reason of a call that gave up, or as the plan that a call set. */
function reportsOf(events: readonly Numbered[], item: Item): Pick<Erasing, "messages" | "reasons" | "plans" | "checks"> {
  const messages = new Set<number>();
  const reasons = new Set<number>();
  const plans = new Set<number>();
  const checks = new Set<string>();
  const isOf = (callId: string): boolean => (item.kind === "tool_call" || item.kind === "tool_result") && item.callId === callId;
  let last: string | null = null;
  let hasGivenUp = false;
  let hasPlanned = false;
  for (const event of events) {
    if (event.type === "checks.accepted")
      for (const { id, from } of event.payload.checks) if (from !== undefined && (from === item.id || isOf(from))) checks.add(id);
    if (event.type === "round.judged" || event.type === "turn.ended") {
      if (last === item.id) messages.add(event.seq);
      if (hasGivenUp) reasons.add(event.seq);
      if (hasPlanned) plans.add(event.seq);
    }
    if (event.type === "turn.ended") hasGivenUp = false;
    if (event.type === "call.settled" && event.payload.outcome.gaveUp !== undefined) {
      hasGivenUp = isOf(event.payload.callId);
    }
    if (event.type === "call.settled" && event.payload.outcome.steps !== undefined) hasPlanned = isOf(event.payload.callId);
    for (const one of itemsOf(event)) {
      if (one.kind === "assistant_message") last = one.id;
      if (one.kind === "user_message") last = null;
    }
  }
  return { messages, reasons, plans, checks };
}
