import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { makeFolder, syncFolder, systemCode } from "../durable-files.ts";
import { isBusy, isOnReadOnly, storeFailure } from "./failure.ts";
import { checkFormat, formatOf, migrate, unchanging } from "./format.ts";
import { migrations } from "./schema.ts";

/**
 * What a commit that was acknowledged survives.
 * - `full`: the death of the process, of the machine, and loss of power, as far as the disk keeps its word on a flush.
 * - `normal`: the death of the process. After loss of power the newest commits may be missing, but only whole ones and
 *   only from the end, and none up to the last intent or claim of an effect that must not be repeated.
 */
export type Durability = "full" | "normal";

export interface SqliteLogOptions {
  /** The database file; its folder is made where it is missing. On a local disk: WAL doesn't work over a network. */
  readonly path: string;
  /** Default `full`. */
  readonly durability?: Durability;
  /** How long an operation waits (without giving way) for another process's transaction. Default 5,000 ms. */
  readonly busyTimeoutMs?: number;
}

const defaultBusyTimeoutMs = 5000;

/**
 * Opens or makes the file, private to its user, in the current format. Throws `session_newer` (the file is untouched),
 * `session_corrupt`, `store_full`, `store_failed`.
 */
export function openStoreFile(options: SqliteLogOptions): { readonly db: DatabaseSync; readonly path: string } {
  const path = resolve(options.path);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true && isOnReadOnly(path)) return openToRead(path, options);
  try {
    return openFile(path, options, false);
  } catch (error) {
    if (!isHoldfastError(error, "store_full") || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) throw error;
    try {
      return openFile(path, options, true);
    } catch {
      throw error;
    }
  }
}

/**
 * On a file system where nothing can be written, every read is as elsewhere. While somebody writes to the same file through
 * another mount, there is a write-ahead log with its index, and SQLite reads those; without a log the file is all there is.
 */
function openToRead(path: string, options: SqliteLogOptions): { readonly db: DatabaseSync; readonly path: string } {
  const timeout = options.busyTimeoutMs ?? defaultBusyTimeoutMs;
  let db: DatabaseSync | null = null;
  try {
    const isAlone = hasNoLog(path);
    checkFormat(path, timeout, isAlone);
    db = new DatabaseSync(isAlone ? unchanging(path) : path, { readOnly: true, timeout, enableForeignKeyConstraints: false });
    db.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF");
    if (formatOf(db) < migrations.length) throw olderToRead(path);
    return { db, path };
  } catch (error) {
    db?.close();
    throw storeFailure(error, path);
  }
}

function olderToRead(path: string): HoldfastError {
  return new HoldfastError("store_failed", `${path} has an older format, and is on a read-only file system`, {
    hint: "copy HOLDFAST_HOME to a place that can be written: there it is brought to the current format",
  });
}

/** Whether all that was committed stands in the file itself, and nobody has it open. */
export function hasNoLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/**
 * Alone, SQLite keeps the index of the write-ahead log in memory, not in a file for which a full disk has no room: sessions
 * can be read and deleted there, too. Others wait until this connection is closed.
 */
function openFile(path: string, options: SqliteLogOptions, isAlone: boolean): { readonly db: DatabaseSync; readonly path: string } {
  let db: DatabaseSync | null = null;
  try {
    makePrivate(path);
    const timeout = options.busyTimeoutMs ?? defaultBusyTimeoutMs;
    checkFormat(path, timeout, isAlone);
    db = new DatabaseSync(path, { timeout, enableForeignKeyConstraints: false });
    if (isAlone) db.exec("PRAGMA locking_mode = EXCLUSIVE");
    configure(db, options.durability ?? "full", timeout);
    migrate(db, path, migrations);
    return { db, path };
  } catch (error) {
    db?.close();
    throw storeFailure(error, path);
  }
}

/** SQLite gives its `-wal` and `-shm` files the permissions of the database. */
function makePrivate(path: string): void {
  const folder = dirname(path);
  makeFolder(folder);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined) {
    if (found.isFile() && (found.mode & 0o077) !== 0) chmodSync(path, 0o600);
    return;
  }
  try {
    closeSync(openSync(path, "wx", 0o600));
    syncFolder(folder);
  } catch (error) {
    // Another process has just made it.
    if (systemCode(error) !== "EEXIST") throw error;
  }
}

function configure(db: DatabaseSync, durability: Durability, timeoutMs: number): void {
  // Counts only before the file's first page is written: the space of a deleted session can be given back. Later it would
  // write all the same, which a full disk refuses, where sessions can still be read.
  if (Number(db.prepare("PRAGMA page_count").get()?.["page_count"]) === 0) db.exec("PRAGMA auto_vacuum = INCREMENTAL");
  useWriteAheadLog(db, timeoutMs);
  db.exec(`
    PRAGMA synchronous = ${durability};
    -- Without it a flush on macOS stops at the disk's own cache. Elsewhere it means nothing.
    PRAGMA fullfsync = ON;
    -- What is erased, deleted or overwritten is overwritten with zeros.
    PRAGMA secure_delete = ON;
    PRAGMA cell_size_check = ON;
    PRAGMA trusted_schema = OFF;
    -- After a burst the write-ahead log shrinks to this many bytes again.
    PRAGMA journal_size_limit = 8388608;
  `);
}

/** The change to WAL doesn't wait for other connections that are just opening the same new file, so we do. */
function useWriteAheadLog(db: DatabaseSync, timeoutMs: number): void {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
