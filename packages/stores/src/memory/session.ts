import type { StoredEvent } from "@holdfast/protocol";
import type { Commit, Erasure, InboxRow, RegisterRow, SessionRow } from "@holdfast/runtime";
import { staleDriver } from "../commit-shape.ts";

/** Everything kept of one session, so that deleting it is dropping one object. */
export interface MemorySession {
  row: SessionRow;
  head: string;
  /** Its own; a fork's begin after the last one it shares. */
  readonly events: StoredEvent[];
  /** The session that wrote the last event it shares. */
  readonly parent: { readonly session: MemorySession; readonly seq: number } | null;
  isDeleted: boolean;
  /** By `registerKey`. */
  readonly registers: Map<string, RegisterRow>;
  /** In order of number, which is the index + 1. A row's body is dropped when it is taken: the events hold it then. */
  readonly inbox: (InboxRow | { readonly messageId: string; readonly body: null })[];
  readonly claims: Map<string, string>;
  /** With the last event of the commit that first referred to it. */
  readonly blobRefs: Map<string, number>;
  /** In order of seq. */
  readonly snapshots: { readonly seq: number; readonly head: string; readonly registers: readonly RegisterRow[] }[];
}

export function newSession(
  commit: Commit,
  created: NonNullable<Commit["created"]>,
  forkedFrom: MemorySession | null = null,
): MemorySession {
  const { fork } = created;
  const parent = forkedFrom === null || fork === undefined ? null : { session: writerOf(forkedFrom, fork.seq), seq: fork.seq };
  return {
    row: {
      session: commit.session,
      workspace: created.workspace,
      title: created.title,
      status: commit.status,
      wakeAt: commit.wakeAt,
      createdAt: commit.at,
      updatedAt: commit.at,
      seq: 0,
      parent: parent?.session.row.session ?? null,
      parentSeq: parent?.seq ?? null,
    },
    head: commit.head,
    events: [],
    parent,
    isDeleted: false,
    registers: new Map(),
    inbox: [],
    claims: new Map(),
    blobRefs: new Map([...(forkedFrom?.blobRefs ?? [])].filter(([, seq]) => parent !== null && seq <= parent.seq)),
    snapshots: [],
  };
}

/** Throws `stale_driver`, before anything has changed, where the commit takes what doesn't wait in the inbox. */
export function checkTaken(session: MemorySession, commit: Commit): void {
  const seen = new Set<number>();
  for (const number of commit.taken) {
    const row = session.inbox[number - 1];
    if (row === undefined || row.body === null || seen.has(number)) {
      throw staleDriver(commit, `inbox row ${number} is not waiting`);
    }
    seen.add(number);
  }
}

/** Can't fail: every reason to refuse the commit was looked for before. */
export function applyCommit(session: MemorySession, commit: Commit): void {
  for (const event of commit.events) session.events.push({ ...event });
  session.head = commit.head;
  for (const register of commit.registers) {
    const key = registerKey(register);
    if (register.value === null) session.registers.delete(key);
    else session.registers.set(key, { ...register });
  }
  for (const number of commit.taken) {
    const row = session.inbox[number - 1];
    if (row !== undefined) session.inbox[number - 1] = { messageId: row.messageId, body: null };
  }
  for (const blob of commit.blobRefs) {
    if (!session.blobRefs.has(blob)) session.blobRefs.set(blob, commit.expectedSeq + commit.events.length);
  }
  session.row = {
    ...session.row,
    status: commit.status,
    wakeAt: commit.wakeAt,
    updatedAt: commit.at,
    seq: commit.expectedSeq + commit.events.length,
    title: commit.title ?? session.row.title,
  };
  if (commit.takesSnapshot === true) {
    session.snapshots.push({ seq: session.row.seq, head: commit.head, registers: [...session.registers.values()] });
  }
}

/** The session itself, then what it was forked from. */
export function lineageOf(session: MemorySession): MemorySession[] {
  return [session, ...(session.parent === null ? [] : lineageOf(session.parent.session))];
}

export function eventsOf({ parent, events }: MemorySession, from: number, to: number): StoredEvent[] {
  const shared = parent === null || from > parent.seq ? [] : eventsOf(parent.session, from, Math.min(to, parent.seq));
  const first = parent?.seq ?? 0;
  return [...shared, ...events.slice(Math.max(from - first, 1) - 1, Math.max(to - first, 0))];
}

export function writerOf(session: MemorySession, seq: number): MemorySession {
  return session.parent !== null && seq <= session.parent.seq ? writerOf(session.parent.session, seq) : session;
}

export function snapshotOf(session: MemorySession, seq: number): MemorySession["snapshots"][number] | null {
  const own = session.snapshots.findLast((snapshot) => snapshot.seq <= seq);
  if (own !== undefined || session.parent === null) return own ?? null;
  return snapshotOf(session.parent.session, Math.min(seq, session.parent.seq));
}

export function eraseFrom(session: MemorySession, { seqs, blobs, title }: Erasure): void {
  for (const seq of seqs) {
    const { events, parent } = writerOf(session, seq);
    const index = seq - (parent?.seq ?? 0) - 1;
    const event = events[index];
    if (event !== undefined) events[index] = { ...event, payload: null, salt: null };
  }
  for (const blob of blobs) session.blobRefs.delete(blob);
  session.snapshots.splice(0, session.snapshots.length - 1);
  for (const ancestor of lineageOf(session)) if (ancestor.isDeleted) ancestor.snapshots.splice(0);
  if (title !== null) session.row = { ...session.row, title };
}

/** Of its own, but for the events and snapshots up to `keptUpTo`. */
export function bytesOf(session: MemorySession, keptUpTo: number): number {
  const sizes = [
    ...session.events.flatMap(({ seq, payload }) => (seq > keptUpTo ? [payload?.length ?? 0] : [])),
    ...session.snapshots.flatMap(({ seq, ...snapshot }) => (seq > keptUpTo ? [JSON.stringify(snapshot).length] : [])),
    ...[...session.registers.values()].map(({ value }) => value?.length ?? 0),
    ...session.inbox.map(({ body }) => body?.length ?? 0),
  ];
  return sizes.reduce((sum, size) => sum + size, session.head.length);
}

function registerKey(register: RegisterRow): string {
  return JSON.stringify([register.kind, register.key]);
}
