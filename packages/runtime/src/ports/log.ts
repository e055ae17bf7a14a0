import type { StoredEvent } from "@holdfast/protocol";

/** A living (or dead) process that drives a session or owns a lock. A pid alone can be reused; the three together can't. */
export interface Owner {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  /** What a person reads: the program, or the session and what it does. Two sessions of one process are two owners by it. */
  readonly label: string;
}

export type SessionStatus = "idle" | "running" | "waiting";

/** The index row of a session. `wakeAt` is the earliest moment it wants to be woken, ms, null for never. */
export interface SessionRow {
  readonly session: string;
  readonly workspace: string | null;
  readonly title: string;
  readonly status: SessionStatus;
  readonly wakeAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly seq: number;
}

export interface RegisterRow {
  readonly kind: string;
  readonly key: string;
  /** JSON text; null deletes. */
  readonly value: string | null;
}

/** One atomic change of a session: all or nothing, and only if the log still ends at `expectedSeq` (0: new session). */
export interface Commit {
  readonly session: string;
  readonly expectedSeq: number;
  readonly events: readonly StoredEvent[];
  /** JSON text of the head after these events. */
  readonly head: string;
  readonly registers: readonly RegisterRow[];
  /** Numbers of inbox rows that this commit takes in. */
  readonly taken: readonly number[];
  readonly outbox: readonly { readonly messageId: string; readonly to: string; readonly body: string }[];
  readonly blobRefs: readonly string[];
  /** Keep head and registers as they are after this commit: folding can start there. */
  readonly takesSnapshot?: boolean;
  readonly status: SessionStatus;
  readonly wakeAt: number | null;
  readonly at: number;
  /** Given with the first commit of a session. */
  readonly created?: { readonly workspace: string | null; readonly title: string };
}

/** What the store is to forget of a session. */
export interface Erasure {
  /** Events whose payload and salt go; their headers stay, and the chain still verifies. */
  readonly seqs: readonly number[];
  /** Blobs that the session refers to no more. */
  readonly blobs: readonly string[];
  /** The session's new title; null keeps the one it has. */
  readonly title: string | null;
}

export interface InboxRow {
  readonly number: number;
  readonly messageId: string;
  /** JSON text of an op. */
  readonly body: string;
  readonly at: number;
}

export interface StoredState {
  readonly row: SessionRow;
  readonly head: string;
  readonly registers: readonly RegisterRow[];
}

/**
 * The durable log. `commit` is the only way a session's events, head and registers change; the rest are the store's own
 * small transactions. Each implementation documents what "acknowledged" survives.
 */
export interface Log {
  /** Throws `stale_driver` when the log no longer ends at `expectedSeq`, `store_full`/`store_failed` when it can't be saved. */
  commit(commit: Commit): Promise<void>;
  /** Null where there is no such session. Throws `session_newer` for a format from a later version. */
  load(session: string): Promise<StoredState | null>;
  /** The latest snapshot at or before `seq`: head and registers as they were after event `snapshot.seq`. Null: none yet. */
  snapshot(
    session: string,
    seq: number,
  ): Promise<{ readonly seq: number; readonly head: string; readonly registers: readonly RegisterRow[] } | null>;
  /** Events with `from <= seq <= to`, in order. */
  read(session: string, from: number, to?: number): Promise<StoredEvent[]>;
  list(filter: {
    readonly workspace?: string;
    readonly status?: SessionStatus;
    readonly wakeBefore?: number;
    readonly limit?: number;
  }): Promise<SessionRow[]>;
  /** Newest `updatedAt` first. Posting the same message id again changes nothing. Returns the row's dense number (from 1). */
  post(session: string, message: { readonly messageId: string; readonly body: string; readonly at: number }): Promise<number>;
  /** Untaken rows, in order of number. Cheap enough to poll. */
  inbox(session: string): Promise<InboxRow[]>;
  /** Takes (session, call, attempt) for `by`. False where it was taken before. */
  claim(session: string, callId: string, attempt: number, by: string): Promise<boolean>;
  /** Takes the named lock, or tells who holds it. A holder that `isAlive` denies is void. Taking one's own again succeeds. */
  lock(name: string, owner: Owner, isAlive: (owner: Owner) => boolean): Promise<{ held: true } | { held: false; holder: Owner }>;
  unlock(name: string, owner: Owner): Promise<void>;
  /** Who holds it, dead or alive; null for nobody. */
  holder(name: string): Promise<Owner | null>;
  takeOutbox(
    limit: number,
  ): Promise<{ readonly session: string; readonly messageId: string; readonly to: string; readonly body: string }[]>;
  settleOutbox(session: string, messageId: string): Promise<void>;
  /** One transaction. Every snapshot but the newest goes too: an older one may hold what is erased. Again, it changes nothing. */
  erase(session: string, erasure: Erasure): Promise<void>;
  delete(session: string): Promise<void>;
  /** Blob ids that any session still refers to. */
  referencedBlobs(): Promise<Set<string>>;
  close(): Promise<void>;
}
