import { HoldfastError } from "@holdfast/protocol/error";
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { storeFailure } from "./failure.ts";

/** Values of `PRAGMA synchronous`, https://www.sqlite.org/pragma.html#pragma_synchronous. */
const levels = { normal: 1, full: 2 } as const;
type Level = (typeof levels)[keyof typeof levels];

export interface Transactions {
  /** Takes the write lock first, so that nothing it reads can change before it writes. */
  write<T>(body: () => T): T;
  /** The same without waiting for the disk: survives the end of the process, not a power loss. */
  writeUnsynced<T>(body: () => T): T;
  /** The same waiting for the disk, whatever the durability: survives a power loss, with all that was written before. */
  writeSynced<T>(body: () => T): T;
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
  const opened = statSync(path);
  const level = Number(db.prepare("PRAGMA synchronous").get()?.["synchronous"]);

  /** SQLite goes on writing to a file that was deleted or replaced, and nobody would ever read it again. */
  const requireFile = (): void => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.ino === opened.ino && found.dev === opened.dev) return;
    throw new HoldfastError(
      "store_failed",
      `the session store was ${found === undefined ? "deleted" : "replaced"} while it was in use: ${path}`,
      {
        hint: "put the file back, or start the session anew",
      },
    );
  };
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
  const at = <T>(other: Level, work: () => T): T => {
    if (other === level) return work();
    db.exec(`PRAGMA synchronous = ${other}`);
    try {
      return work();
    } finally {
      db.exec(`PRAGMA synchronous = ${level}`);
    }
  };
  const write = <T>(body: () => T): T =>
    run(beginWrite, () => {
      requireFile();
      return body();
    });
  return {
    write,
    writeUnsynced: (body) => at(levels.normal, () => run(beginWrite, body)),
    writeSynced: (body) => at(levels.full, () => write(body)),
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
