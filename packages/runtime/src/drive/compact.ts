import type { CompactedEntry, EventPayload, Item, SessionEvent, TrustLabel } from "@holdfast/protocol";
import { lowestTrust } from "@holdfast/protocol/trust";
import { charsOf, isCompactionDue, requestTokens, unanswered } from "../kernel/compacted.ts";
import { itemsOf } from "../kernel/copies.ts";
import type { RecordedEvent } from "../ports/index.ts";
import { readEvents } from "../session/stored.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";
import { askHooks } from "./hooks.ts";

/** Below this no model's window is near its end, and no model is asked for its size. */
const smallWindowChars = 60_000;
/** The part of a model's window that a conversation may fill; the rest is for the answer and for what comes at once. */
const fullPart = 0.75;
/** A compaction that leaves more than this of the window has freed too little. */
const mostLeft = 0.7;
const mostLeftByHand = 0.95;

/** Tokens of a request above which the conversation is shortened; null where that is far. */
export async function compactionMark(driver: Driver): Promise<number | null> {
  const set = driver.registers.get("settings", "")?.compactAtTokens;
  if (set !== undefined) return set;
  if (driver.head.windowChars < smallWindowChars) return null;
  const model = await driver.ports.model(settingsOf(driver).model).catch(() => null);
  return model === null || model.contextWindow === null ? null : Math.floor(model.contextWindow * fullPart);
}

/**
 * Makes a new window of the session's state. It reads the log and changes nothing outside, so it can be broken off and done
 * again; until its event is committed, the old window stands.
 */
export async function compactWindow(driver: Driver, signal: AbortSignal): Promise<SessionEvent[]> {
  const { ports, session, head, registers, window } = driver;
  const trigger = head.compacting?.trigger ?? "hand";
  const before = { items: window.items.length, chars: head.windowChars, tokens: requestTokens(head) };
  const asked = await askHooks(driver, { event: "before_compaction", signal, data: () => ({ trigger, tokens: before.tokens }) });
  if (asked.refusal !== null) return [...asked.ran, failed(`a hook refused it: ${asked.refusal}`)];
  const events = readEvents(await ports.log.read(session, head.windowStart));
  const first = events[0]?.type === "window.compacted" ? events[0].payload : null;
  const { entries, report } = await ports.director.compact({
    previous: first?.entries ?? [],
    events: first === null ? events : events.slice(1),
    plan: registers.get("plan", "")?.steps ?? [],
    world: registers.entries("worldNow").flatMap(([id, now]) => (registers.get("world", id)?.text === now.text ? [] : [now])),
    tasks: registers.entries("task").map(([, task]) => task),
    before,
    judgement: null,
  });
  const tail = unanswered(window.items);
  const left = report.after.chars + charsOf(tail);
  const compacted: EventPayload<"window.compacted"> = {
    start: 0,
    trigger,
    id: newId(driver)("itm"),
    trust: trustOf(events, first?.trust),
    entries: [...entries],
    ...(tail.length === 0 ? {} : { tail: [...tail] }),
    answers: (first?.answers ?? 0) + answersIn(events) + answersOfTail(first?.tail) - answersOfTail(tail),
    report: { ...report, after: { chars: left } },
  };
  if (left <= before.chars * (trigger === "hand" ? mostLeftByHand : mostLeft))
    return [...asked.ran, { type: "window.compacted", payload: compacted }];
  return [...asked.ran, ...freedTooLittle(driver, entries, left)];
}

/**
 * It is told, and not tried again before the window has grown by a quarter. Where the provider has already refused the request
 * there is no way on: the turn ends and says what to do.
 */
function freedTooLittle(driver: Driver, entries: readonly CompactedEntry[], chars: number): SessionEvent[] {
  const { head } = driver;
  const message = `the conversation can't be shortened: its state alone (${entries.length} entries, ${chars} of ${head.windowChars} characters) fills it`;
  if (head.turn === null || head.compacting?.trigger !== "overflow") return [failed(message)];
  const reason = `${message}; raise [compaction] trigger_tokens, choose a model with a larger window, or start a new session`;
  return [failed(message), { type: "turn.stopping", payload: { outcome: "exhausted", reason, error: null } }];
}

/** A tail with calls begins with the answer that made them. */
function answersOfTail(tail: readonly Item[] = []): number {
  return tail.some(({ kind }) => kind === "tool_call") ? 1 : 0;
}

function answersIn(events: readonly RecordedEvent[]): number {
  return events.filter((event) => event.type === "sampling.settled").length;
}

function failed(reason: string): SessionEvent {
  return { type: "compaction.failed", payload: { reason } };
}

/** The state is trusted as little as the least of what it was taken from. */
function trustOf(events: readonly RecordedEvent[], earlier: TrustLabel | undefined): TrustLabel {
  const labels = events.flatMap(itemsOf).flatMap((item) => ("trust" in item ? [item.trust] : []));
  return lowestTrust(...labels, ...(earlier === undefined ? [] : [earlier]));
}

/** A request that the provider found too long leads to a shorter one, unless that was tried already. */
export function afterOverflow(driver: Driver, samplingId: string): SessionEvent[] | null {
  const { head } = driver;
  if (driver.window.items.length < 3 || !isCompactionDue(head, 0)) return null;
  return [
    { type: "sampling.abandoned", payload: { samplingId, retracted: "", usage: null, cost: null } },
    { type: "compaction.started", payload: { trigger: "overflow", tokens: requestTokens(head) } },
  ];
}
