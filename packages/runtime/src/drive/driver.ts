import type { Delta, Evidence, RecordedRun, SessionEvent, Settings } from "@holdfast/protocol";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { apply } from "../kernel/apply.ts";
import { chain } from "../kernel/chain.ts";
import { decide } from "../kernel/decide.ts";
import type { RequestDigests } from "../kernel/request-digests.ts";
import type { Head, MutableRegisters, RegisterPut } from "../kernel/state.ts";
import { messagesFor } from "../kernel/messages.ts";
import { headBound } from "../kernel/state.ts";
import { tipText } from "../kernel/tip.ts";
import { isWaiting } from "../kernel/waiting.ts";
import type { Window } from "../kernel/window.ts";
import { redactDeep } from "../redact.ts";
import { noteCommit } from "./own-commits.ts";
import type { Commit, DriveOptions, Ports, RecordedEvent, SessionStatus, Stop } from "../ports/index.ts";

/** Events between two snapshots. */
const snapshotEvery = 1_000;

/** A session in the hands of one process: its state in memory, and what was staged since the last commit. */
export interface Driver {
  readonly ports: Ports;
  readonly session: string;
  readonly options: DriveOptions;
  readonly registers: MutableRegisters;
  readonly window: Window;
  readonly digests: RequestDigests;
  /** Only where a call needed it: all windows as one. */
  whole?: Promise<Whole>;
  head: Head;
  staged: { readonly events: SessionEvent[]; readonly puts: RegisterPut[]; readonly taken: number[]; readonly blobs: string[]; at: number };
  /** Calls that a probe found still running: they are followed, not started. */
  readonly attachable: Set<string>;
  /** Calls whose checkpoint was taken while somebody else had the workspace. */
  readonly early: Set<string>;
  readonly hasSandbox: boolean;
  /** Another process had the session before: the model is told of the world in full, once. */
  wasTakenUp: boolean;
  /** An install or a build that goes on by itself: to be recorded at its end, while nothing else has changed the workspace. */
  yielded?: YieldedRun | null;
  /** Inbox rows about whose text hooks were asked. */
  readonly asked: Set<number>;
  created: Commit["created"];
}

/** What a session has had before it in all its windows, and up to which event that was read. */
export interface Whole {
  readonly window: Window;
  readonly seq: number;
}

export interface YieldedRun {
  readonly callId: string;
  readonly taskId: string;
  readonly looksAgain: () => Promise<RecordedRun | null>;
}

export function settingsOf(driver: Driver): Settings {
  const settings = driver.registers.get("settings", "");
  if (settings === null) {
    throw new HoldfastError("session_corrupt", `session ${driver.session} has no settings`, {
      hint: "holdfast doctor --repair derives them again from its events, where they are there",
    });
  }
  return settings;
}

export function newId(driver: Driver): (prefix: string) => string {
  return (prefix) => driver.ports.ids.next(prefix);
}

/** An error after which this driver must not go on: what it knows or can save is no longer sure. */
export function isFatal(error: unknown): boolean {
  return isHoldfastError(error) && ["claim_lost", "stale_driver", "store_failed", "store_full", "session_corrupt"].includes(error.code);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function emitDelta(driver: Driver, delta: Delta): void {
  driver.options.onDelta?.(delta);
}

/** Applies events to the state at once; they become durable, all or none, with the next `flush`. */
export function stage(driver: Driver, events: readonly SessionEvent[], taken: readonly number[] = []): void {
  const { staged } = driver;
  if (staged.events.length === 0) staged.at = driver.ports.clock.now();
  // Whoever made it: nothing of what this process holds as a secret is ever stored.
  for (const given of redactDeep(events, driver.ports.secrets.values())) {
    const event = placed(given, driver.head.seq + staged.events.length + 1);
    const applied = apply(driver.head, driver.registers, event, staged.at);
    driver.head = applied.head;
    driver.registers.put(applied.puts);
    staged.events.push(event);
    staged.puts.push(...applied.puts);
    staged.blobs.push(...blobsOf(event));
  }
  staged.taken.push(...taken);
}

/** A window begins with its own event, whose number is known only now. */
function placed(event: SessionEvent, seq: number): SessionEvent {
  return event.type === "window.compacted" ? { type: event.type, payload: { ...event.payload, start: seq } } : event;
}

/**
 * Commits what was staged: one transaction, a compare-and-set on the log's tip. After a failure the state in memory is
 * ahead of the log, so the driver must stop.
 */
export async function flush(driver: Driver): Promise<void> {
  const { ports, session, staged } = driver;
  if (staged.events.length === 0 && staged.taken.length === 0) return;
  const tip = { seq: driver.head.seq, hash: driver.head.hash };
  const salt = (): string => ports.ids.salt(16);
  const stored = chain(session, tip, staged.events, staged.at, salt);
  const ending = stored.at(-1);
  if (ending?.type === "turn.ended") {
    const signature = await ports.signer.sign(tipText(session, ending));
    const signed: SessionEvent = {
      type: "tip.signed",
      payload: { seq: ending.seq, hash: ending.hash, keyId: ports.signer.keyId, signature },
    };
    staged.events.push(signed);
    stored.push(...chain(session, ending, [signed], staged.at, salt));
  }
  const last = stored.at(-1) ?? tip;
  driver.head = { ...driver.head, seq: last.seq, hash: last.hash };
  const head = JSON.stringify(driver.head);
  if (head.length > headBound) {
    throw new HoldfastError(
      "head_too_large",
      `session ${session}: its control state has ${head.length} characters, the bound is ${headBound}`,
    );
  }
  const title = staged.events.map(titleAfter).findLast((one) => one !== null);
  const at = stopAt(
    "commit",
    staged.events.map((event) => event.type).join("+"),
    staged.events.map(({ type }) => `commit ${type}` as const),
  );
  const isHeard = (): boolean => ports.hooks?.has("stop", session) === true;
  await stop(driver, at("before"));
  await ports.log.commit({
    session,
    expectedSeq: tip.seq,
    events: stored,
    head,
    registers: lastPuts(staged.puts).map(({ kind, key, value }) => ({ kind, key, value: value === null ? null : JSON.stringify(value) })),
    taken: staged.taken,
    outbox: staged.events.flatMap((event, index) => messagesFor(event, tip.seq + 1 + index, isHeard)),
    blobRefs: [...new Set(staged.blobs)],
    takesSnapshot:
      Math.floor(last.seq / snapshotEvery) > Math.floor(tip.seq / snapshotEvery) ||
      // What came before can't be folded once its payloads are erased, also by a session that shares it.
      staged.events.some((event) => event.type === "item.erased" || event.type === "session.forked"),
    isBinding: staged.events.some(
      (event) => event.type === "turn.ended" || (event.type === "call.intended" && event.payload.replay !== "safe"),
    ),
    status: statusOf(driver.head),
    wakeAt: decide(driver, staged.at).wakeAt,
    at: staged.at,
    ...(typeof title === "string" ? { title } : {}),
    ...(driver.created === undefined ? {} : { created: driver.created }),
  });
  driver.created = undefined;
  noteCommit(ports.log, session, { seq: last.seq, pid: ports.processes.owner.pid });
  const committed = staged.events.map((event, index) => ({ ...event, seq: tip.seq + 1 + index, at: staged.at }) as RecordedEvent);
  driver.staged = { events: [], puts: [], taken: [], blobs: [], at: 0 };
  committed.forEach((event, index) => driver.window.add(event, stored[index]?.salt));
  await stop(driver, at("after"));
  for (const event of committed) driver.options.onEvent?.(event);
}

export function stopAt(what: Stop["what"], name: string, boundaries: Stop["boundaries"]): (when: Stop["when"]) => Stop {
  return (when) => ({ when, what, name, boundaries });
}

export async function stop(driver: Driver, at: Stop): Promise<void> {
  await driver.options.stops?.(at);
}

/** The title that an event gives the session; null where it keeps its own. */
function titleAfter(event: SessionEvent): string | null {
  return event.type === "session.renamed" || event.type === "item.erased" ? event.payload.title : null;
}

function statusOf(head: Head): SessionStatus {
  if (head.turn === null) return "idle";
  return isWaiting(head.turn) ? "waiting" : "running";
}

/** Of several changes of one register in a commit, the last counts. */
function lastPuts(puts: readonly RegisterPut[]): RegisterPut[] {
  return [...new Map(puts.map((put) => [`${put.kind}\n${put.key}`, put])).values()];
}

function blobsOf(event: SessionEvent): string[] {
  switch (event.type) {
    case "turn.started":
    case "input.taken":
      return event.payload.message.parts.flatMap((part) => (part.type === "image" ? [part.blob] : []));
    case "call.settled":
      return [
        ...(event.payload.outcome.changed ?? []).flatMap((file) => (file.before === null ? [] : [file.before])),
        ...(event.payload.outcome.images ?? []).map((image) => image.blob),
        ...(event.payload.outcome.whole === undefined ? [] : [event.payload.outcome.whole]),
      ];
    case "run.recorded":
      return event.payload.run.locks.map(({ content }) => content);
    case "baseline.recorded":
      return [...event.payload.blobs, ...event.payload.evidence.flatMap(outputsOf)];
    case "snapshot.recorded":
      return event.payload.blobs;
    case "session.forked":
      return event.payload.tree?.blobs ?? [];
    case "call.intended":
    case "turn.ended":
      return event.payload.checkpoint?.blobs ?? [];
    case "edits.undone":
      return event.payload.blobs ?? [];
    case "check.completed":
      return outputsOf(event.payload.evidence);
    default:
      return [];
  }
}

/** Without those of checks that start no command: they have no output, and its id is empty. */
function outputsOf({ run, originalInputsRun, repeats }: Evidence): string[] {
  return [run, ...repeats, ...(originalInputsRun === null ? [] : [originalInputsRun])].flatMap(({ output }) =>
    output === "" ? [] : [output],
  );
}
