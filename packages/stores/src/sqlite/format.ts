import { HoldfastError } from "@holdfast/protocol/error";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { needsRollback } from "./failure.ts";
import { applicationId, migrations } from "./schema.ts";
import { rollBack } from "./transaction.ts";

/**
 * Looks through a connection that can't write, since opening for writing and closing can change a file. (Not through a
 * file descriptor of our own: closing that would drop the locks of every connection this process has on the file.)
 * Throws `session_newer` for a later format, `session_corrupt` for a file that was cut off, `store_failed` for another
 * program's database. `isAlone`: nothing is made beside the file, and what a write-ahead log holds isn't seen.
 */
export function checkFormat(path: string, busyTimeoutMs: number, isAlone = false): void {
  try {
    look(path, busyTimeoutMs, isAlone);
  } catch (error) {
    // With a write-ahead log there is nothing to take back: its maker died before the file had one.
    if (!needsRollback(error)) throw error;
    takeBack(path, busyTimeoutMs);
    look(path, busyTimeoutMs);
  }
}

/** Reading is enough: SQLite takes back first what was never committed. */
function takeBack(path: string, busyTimeoutMs: number): void {
  const writer = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    pragma(writer, "user_version");
  } finally {
    writer.close();
  }
}

function look(path: string, busyTimeoutMs: number, isAlone = false): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) {
    const what = found.isDirectory() ? "is a folder" : "is no file";
    throw new HoldfastError("store_failed", `${path} ${what}: the session store can't be there`, { hint: "move it away" });
  }
  if (sizeOf(path) === 0) return;
  const reader = new DatabaseSync(isAlone ? unchanging(path) : path, { readOnly: true, timeout: busyTimeoutMs });
  try {
    // Before the first read, which can make an empty write-ahead log, and after which another process can fill it.
    const isSettled = sizeOf(`${path}-wal`) === 0;
    if (pragma(reader, "application_id") !== applicationId && !isEmpty(reader)) {
      throw new HoldfastError("store_failed", `${path} is a database of another program`, { hint: "name another file for the sessions" });
    }
    refuseNewer(path, pragma(reader, "user_version"), migrations.length);
    if (isSettled) refuseCutOff(path, pragma(reader, "page_size"));
  } finally {
    reader.close();
  }
}

/** The file as SQLite reads it without a lock, and with nothing beside it: no log, no index (https://sqlite.org/uri.html). */
export function unchanging(path: string): URL {
  return new URL("?immutable=1", pathToFileURL(path));
}

/** SQLite looks for missing pages, but takes what is missing of the last page for zeros. */
function refuseCutOff(path: string, pageSize: number): void {
  if (sizeOf(path) % pageSize === 0) return;
  throw new HoldfastError("session_corrupt", `${path} was cut off within a page`, {
    hint: "holdfast doctor --repair saves what can be read, and keeps the damaged file",
  });
}

/** A file that a process killed while making it left behind has no tables yet. */
function isEmpty(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

function refuseNewer(path: string, format: number, known: number): void {
  if (format <= known) return;
  throw new HoldfastError("session_newer", `${path} has format ${format}; this version knows formats up to ${known}`, {
    hint: "use the newer Holdfast that wrote it; the file was left as it is",
  });
}

/**
 * Brings the file to the format after the last of `steps`, all of it in one transaction: killed in between, it is as
 * before. Two processes may do this at once; the second finds it done.
 */
export function migrate(db: DatabaseSync, path: string, steps: readonly string[]): void {
  if (pragma(db, "user_version") === steps.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    const format = pragma(db, "user_version");
    refuseNewer(path, format, steps.length);
    for (const step of steps.slice(format)) db.exec(step);
    db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}; COMMIT`);
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

export function formatOf(db: DatabaseSync): number {
  return pragma(db, "user_version");
}

function pragma(db: DatabaseSync, name: "user_version" | "application_id" | "page_size"): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
