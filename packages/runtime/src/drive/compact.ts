import type { CompactedEntry, CompactionTrigger, EventPayload, Item, SessionEvent, TrustLabel } from "@holdfast/protocol";
import { lowestTrust } from "@holdfast/protocol/trust";
import { charsOf, isCompactionDue, requestTokens, shortened, unanswered } from "../kernel/compacted.ts";
import { itemsOf } from "../kernel/copies.ts";
import type { CompactionInput, RecordedEvent } from "../ports/index.ts";
import { sinceStart } from "../kernel/world.ts";
import { readEvents } from "../session/stored.ts";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";
import { askHooks } from "./hooks.ts";
import { passingNow } from "./world.ts";

/** Below this no model's window is near its end, also no small local one's, and no model is asked for its size. */
const smallWindowChars = 12_000;
/** The part of a model's window that a conversation may fill at most; the rest is for what comes at once. */
const fullPart = 0.75;
/** The part of it that is kept for the longest answer at most, and what is left free beside that. */
const mostReserved = 0.4;
const margin = 0.9;
/** A mark that a person set counts up to this part of the window. */
const latestPart = 0.95;
/** Of what makes a window full, the parts that the state of a session and what it has not answered may take in the next one. */
const statePart = 0.35;
const tailPart = 0.5;
/** A compaction that leaves more than this of the window has freed too little. */
const mostLeft = 0.7;
const mostLeftByHand = 0.95;

/** Tokens of a request above which the conversation is shortened; null where that is far. The longest answer has its place. */
export async function compactionMark(driver: Driver): Promise<number | null> {
  const set = driver.registers.get("settings", "")?.compactAtTokens;
  if (driver.head.windowChars < smallWindowChars) return set ?? null;
  const model = await driver.ports.model(settingsOf(driver).model).catch(() => null);
  const size = model?.contextWindow ?? null;
  if (size === null) return set ?? null;
  if (set !== undefined) return Math.min(set, Math.floor(size * latestPart));
  const reserved = Math.min(model?.maxOutput ?? 0, size * mostReserved);
  return Math.floor(Math.min(size * fullPart, (size - reserved) * margin));
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
  const world = sinceStart(registers);
  const mark = await compactionMark(driver);
  const full = fullChars(mark, trigger, before.chars);
  const strategy = settingsOf(driver).compactStrategy;
  const tail = shortened(unanswered(window.items), partOf(full, tailPart));
  const given: CompactionInput = {
    previous: first?.entries ?? [],
    events: first === null ? events : events.slice(1),
    plan: registers.get("plan", "")?.steps ?? [],
    world: [...world.changed, ...passingNow(driver)],
    gone: world.gone,
    tasks: registers.entries("task").map(([, task]) => task),
    before,
    stays: new Set(tail.map(({ id }) => id)),
    room: partOf(full, statePart),
    judgement: null,
    ...(strategy === undefined ? {} : { strategy }),
  };
  const state = await ports.director.compact(given);
  const leaves = ({ report }: typeof state): number => report.after.chars + charsOf(tail);
  if (leaves(state) > before.chars * (trigger === "hand" ? mostLeftByHand : mostLeft))
    return [...asked.ran, ...freedTooLittle(driver, state.entries, leaves(state))];
  const { askJudgement } = await import("./judgement.ts");
  const judged = await askJudgement(driver, given, state.entries, signal);
  if (signal.aborted) return [...asked.ran];
  const { entries, report } = judged.text === null ? state : await ports.director.compact({ ...given, judgement: judged.text });
  const compacted: EventPayload<"window.compacted"> = {
    start: 0,
    trigger,
    id: newId(driver)("itm"),
    trust: trustOf(events, first?.trust),
    entries: [...entries],
    ...(tail.length === 0 ? {} : { tail: [...tail] }),
    answers: (first?.answers ?? 0) + answersIn(events) + answersOfTail(first?.tail) - answersOfTail(tail),
    report: { ...report, after: { chars: report.after.chars + charsOf(tail) }, flags: [...report.flags, ...judged.flags] },
    ...(judged.judging === null ? {} : { judging: judged.judging }),
  };
  return [...asked.ran, { type: "window.compacted", payload: compacted }];
}

/** Characters that fill a window, four a token; null where nobody knows. What the provider refused was too long, whatever the mark says. */
function fullChars(mark: number | null, trigger: CompactionTrigger, chars: number): number | null {
  const full = Math.min(mark === null ? Infinity : mark * 4, trigger === "overflow" ? chars : Infinity);
  return full === Infinity ? null : full;
}

function partOf(full: number | null, part: number): number | null {
  return full === null ? null : Math.floor(full * part);
}

/**
 * It is told, and not tried again before the window has grown by a quarter. Where the provider has already refused the request
 * there is no way on: the turn ends.
 */
function freedTooLittle(driver: Driver, entries: readonly CompactedEntry[], chars: number): SessionEvent[] {
  const { head } = driver;
  const reason = `the conversation can't be shortened: its state alone (${entries.length} entries, ${chars} of ${head.windowChars} characters) fills it; raise [compaction] trigger_tokens, choose a model with a larger window, or start a new session`;
  if (head.turn === null || head.compacting?.trigger !== "overflow") return [failed(reason)];
  return [failed(reason), { type: "turn.stopping", payload: { outcome: "exhausted", reason, error: null } }];
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
