import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HoldfastError } from "@holdfast/protocol/error";
import type { EditClaim } from "@holdfast/runtime/ports/files";

/** SQLite's primary result codes (https://sqlite.org/rescode.html). */
const busy = 5;
const full = 13;

/** Claims of sessions that nobody can still be driving. */
const forgetAfterMs = 30 * 24 * 60 * 60 * 1000;

/**
 * The edit lock of one workspace: its write transaction is the lock, its table says which attempts may no longer act. The
 * operating system frees the lock of a process that dies, and keeps that of one that is merely frozen.
 */
export interface LockDatabase {
  readonly path: string;
  /** False where another process holds the lock. Throws `store_failed` or `store_full`. */
  tryBegin(): boolean;
  commit(): void;
  rollback(): void;
  /** Within the transaction. Takes the claim; false where it was taken or revoked, or a later attempt has begun. */
  take(claim: EditClaim): boolean;
  /** Within the transaction. Whether an earlier attempt of this call was taken or revoked. */
  isRepeated(claim: EditClaim): boolean;
  /** Within the transaction. Nobody can take this attempt, or one before it, any more. */
  revoke(claim: EditClaim): void;
  close(): void;
}

/** `name` is hashed: a real path, or another fixed word. The file is made at the first use. */
export function lockDatabase(lockDir: string, name: string): LockDatabase {
  const path = join(lockDir, `${createHash("sha256").update(name).digest("hex").slice(0, 32)}.sqlite`);
  let opened: DatabaseSync | null = null;

  function database(): DatabaseSync {
    if (opened !== null) return opened;
    mkdirSync(lockDir, { recursive: true, mode: 0o700 });
    const fresh = new DatabaseSync(path, { timeout: 0 });
    try {
      // With WAL and NORMAL a commit waits for no disk, and losing power never corrupts it (https://sqlite.org/wal.html).
      fresh.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      fresh.exec(`CREATE TABLE IF NOT EXISTS claims (
        session TEXT NOT NULL, call TEXT NOT NULL, attempt INTEGER NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (session, call, attempt)) WITHOUT ROWID`);
      fresh.prepare("DELETE FROM claims WHERE at < ?").run(Date.now() - forgetAfterMs);
    } catch (error) {
      fresh.close();
      throw error;
    }
    opened = fresh;
    return fresh;
  }

  /** What `work` returns, or `whenBusy` where another process is in the way. */
  function guarded<T>(work: () => T, whenBusy?: T): T {
    try {
      return work();
    } catch (error) {
      const code = (error as { errcode?: number }).errcode;
      if (code !== undefined && (code & 0xff) === busy && whenBusy !== undefined) return whenBusy;
      const isFull = code !== undefined && (code & 0xff) === full;
      throw new HoldfastError(
        isFull ? "store_full" : "store_failed",
        `The edit lock ${path} can't be used: ${(error as Error).message}. No file was changed under it.`,
        {
          hint: isFull
            ? "Free some disk space and try again."
            : "Check that the folder can be written, and delete the file if it is damaged.",
          cause: error,
        },
      );
    }
  }

  const insert = "INSERT OR IGNORE INTO claims (session, call, attempt, state, at) VALUES (?, ?, ?, ?, ?)";
  return {
    path,
    tryBegin: () =>
      guarded(() => {
        database().exec("BEGIN IMMEDIATE");
        return true;
      }, false),
    commit: () => guarded(() => database().exec("COMMIT")),
    rollback: () => guarded(() => database().exec("ROLLBACK")),
    take: ({ session, callId, attempt }) =>
      guarded(() => {
        const later = database().prepare("SELECT 1 FROM claims WHERE session = ? AND call = ? AND attempt > ?");
        if (later.get(session, callId, attempt) !== undefined) return false;
        return database().prepare(insert).run(session, callId, attempt, "taken", Date.now()).changes === 1;
      }),
    isRepeated: ({ session, callId, attempt }) =>
      guarded(() => {
        const earlier = database().prepare("SELECT 1 FROM claims WHERE session = ? AND call = ? AND attempt < ?");
        return earlier.get(session, callId, attempt) !== undefined;
      }),
    revoke: ({ session, callId, attempt }) =>
      guarded(() => {
        for (let each = 0; each <= attempt; each += 1) database().prepare(insert).run(session, callId, each, "revoked", Date.now());
      }),
    close: () => {
      opened?.close();
      opened = null;
    },
  };
}
