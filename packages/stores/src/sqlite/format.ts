import { HoldfastError } from "@holdfast/protocol";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { applicationId, migrations } from "./schema.ts";

/** Offsets in a database's first page, https://www.sqlite.org/fileformat2.html#the_database_header. */
const header = { length: 100, userVersion: 60, applicationId: 68 } as const;

/**
 * Looks before anything is opened for writing, since even opening and closing can change a file. Throws `session_newer`
 * for a later format and `store_failed` for somebody else's database.
 */
export function checkFormat(path: string, busyTimeoutMs: number): void {
  const bytes = readStart(path, header.length);
  if (bytes.length === 0) return;
  if (bytes.length === header.length) {
    const application = bytes.readUInt32BE(header.applicationId);
    if (application === applicationId) refuseNewer(path, bytes.readUInt32BE(header.userVersion), migrations.length);
    // The newest first page can still stand in the write-ahead log of a process that lives or was killed.
    if (application === applicationId && sizeOf(`${path}-wal`) === 0) return;
  }
  const reader = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  try {
    const isOurs = pragma(reader, "application_id") === applicationId;
    if (!isOurs && !isEmpty(reader)) {
      throw new HoldfastError("store_failed", `${path} is a database of another program`, { hint: "name another file for the sessions" });
    }
    refuseNewer(path, pragma(reader, "user_version"), migrations.length);
  } finally {
    reader.close();
  }
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
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function pragma(db: DatabaseSync, name: "user_version" | "application_id"): number {
  return Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
}

function readStart(path: string, length: number): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
