import type { Doubt, EventPayload, Json, SessionEvent, StoredEvent } from "@holdfast/protocol";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { eventVersion } from "@holdfast/protocol/version";
import type { Driver } from "../drive/driver.ts";
import { flush, stage } from "../drive/driver.ts";
import { firstLook } from "../drive/first-look.ts";
import { apply } from "../kernel/apply.ts";
import { doubtsBeyond, isStepEnd } from "../kernel/forked.ts";
import type { Head, MutableRegisters } from "../kernel/state.ts";
import { emptyHead } from "../kernel/state.ts";
import { createRequestDigests } from "../kernel/request-digests.ts";
import { createWindow } from "../kernel/window.ts";
import type { Log, Ports, RecordedEvent } from "../ports/index.ts";
import { titleFrom } from "./rename.ts";
import { isCut, refuseOtherEnd } from "./cut.ts";
import { loadState, parseHead, parseRegisters, readEvents } from "./stored.ts";
import { refuseBroken } from "./verify.ts";

export interface Forked {
  readonly session: string;
  readonly seq: number;
  readonly doubts: readonly string[];
  /** The last event that a mended store has of the other one; null where it lost none. */
  readonly lostAfter: number | null;
}

/** How often a session that is being driven may go on while it is forked. */
const mostTries = 50;

/**
 * Makes a session of its own that shares another's history up to `at` (an event's number; by default all of it), or up to the
 * last end of a step before. Nothing is copied. The other session may be driven meanwhile. Returns the new one's id, where it
 * begins, and one line for each call of the other that may have happened, without a sign of it in that history. Throws `session_not_found`, `session_corrupt` where its log was changed (what a mended store saved of one can be forked), `usage` where no step had ended by then.
 */
export async function forkSession(
  ports: Ports,
  from: string,
  { at = Number.MAX_SAFE_INTEGER, title }: { readonly at?: number; readonly title?: string } = {},
): Promise<Forked> {
  const named = title === undefined ? undefined : titleFrom(title);
  for (let tried = 1; ; tried += 1) {
    try {
      return await tryFork(ports, from, at, named);
    } catch (error) {
      if (!isHoldfastError(error, "stale_driver") || tried === mostTries) throw error;
    }
  }
}

async function tryFork(ports: Ports, from: string, at: number, title: string | undefined): Promise<Forked> {
  const { row, head, registers } = await loadState(ports.log, from);
  refuseOtherEnd(row, head);
  const stored = await ports.log.read(from, 1, row.seq);
  const end = stored.at(-1)?.seq ?? 0;
  const isPart = isCut(head, stored.at(-1));
  refuseBroken(from, stored, isPart ? { ...head, seq: end } : head);
  const events = readEvents(stored);
  const point = await stepEnd(ports.log, from, events, Math.min(at, end));
  const { seq } = point.head;
  const doubts = doubtsBeyond(point.registers, registers);
  const hash = stored[seq - 1]?.hash ?? "";
  const window = createWindow();
  for (const event of events) if (event.seq >= point.head.windowStart && event.seq <= seq) window.add(event);
  const driver: Driver = {
    ports,
    session: ports.ids.next("ses"),
    options: { waiting: "return" },
    head: { ...point.head, hash },
    registers: point.registers,
    window,
    digests: createRequestDigests(),
    // A fork's first commit brings all registers: those it takes over are its own from then on.
    staged: { events: [], puts: point.registers.all(), taken: [], blobs: [], at: 0 },
    attachable: new Set(),
    early: new Set(),
    hasSandbox: false,
    wasTakenUp: false,
    asked: new Set(),
    created: { workspace: row.workspace, title: title ?? row.title, fork: { session: from, seq, tip: row.seq } },
  };
  const begun: SessionEvent = {
    type: "session.forked",
    payload: {
      from,
      seq,
      title: title ?? row.title,
      kept: keptOf(stored, events, seq),
      ...(doubts.length === 0 ? {} : { doubts }),
      ...treeBeyond(events, seq),
    },
  };
  const words = [...(doubts.length === 0 ? [] : [doubtsIn(doubts)]), ...(isPart ? [partlyLost] : [])];
  stage(driver, [begun, ...words.map((text) => noticeOf(text, ports))]);
  await flush(driver);
  return { session: driver.session, seq, doubts: summariesOf(doubts, events), lostAfter: isPart ? end : null };
}

/** Where the other changed the workspace only after event `seq`, the fork could not know any more how it was before. */
function treeBeyond(events: readonly RecordedEvent[], seq: number): Pick<EventPayload<"session.forked">, "tree"> {
  const look = firstLook(events);
  if (look === null || look.seq <= seq) return {};
  const { subject, manifest, blobs } = look;
  return { tree: { subject, manifest, blobs: [...blobs] } };
}

/** For the model. What the calls held stays with the other session, where it can be erased. */
function doubtsIn(doubts: readonly Doubt[]): string {
  const tools = [...new Set(doubts.map(({ tool }) => tool))].join(", ");
  return `The session that this one was made of had gone further: calls that aren't shown above may have happened (${tools}). Before you make one like them, look at what it would have done.`;
}

const partlyLost =
  "The session that this one was made of had gone further, and what followed is lost: calls that nobody can name any more may have happened. Before you change something, look at how it stands.";

function noticeOf(text: string, ports: Ports): SessionEvent {
  return { type: "notice.added", payload: { notice: { kind: "notice", id: ports.ids.next("itm"), text, trust: "system" } } };
}

function summariesOf(doubts: readonly Doubt[], events: readonly RecordedEvent[]): string[] {
  const planned = new Map(
    events.flatMap((event) => (event.type === "call.decided" ? [[event.payload.callId, event.payload.plan.summary] as const] : [])),
  );
  return doubts.map(({ callId, tool }) => planned.get(callId) ?? tool);
}

/** Head and registers at the last end of a step up to `at`, folded from the nearest snapshot before it. */
async function stepEnd(
  log: Log,
  session: string,
  events: readonly RecordedEvent[],
  at: number,
): Promise<{ readonly head: Head; readonly registers: MutableRegisters }> {
  let snapshot = await log.snapshot(session, at);
  for (;;) {
    const start = snapshot === null ? { head: emptyHead, rows: [] } : { head: parseHead(snapshot.head, session), rows: snapshot.registers };
    const end = lastStepEnd(events, start.head, parseRegisters(start.rows, session), at);
    if (end !== null) return fold(events, start.head, parseRegisters(start.rows, session), end);
    if (snapshot === null)
      throw new HoldfastError("usage", `no step of session ${session} had ended by event ${at}`, { hint: "fork it later" });
    snapshot = await log.snapshot(session, snapshot.seq - 1);
  }
}

function lastStepEnd(events: readonly RecordedEvent[], from: Head, registers: MutableRegisters, at: number): number | null {
  let found = from.seq > 0 && isStepEnd(from.turn) ? from.seq : null;
  fold(events, from, registers, at, (head, seq) => {
    if (isStepEnd(head.turn)) found = seq;
  });
  return found;
}

function fold(
  events: readonly RecordedEvent[],
  from: Head,
  registers: MutableRegisters,
  to: number,
  onEach?: (head: Head, seq: number) => void,
): { readonly head: Head; readonly registers: MutableRegisters } {
  let head = from;
  for (const event of events) {
    if (event.seq <= from.seq || event.seq > to) continue;
    const applied = apply(head, registers, event, event.at);
    head = applied.head;
    registers.put(applied.puts);
    onEach?.(head, event.seq);
  }
  return { head: { ...head, seq: to }, registers };
}

/** What stands in the place of erased payloads and isn't said within the shared part itself. */
function keptOf(stored: readonly StoredEvent[], events: readonly RecordedEvent[], seq: number): EventPayload<"session.forked">["kept"] {
  const told = new Set(
    events.flatMap((event) =>
      event.seq <= seq && (event.type === "item.erased" || event.type === "session.forked") ? event.payload.kept.map((one) => one.seq) : [],
    ),
  );
  const later = new Set(
    events.flatMap((event) => (event.seq > seq && event.type === "item.erased" ? event.payload.kept.map((one) => one.seq) : [])),
  );
  return events
    .filter((event) => event.seq <= seq && (later.has(event.seq) || (stored[event.seq - 1]?.payload === null && !told.has(event.seq))))
    .map((event) => ({ seq: event.seq, version: eventVersion, payload: event.payload as Json }));
}
