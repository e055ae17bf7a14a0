import type { DatabaseSync } from "node:sqlite";
import { storeFailure } from "./failure.ts";

export interface Transactions {
  /** Takes the write lock first, so that nothing it reads can change before it writes. */
  write<T>(body: () => T): T;
  /** The same without waiting for the disk: survives the end of the process, not a power loss. */
  writeUnsynced<T>(body: () => T): T;
  /** All reads of `body` see the same moment. */
  read<T>(body: () => T): T;
}

/**
 * Runs `body` as one transaction, wholly synchronous: no other work of this process can come between. Throws what
 * `body` threw, or `store_full`, `store_failed`, `session_corrupt`; nothing was changed then.
 */
export function transactionsOn(db: DatabaseSync, path: string): Transactions {
  const beginWrite = db.prepare("BEGIN IMMEDIATE");
  const beginRead = db.prepare("BEGIN");
  const commit = db.prepare("COMMIT");
  const level = Number(db.prepare("PRAGMA synchronous").get()?.["synchronous"]);

  const run = <T>(begin: { run(): unknown }, body: () => T): T => {
    try {
      begin.run();
      const result = body();
      commit.run();
      return result;
    } catch (error) {
      rollBack(db);
      throw storeFailure(error, path);
    }
  };
  return {
    write: (body) => run(beginWrite, body),
    writeUnsynced: (body) => {
      db.exec("PRAGMA synchronous = normal");
      try {
        return run(beginWrite, body);
      } finally {
        db.exec(`PRAGMA synchronous = ${level}`);
      }
    },
    read: (body) => run(beginRead, body),
  };
}

/** SQLite ends the transaction by itself after some errors (a full disk, a damaged file); then there is nothing to do. */
export function rollBack(db: DatabaseSync): void {
  if (!db.isOpen || !db.isTransaction) return;
  try {
    db.exec("ROLLBACK");
  } catch {
    // The first error says more. An unfinished transaction is never visible: the file recovers without it.
  }
}
