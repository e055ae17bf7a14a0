import { HoldfastError } from "@holdfast/protocol/error";
import { cutHead, deriveState, emptyHead, type Head } from "@holdfast/runtime";
import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncFolder } from "../durable-files.ts";
import { readRows } from "./copy-readable.ts";
import { isBusy, isRefused } from "./failure.ts";
import { openStoreFile } from "./file.ts";
import { logOn } from "./log.ts";
import { unreadableMessages, type UnreadableMessage } from "./unsound.ts";

export interface Salvage {
  /** The damaged file, under its new name. */
  readonly aside: string;
  /** Sessions that are whole and can go on. */
  readonly whole: readonly string[];
  /** Of these only the first events are there: they can be read and forked, and nobody can go on with them. */
  readonly partial: readonly { readonly session: string; readonly events: number; readonly of: number }[];
  /** Messages that waited and can't be read: they stay in the damaged file alone. */
  readonly setAside: readonly UnreadableMessage[];
  /** Tables in which something could not be read. */
  readonly damaged: readonly string[];
}

/** Everything but locks: those of the living can't be, since nobody has the file open. */
const tables = [
  ["sessions", true],
  ["heads", true],
  ["events", true],
  ["registers", true],
  ["inbox", true],
  ["outbox", true],
  ["claims", false],
  ["blob_refs", false],
  ["snapshots", true],
] as const;

/**
 * Saves what can be read of a damaged store into a new one that takes its place; the damaged file is kept beside it.
 * Killed on the way, the damaged file is where it was. Throws `store_failed` where another process has the store open.
 */
export async function salvageStore(path: string, stamp: string): Promise<Salvage> {
  const fresh = `${path}.salvaged`;
  for (const suffix of suffixes) rmSync(`${fresh}${suffix}`, { force: true });
  const old = openAlone(path);
  try {
    const { db } = openStoreFile({ path: fresh });
    const found = await fill(db, old, fresh);
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    db.close();
    const aside = `${path}.damaged-${stamp}`;
    // Closing brings what its write-ahead log holds into the damaged file, or leaves that log: then it goes along, first, as the
    // new file must never be read with it. Who opens the store just now finds it replaced, and commits nothing.
    old?.close();
    for (const suffix of ["-wal", "-shm", ""]) if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${aside}${suffix}`);
    renameSync(fresh, path);
    syncFolder(dirname(path));
    return { aside, ...found };
  } finally {
    for (const suffix of suffixes) rmSync(`${fresh}${suffix}`, { force: true });
    if (old?.isOpen === true) old.close();
  }
}

const suffixes = ["", "-wal", "-shm"] as const;

/** Null where SQLite knows no database in it: then nothing of it can be read. */
function openAlone(path: string): DatabaseSync | null {
  const db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false, defensive: false });
  try {
    // With it SQLite reads a file that was cut off as far as it goes. Nothing is written through this connection.
    db.exec("PRAGMA writable_schema = ON");
    // Whoever has the store open holds a lock on it, also while idle.
    db.exec("PRAGMA locking_mode = EXCLUSIVE");
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return db;
  } catch (error) {
    if (isBusy(error)) {
      db.close();
      throw new HoldfastError("store_failed", `another process has the session store open: ${path}`, {
        hint: "end every holdfast that uses it, then try again",
        cause: error,
      });
    }
    try {
      db.prepare("SELECT count(*) FROM sqlite_schema").get();
      return db;
    } catch {
      db.close();
      return null;
    }
  }
}

async function fill(db: DatabaseSync, old: DatabaseSync | null, path: string): Promise<Omit<Salvage, "aside">> {
  const damaged = tables.flatMap(([table, hasRowid]) => (old !== null && copy(db, old, table, hasRowid) ? [] : [table]));
  // They only save reading the events before them.
  db.exec("DELETE FROM snapshots WHERE NOT (json_valid(head) AND json_valid(registers))");
  const log = logOn(db, path);
  const setAside = unreadableMessages(db);
  for (const { session, number } of setAside) takeOut(db, session, number);
  const whole: string[] = [];
  const partial: { session: string; events: number; of: number }[] = [];
  for (const { session, seq } of await log.list({})) {
    const derived = await deriveState(log, session);
    const stored = await log.load(session);
    const told = readable<Head>(stored?.head ?? "null");
    // The head says where the log ends. Where it is lost, the row does.
    const isWhole = told === null ? derived.seq === seq : derived.seq === told.seq && derived.hash === told.hash;
    if (isWhole && derived.state !== null) {
      put(db, session, derived.seq, derived.state.head, derived.state.registers);
      whole.push(session);
      continue;
    }
    // Nobody can go on from what may have lost a part.
    const head = cutHead(readable<Head>(derived.state?.head ?? "null") ?? emptyHead, derived, told?.seq ?? seq);
    const registers = derived.state?.registers ?? (stored?.registers ?? []).filter(({ value }) => readable(value ?? "null") !== null);
    put(db, session, head.seq, JSON.stringify(head), registers);
    cutAfter(db, session, derived.seq);
    partial.push({ session, events: derived.seq, of: isWhole ? derived.seq : Math.max(derived.seq, told?.seq ?? seq) });
  }
  if (damaged.includes("events")) inOrder(db);
  return { whole, partial, setAside, damaged };
}

/** Events that were read from the back are numbered the other way round: the times tell which session changed last. */
function inOrder(db: DatabaseSync): void {
  const renumber = db.prepare(`
    UPDATE events SET rowid = (SELECT max(rowid) + 1 FROM events)
    WHERE session = ?1 AND seq = (SELECT max(seq) FROM events WHERE session = ?1)`);
  db.exec("BEGIN IMMEDIATE");
  for (const { id } of db.prepare("SELECT id FROM sessions ORDER BY updated_at, id").all()) renumber.run(id ?? null);
  db.exec("COMMIT");
}

/** Null where it is no JSON. */
function readable<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

/** False where something of the table is lost. */
function copy(db: DatabaseSync, old: DatabaseSync, table: string, hasRowid: boolean): boolean {
  const columnsOf = (one: DatabaseSync): string[] =>
    one
      .prepare(`PRAGMA table_info(${table})`)
      .all()
      .map(({ name }) => String(name));
  const there = new Set(columnsOf(old));
  const columns = columnsOf(db).filter((column) => there.has(column));
  if (columns.length === 0) return false;
  const names = columns.map((column) => `"${column}"`).join(", ");
  const insert = db.prepare(`INSERT OR IGNORE INTO ${table} (${names}) VALUES (${columns.map(() => "?").join(", ")})`);
  db.exec("BEGIN IMMEDIATE");
  let isComplete = true;
  const isWhole = readRows(old, table, columns, hasRowid, (row) => {
    try {
      insert.run(...columns.map((column) => row[column] ?? null));
    } catch (error) {
      // A value that the column can't have was damaged.
      if (!isRefused(error)) throw error;
      isComplete = false;
    }
  });
  db.exec("COMMIT");
  return isComplete && isWhole;
}

function put(
  db: DatabaseSync,
  session: string,
  seq: number,
  head: string,
  registers: readonly { kind: string; key: string; value: string | null }[],
): void {
  const id = Number(db.prepare("SELECT id FROM sessions WHERE session = ?").get(session)?.["id"]);
  db.exec("BEGIN IMMEDIATE");
  db.prepare("UPDATE sessions SET seq = ? WHERE id = ?").run(seq, id);
  db.prepare("INSERT OR REPLACE INTO heads (session, head) VALUES (?, ?)").run(id, head);
  db.prepare("DELETE FROM registers WHERE session = ?").run(id);
  const insert = db.prepare("INSERT INTO registers (session, kind, key, value) VALUES (?, ?, ?, ?)");
  for (const { kind, key, value } of registers) insert.run(id, kind, key, value);
  db.exec("COMMIT");
}

/** Its number stays, so that the same message isn't taken twice. */
function takeOut(db: DatabaseSync, session: string, number: number): void {
  db.prepare("UPDATE inbox SET body = NULL WHERE session = (SELECT id FROM sessions WHERE session = ?) AND number = ?").run(
    session,
    number,
  );
}

/** Only its own events go: what it shares is another session's, of which it shares no more than holds together. */
function cutAfter(db: DatabaseSync, session: string, seq: number): void {
  db.prepare("UPDATE sessions SET parent_seq = min(parent_seq, ?) WHERE session = ?").run(seq, session);
  for (const table of ["events", "snapshots"]) {
    db.prepare(`DELETE FROM ${table} WHERE session = (SELECT id FROM sessions WHERE session = ?) AND seq > ?`).run(session, seq);
  }
}
