import type { DatabaseSync } from "node:sqlite";
import { belongsTo } from "../lock-name.ts";
import { sessionTables } from "./schema.ts";

/** Deleting a session by its number, within a transaction. Returns the names of those of which nothing is left. */
export function deleterOn(db: DatabaseSync): (id: number) => string[] {
  const emptyTables = sessionTables.map((table) => ({ table, statement: db.prepare(`DELETE FROM ${table} WHERE session = ?`) }));
  const findNeeded = db.prepare("SELECT max(parent_seq) AS seq FROM sessions WHERE parent = ?");
  const findSession = db.prepare("SELECT session, parent, is_deleted AS isDeleted FROM sessions WHERE id = ?");
  const dropSession = db.prepare("DELETE FROM sessions WHERE id = ?");
  const hideSession = db.prepare(
    "UPDATE sessions SET is_deleted = 1, workspace = NULL, title = '', status = 'idle', wake_at = NULL WHERE id = ?",
  );
  const trimEvents = db.prepare("DELETE FROM events WHERE session = ? AND seq > ?");
  const trimSnapshots = db.prepare("DELETE FROM snapshots WHERE session = ? AND seq > ?");
  const findLocks = db.prepare("SELECT name FROM locks");
  const dropLock = db.prepare("DELETE FROM locks WHERE name = ?");

  const remove = (id: number): string[] => {
    const row = findSession.get(id);
    if (row === undefined) return [];
    const needed = findNeeded.get(id)?.["seq"] as number | null;
    for (const { table, statement } of emptyTables) {
      if (needed === null || (table !== "events" && table !== "snapshots")) statement.run(id);
    }
    const session = String(row["session"]);
    for (const lock of findLocks.all()) if (belongsTo(String(lock["name"]), session)) dropLock.run(String(lock["name"]));
    if (needed !== null) {
      trimEvents.run(id, needed);
      trimSnapshots.run(id, needed);
      hideSession.run(id);
      return [];
    }
    dropSession.run(id);
    const parent = row["parent"] as number | null;
    // What it shared may have been kept for it alone.
    return [session, ...(parent !== null && findSession.get(parent)?.["isDeleted"] === 1 ? remove(parent) : [])];
  };
  return remove;
}
