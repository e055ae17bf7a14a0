import type { StoredEvent } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import { eventPayloads } from "@holdfast/protocol/event";
import type { Hasher } from "../hash.ts";
import { createHasher } from "../hash.ts";
import { apply } from "../kernel/apply.ts";
import { contradiction } from "../kernel/awaited.ts";
import { findChainFault } from "../kernel/chain.ts";
import { decide } from "../kernel/decide.ts";
import type { Head, MutableRegisters } from "../kernel/state.ts";
import { createRegisters, emptyHead } from "../kernel/state.ts";
import type { Log, RecordedEvent, RegisterRow } from "../ports/index.ts";
import type { ReplayLog, ReplayPorts, RequestReplay } from "./replay-request.ts";
import { createRequestReplay } from "./replay-request.ts";
import { loadState, newer, parseHead, parseRegisters, readEvents } from "./stored.ts";

/** The first place where what follows from the log is not what was recorded. */
export interface ReplayDeparture {
  readonly seq: number;
  readonly what: "chain" | "event" | "plan" | "request" | "head" | "register";
  readonly detail: string;
}

export interface ReplayReport {
  /** The last event before those that were folded: what is erased can't be, so folding starts at the snapshot behind it. */
  readonly after: number;
  readonly events: number;
  /** Requests built again and found equal; how many of them to the bytes of their bodies; those of which nothing is recorded. */
  readonly requests: number;
  readonly bodies: number;
  readonly unrecorded: number;
  /** Of all heads, changes of registers, plans and requests, in order: the same for the same log wherever it is replayed. */
  readonly digest: string;
  readonly departure: ReplayDeparture | null;
}

type Snapshot = NonNullable<Awaited<ReturnType<Log["snapshot"]>>>;

interface Fold {
  head: Head;
  readonly registers: MutableRegisters;
  readonly requests: RequestReplay;
  readonly hasher: Hasher;
}

/**
 * Derives a session's control state, its plans and its requests again from its log alone, and compares them with what was
 * recorded, up to the first departure. Takes nothing over. Throws `session_not_found`, `session_newer`, and
 * `session_corrupt` where something of it can't be read at all.
 */
export async function replaySession(ports: ReplayPorts, session: string): Promise<ReplayReport> {
  const { log, director } = ports;
  const { row, head: tip } = await loadState(log, session);
  if (tip.behaviour > director.behaviour) throw newer(`session ${session}`);
  // What a living driver commits meanwhile isn't looked at.
  const events = await log.read(session, 1, row.seq);
  const snapshots = await snapshotsOf(log, session, row.seq);
  const start = events.some(({ payload }) => payload === null) ? snapshots.at(-1) : undefined;
  const after = start?.seq ?? 0;
  const fold: Fold = {
    head: start === undefined ? emptyHead : parseHead(start.head, session),
    registers: start === undefined ? createRegisters() : parseRegisters(start.registers, session),
    requests: createRequestReplay(ports),
    hasher: createHasher(),
  };
  const departure = (await foldAll(fold, events, snapshots, after)) ?? (await compareTip(fold, log, session, row.seq));
  const { equal, bodies, unrecorded } = fold.requests.counts();
  return {
    after,
    events: Math.max(0, fold.head.seq - after),
    requests: equal,
    bodies,
    unrecorded,
    digest: fold.hasher.digest(),
    departure,
  };
}

/** Oldest first. */
async function snapshotsOf(log: ReplayLog, session: string, tip: number): Promise<Snapshot[]> {
  const found: Snapshot[] = [];
  for (let at = tip; ;) {
    const snapshot = await log.snapshot(session, at);
    if (snapshot === null) return found.reverse();
    found.push(snapshot);
    at = snapshot.seq - 1;
  }
}

async function foldAll(
  fold: Fold,
  events: readonly StoredEvent[],
  snapshots: readonly Snapshot[],
  after: number,
): Promise<ReplayDeparture | null> {
  const shown = new Map(readEvents(events).map((event) => [event.seq, event]));
  const kept = new Map(snapshots.map((snapshot) => [snapshot.seq, snapshot]));
  let link = { seq: 0, hash: "" };
  for (const stored of events) {
    const { seq } = stored;
    const fault = findChainFault([stored], link);
    if (fault !== null) return { seq: fault.seq, what: "chain", detail: `the hash chain breaks (${fault.fault})` };
    link = stored;
    const event = shown.get(seq);
    if (event === undefined) return { seq, what: "event", detail: "its payload is gone, and nothing says that it was erased" };
    const departure = (seq > after ? await step(fold, stored, event) : null) ?? look(fold, stored, event);
    if (departure !== null) return departure;
    const snapshot = seq > after ? kept.get(seq) : undefined;
    const differing = snapshot === undefined ? null : compareState(fold, snapshot.head, snapshot.registers, "the snapshot has");
    if (differing !== null) return { seq, ...differing };
  }
  return null;
}

/** Applies an event, if it could follow. */
async function step(fold: Fold, stored: StoredEvent, event: RecordedEvent): Promise<ReplayDeparture | null> {
  const { seq, hash, at } = stored;
  const schema = Object.hasOwn(eventPayloads, event.type) ? eventPayloads[event.type] : undefined;
  if (schema?.safeParse(event.payload).success !== true) return { seq, what: "event", detail: `it is no ${event.type}` };
  const problem = contradiction(fold, event);
  if (problem !== null) return { seq, what: "plan", detail: `${event.type}: ${problem}` };
  if (event.type === "sampling.settled") {
    const differing = await fold.requests.compare(fold, stored, event.payload);
    if (differing !== null) return { seq, what: "request", detail: differing };
  }
  const { head, puts } = apply(fold.head, fold.registers, event, at);
  fold.head = { ...head, seq, hash };
  fold.registers.put(puts);
  fold.hasher.update(JSON.stringify([fold.head, puts, decide(fold, at), event.type === "sampling.settled" ? event.payload.request : null]));
  return null;
}

/** Takes up what an event brings to the window. */
function look({ requests }: Fold, stored: StoredEvent, event: RecordedEvent): ReplayDeparture | null {
  try {
    requests.add(event, stored.salt);
    return null;
  } catch (error) {
    if (!isHoldfastError(error, "internal")) throw error;
    return { seq: stored.seq, what: "event", detail: error.message };
  }
}

async function compareTip(fold: Fold, log: ReplayLog, session: string, seq: number): Promise<ReplayDeparture | null> {
  if (fold.head.seq < seq) return { seq: fold.head.seq + 1, what: "chain", detail: `the log ends before event ${seq}` };
  const stored = await log.load(session);
  // Somebody goes on with it.
  if (stored === null || stored.row.seq !== seq) return null;
  const differing = compareState(fold, stored.head, stored.registers, "the store has");
  if (differing !== null) return { seq, ...differing };
  const last = (await log.read(session, seq, seq)).at(-1);
  const { wakeAt } = decide(fold, last?.at ?? 0);
  // What waits in the inbox, or waited there when it was posted, wants the session to be woken earlier.
  const isDrivenOn = (await log.inbox(session)).length > 0;
  if (isDrivenOn || wakeAt === stored.row.wakeAt) return null;
  return { seq, what: "plan", detail: `the plan is to go on at ${wakeAt ?? "no time"}, the store has ${stored.row.wakeAt ?? "no time"}` };
}

function compareState(
  { head, registers }: Fold,
  storedHead: string,
  storedRegisters: readonly RegisterRow[],
  where: string,
): Omit<ReplayDeparture, "seq"> | null {
  const ours = JSON.stringify(head);
  if (ours !== storedHead) return { what: "head", detail: `${where} another head: ${firstDifference(ours, storedHead)}` };
  const left = new Map(registers.all().map(({ kind, key, value }) => [`${kind} ${key}`, JSON.stringify(value)]));
  for (const { kind, key, value } of storedRegisters) {
    const name = `${kind} ${key}`;
    const derived = left.get(name);
    if (derived === undefined) return { what: "register", detail: `${where} ${name.trim()}, which doesn't follow` };
    if (derived !== value) return { what: "register", detail: `${where} another ${name.trim()}: ${firstDifference(derived, value ?? "")}` };
    left.delete(name);
  }
  const [missing] = left.keys();
  return missing === undefined ? null : { what: "register", detail: `${where} no ${missing.trim()}` };
}

const shownChars = 60;

function firstDifference(derived: string, stored: string): string {
  let at = 0;
  while (at < derived.length && derived[at] === stored[at]) at += 1;
  const from = Math.max(0, at - shownChars / 2);
  const cut = (text: string): string => text.slice(from, at + shownChars).toWellFormed();
  return `derived …${cut(derived)}, stored …${cut(stored)}`;
}
