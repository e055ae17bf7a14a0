import type { StoredEvent } from "@holdfast/protocol";
import type { Commit, Erasure, InboxRow, RegisterRow, SessionRow } from "@holdfast/runtime";
import { staleDriver } from "../commit-shape.ts";

/** Everything kept of one session, so that deleting it is dropping one object. */
export interface MemorySession {
  row: SessionRow;
  head: string;
  readonly events: StoredEvent[];
  /** By `registerKey`. */
  readonly registers: Map<string, RegisterRow>;
  /** In order of number, which is the index + 1. A row's body is dropped when it is taken: the events hold it then. */
  readonly inbox: (InboxRow | { readonly messageId: string; readonly body: null })[];
  readonly claims: Map<string, string>;
  readonly blobRefs: Set<string>;
  /** In order of seq. */
  readonly snapshots: { readonly seq: number; readonly head: string; readonly registers: readonly RegisterRow[] }[];
}

export function newSession(commit: Commit, created: NonNullable<Commit["created"]>): MemorySession {
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
    },
    head: commit.head,
    events: [],
    registers: new Map(),
    inbox: [],
    claims: new Map(),
    blobRefs: new Set(),
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
  for (const blob of commit.blobRefs) session.blobRefs.add(blob);
  session.row = {
    ...session.row,
    status: commit.status,
    wakeAt: commit.wakeAt,
    updatedAt: commit.at,
    seq: commit.expectedSeq + commit.events.length,
  };
  if (commit.takesSnapshot === true) {
    session.snapshots.push({ seq: session.row.seq, head: commit.head, registers: [...session.registers.values()] });
  }
}

export function eraseFrom(session: MemorySession, { seqs, blobs, title }: Erasure): void {
  for (const seq of seqs) {
    const event = session.events[seq - 1];
    if (event !== undefined) session.events[seq - 1] = { ...event, payload: null, salt: null };
  }
  for (const blob of blobs) session.blobRefs.delete(blob);
  session.snapshots.splice(0, session.snapshots.length - 1);
  if (title !== null) session.row = { ...session.row, title };
}

function registerKey(register: RegisterRow): string {
  return JSON.stringify([register.kind, register.key]);
}
