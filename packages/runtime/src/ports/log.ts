import type { StoredEvent } from "@holdfast/protocol";

/** A living (or dead) process that drives a session or owns a lock. A pid alone can be reused; with the next two it can't. */
export interface Owner {
  readonly pid: number;
  readonly startTime: string;
  readonly bootId: string;
  /** What shows that it lives where its number says nothing, as in another container. Absent where there is nothing like it. */
  readonly life?: string;
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
  /** The session it was forked from, which may be deleted meanwhile; null for none. */
  readonly parent: string | null;
  /** The last event it shares with that one. */
  readonly parentSeq: number | null;
}

export interface RegisterRow {
  readonly kind: string;
  readonly key: string;
  /** JSON text; null deletes. */
  readonly value: string | null;
}

/**
 * Where a fork begins: after event `seq` of `session`, whose log ended at `tip` when the fork was made of it. If it has gone
 * on since, it may have erased what the fork would share, so the commit is refused.
 */
export interface ForkPoint {
  readonly session: string;
  readonly seq: number;
  readonly tip: number;
}

/**
 * One atomic change of a session: all or nothing, and only if the log still ends at `expectedSeq` (of a new session 0, of a
 * fork the last event it shares).
 */
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
  /**
   * It has to survive a loss of power with all commits before it, also in a store that else takes its time: it holds a turn's
   * outcome, or the intent of an effect that must not simply be run again and follows at once.
   */
  readonly isBinding?: boolean;
  readonly status: SessionStatus;
  readonly wakeAt: number | null;
  readonly at: number;
  /** Given where the session gets another title. */
  readonly title?: string;
  /** Given with the first commit of a session. */
  readonly created?: { readonly workspace: string | null; readonly title: string; readonly fork?: ForkPoint };
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

/** An erasure, with the other sessions that share one of the events and have recorded the erasure themselves. */
export interface SharedErasure extends Erasure {
  readonly sharers: readonly string[];
}

/** What a session takes in the store, and the blobs to which it alone refers. */
export interface Weight {
  readonly session: string;
  readonly bytes: number;
  readonly blobs: readonly string[];
  /** False where a part of it stays, for sessions that share it. */
  readonly isWhole: boolean;
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
  /**
   * Throws `stale_driver` when the log no longer ends at `expectedSeq`, or a fork's parent at its `tip`;
   * `store_full`/`store_failed` when it can't be saved.
   */
  commit(commit: Commit): Promise<void>;
  /** Null where there is no such session. Throws `session_newer` for a format from a later version. */
  load(session: string): Promise<StoredState | null>;
  /** The latest snapshot at or before `seq`: head and registers as they were after event `snapshot.seq`. Null: none yet. */
  snapshot(
    session: string,
    seq: number,
  ): Promise<{ readonly seq: number; readonly head: string; readonly registers: readonly RegisterRow[] } | null>;
  /** Events with `from <= seq <= to`, in order; of a fork also those it shares, under the name of the session that wrote them. */
  read(session: string, from: number, to?: number): Promise<StoredEvent[]>;
  /** The one that changed last first: in the order of the commits, whatever the clock said at each. */
  list(filter: {
    readonly workspaces?: readonly string[];
    readonly status?: SessionStatus;
    readonly wakeBefore?: number;
    readonly limit?: number;
  }): Promise<SessionRow[]>;
  /**
   * The session wants to be woken for it (`wakeAt`) until its next commit. Posting the same message id again changes nothing.
   * Returns the row's dense number (from 1). With `after`, only where `posted` is still that: null otherwise, and nothing is
   * done.
   */
  post(
    session: string,
    message: { readonly messageId: string; readonly body: string; readonly at: number },
    after?: number,
  ): Promise<number | null>;
  /** The number of the newest row, also of one that was taken; 0 where there is none. */
  posted(session: string): Promise<number>;
  /** Untaken rows, in order of number. Cheap enough to poll. */
  inbox(session: string): Promise<InboxRow[]>;
  /** Takes (session, call, attempt) for `by`, durably as a binding commit. False where it was taken before. */
  claim(session: string, callId: string, attempt: number, by: string): Promise<boolean>;
  /** In whose name an attempt was taken; null where it was not. */
  claimedBy(session: string, callId: string, attempt: number): Promise<string | null>;
  /** Takes the named lock, or tells who holds it. A holder that `isAlive` denies is void. Taking one's own again succeeds. */
  lock(name: string, owner: Owner, isAlive: (owner: Owner) => boolean): Promise<{ held: true } | { held: false; holder: Owner }>;
  unlock(name: string, owner: Owner): Promise<void>;
  /** Who holds it, dead or alive; null for nobody. */
  holder(name: string): Promise<Owner | null>;
  /** Rows that nobody has settled yet, oldest first: of one session, or of all. */
  takeOutbox(
    limit: number,
    session?: string,
  ): Promise<{ readonly session: string; readonly messageId: string; readonly to: string; readonly body: string }[]>;
  /** The message has reached its receiver. Again, it changes nothing. */
  settleOutbox(session: string, messageId: string): Promise<void>;
  /** The other sessions that share one of these events. */
  sharers(session: string, seqs: readonly number[]): Promise<string[]>;
  /**
   * One transaction. Every snapshot but the newest goes too: an older one may hold what is erased. Again, it changes nothing.
   * False, and nothing is done, where another session shares an event and isn't named.
   */
  erase(session: string, erasure: SharedErasure): Promise<boolean>;
  /**
   * Sessions whose title or one of whose readable events has all of these pieces of text, in the order of `list`. A
   * piece is printable ASCII without quotes and backslashes, found in either case. May also name sessions that have them
   * spread over several events; never misses one.
   */
  search(pieces: readonly string[], workspaces?: readonly string[]): AsyncIterable<SessionRow>;
  /** What would be free if these sessions were deleted together: what other sessions share or refer to is not counted. */
  weigh(sessions: readonly string[]): Promise<Weight[]>;
  /**
   * What living forks share stays, though nobody can load it any more, until the last of them is deleted. Returns the
   * sessions of which nothing is left: this one, or none, or also deleted ones that it was forked from. With `restsAt`
   * throws `stale_driver`, and does nothing, where the log doesn't end there, a turn is open, or something is in the inbox.
   */
  delete(session: string, restsAt?: number): Promise<string[]>;
  /** Blob ids that any session still refers to. */
  referencedBlobs(): Promise<Set<string>>;
  close(): Promise<void>;
}
