import type { Log } from "@holdfast/runtime";
import type { DatabaseSync } from "node:sqlite";
import { claimsIn } from "./claims.ts";
import { committer } from "./commit.ts";
import { isBusy, isFull, storeFailure } from "./failure.ts";
import { openStoreFile } from "./file.ts";
import type { SqliteLogOptions } from "./file.ts";
import { lineagesIn } from "./lineage.ts";
import { messagesIn } from "./messages.ts";
import { searchIn } from "./search.ts";
import { sessionsIn } from "./sessions.ts";
import { transactionsOn } from "./transaction.ts";
import { weighOn } from "./weigh.ts";

/**
 * Opens the log in this file; many processes may have it open at once. Throws `session_newer`, `session_corrupt`,
 * `store_full`, `store_failed`, as its methods do. After `store_full` or `store_failed` nothing of the commit is there,
 * and the log can be used on; if the process dies instead, load the session: the commit may have reached the disk.
 */
export function openSqliteLog(options: string | SqliteLogOptions): Log {
  const { db, path } = openStoreFile(typeof options === "string" ? { path: options } : options);
  return logOn(db, path);
}

/** The methods are asynchronous by contract alone: each is done when it returns. */
export function logOn(db: DatabaseSync, path: string): Log {
  const transactions = transactionsOn(db, path);
  const lineages = lineagesIn(db);
  const commit = committer(db, transactions, lineages);
  const sessions = sessionsIn(db, transactions, lineages);
  const messages = messagesIn(db, transactions, sessions);
  const claims = claimsIn(db, transactions, sessions);

  const search = searchIn(db, transactions, lineages, sessions);

  return {
    commit: async (change) => commit(change),
    load: async (session) => sessions.load(session),
    snapshot: async (session, seq) => sessions.snapshot(session, seq),
    read: async (session, from, to) => sessions.events(session, from, to ?? Number.MAX_SAFE_INTEGER),
    list: async (filter) => sessions.list(filter),
    post: async (session, message, after) => messages.post(session, message, after),
    posted: async (session) => messages.posted(session),
    inbox: async (session) => messages.inbox(session),
    claim: async (session, callId, attempt, by) => claims.claim(session, callId, attempt, by),
    claimedBy: async (session, callId, attempt) => claims.claimedBy(session, callId, attempt),
    lock: async (name, owner, isAlive) => claims.lock(name, owner, isAlive),
    unlock: async (name, owner) => claims.unlock(name, owner),
    holder: async (name) => claims.holder(name),
    takeOutbox: async (limit, session) => messages.takeOutbox(limit, session),
    settleOutbox: async (session, messageId) => messages.settleOutbox(session, messageId),
    sharers: async (session, seqs) => sessions.sharers(session, seqs),
    erase: async (session, erasure) => {
      const isDone = sessions.erase(session, erasure);
      forgetOldPages(db, path);
      return isDone;
    },
    search,
    weigh: async (going) => weighOn(db, transactions, going),
    delete: async (session, restsAt) => {
      const gone = sessions.delete(session, restsAt);
      giveBackSpace(db, path);
      forgetOldPages(db, path);
      return gone;
    },
    referencedBlobs: async () => sessions.referencedBlobs(),
    close: async () => {
      if (db.isOpen) db.close();
    },
  };
}

/** What deleted rows leave free inside the file. Left for the next deletion where others write or the disk is full. */
function giveBackSpace(db: DatabaseSync, path: string): void {
  try {
    db.exec("PRAGMA incremental_vacuum");
  } catch (error) {
    if (!isBusy(error) && !isFull(error)) throw storeFailure(error, path);
  }
}

/**
 * The write-ahead log still holds the pages as they were before an erasure: it is emptied. Where another process reads
 * or writes for so long that this can't be done now, a later checkpoint does it; the erasure itself stands.
 */
function forgetOldPages(db: DatabaseSync, path: string): void {
  try {
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    throw storeFailure(error, path);
  }
}
