import type { StoredEvent } from "@holdfast/protocol";
import type { Erasure, Log, RegisterRow, SessionRow, StoredState } from "@holdfast/runtime";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { sessionNotFound } from "../commit-shape.ts";
import { belongsTo } from "../lock-name.ts";
import { sessionTables } from "./schema.ts";
import type { Transactions } from "./transaction.ts";

const rowColumns = `session, workspace, title, status, wake_at AS wakeAt, created_at AS createdAt, updated_at AS updatedAt, seq`;

/** Reading, erasing and deleting of sessions. */
export function sessionsIn(db: DatabaseSync, transactions: Transactions) {
  const findId = db.prepare("SELECT id FROM sessions WHERE session = ?");
  const findRow = db.prepare(`SELECT ${rowColumns} FROM sessions WHERE session = ?`);
  const findHead = db.prepare("SELECT head FROM heads WHERE session = ?");
  const findRegisters = db.prepare("SELECT kind, key, value FROM registers WHERE session = ?");
  const findEvents = db.prepare(`
    SELECT s.session, e.seq, type, version, at, prev, digest, hash, salt, payload
    FROM sessions s JOIN events e ON e.session = s.id
    WHERE s.session = ? AND e.seq BETWEEN ? AND ? ORDER BY e.seq`);
  const findSnapshot = db.prepare(`
    SELECT p.seq, p.head, p.registers FROM sessions s JOIN snapshots p ON p.session = s.id
    WHERE s.session = ? AND p.seq <= ? ORDER BY p.seq DESC LIMIT 1`);
  const eraseEvent = db.prepare("UPDATE events SET payload = NULL, salt = NULL WHERE session = ? AND seq = ?");
  const dropBlobRef = db.prepare("DELETE FROM blob_refs WHERE session = ? AND blob = ?");
  const dropOldSnapshots = db.prepare(
    "DELETE FROM snapshots WHERE session = ?1 AND seq < (SELECT max(seq) FROM snapshots WHERE session = ?1)",
  );
  const putTitle = db.prepare("UPDATE sessions SET title = ? WHERE id = ?");
  const findBlobs = db.prepare("SELECT DISTINCT blob FROM blob_refs");
  const lists = new Map<string, StatementSync>();

  const idOf = (session: string): number | null => {
    const row = findId.get(session);
    return row === undefined ? null : Number(row["id"]);
  };

  return {
    /** Throws `session_not_found`. */
    requireId(session: string): number {
      const id = idOf(session);
      if (id === null) throw sessionNotFound(session);
      return id;
    },

    load(session: string): StoredState | null {
      return transactions.read(() => {
        const id = idOf(session);
        const row = findRow.get(session);
        if (id === null || row === undefined) return null;
        return {
          row: row as unknown as SessionRow,
          head: String(findHead.get(id)?.["head"]),
          registers: findRegisters.all(id) as unknown as RegisterRow[],
        };
      });
    },

    events(session: string, from: number, to: number): StoredEvent[] {
      return transactions.read(() => findEvents.all(session, from, to) as unknown as StoredEvent[]);
    },

    snapshot(session: string, seq: number): Awaited<ReturnType<Log["snapshot"]>> {
      const row = transactions.read(() => findSnapshot.get(session, seq));
      if (row === undefined) return null;
      const rows = JSON.parse(String(row["registers"])) as [string, string, string][];
      return { seq: Number(row["seq"]), head: String(row["head"]), registers: rows.map(([kind, key, value]) => ({ kind, key, value })) };
    },

    list(filter: Parameters<Log["list"]>[0]): SessionRow[] {
      const conditions: string[] = [];
      const values: (string | number)[] = [];
      const where = (condition: string, value: string | number | undefined) => {
        if (value === undefined) return;
        conditions.push(condition);
        values.push(value);
      };
      where("workspace = ?", filter.workspace);
      where("status = ?", filter.status);
      where("wake_at <= ?", filter.wakeBefore);
      const sql = `SELECT ${rowColumns} FROM sessions WHERE ${["TRUE", ...conditions].join(" AND ")} ORDER BY updated_at DESC, id DESC LIMIT ?`;
      return transactions.read(() => {
        const statement = lists.get(sql) ?? db.prepare(sql);
        lists.set(sql, statement);
        return statement.all(...values, filter.limit ?? -1) as unknown as SessionRow[];
      });
    },

    erase(session: string, { seqs, blobs, title }: Erasure): void {
      transactions.write(() => {
        const id = this.requireId(session);
        for (const seq of seqs) eraseEvent.run(id, seq);
        for (const blob of blobs) dropBlobRef.run(id, blob);
        dropOldSnapshots.run(id);
        if (title !== null) putTitle.run(title, id);
      });
    },

    delete(session: string): void {
      transactions.write(() => {
        const id = idOf(session);
        if (id === null) return;
        for (const table of sessionTables) db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(id);
        db.prepare("DELETE FROM sessions WHERE id = ?").run(id);
        const names = db
          .prepare("SELECT name FROM locks")
          .all()
          .map((row) => String(row["name"]));
        for (const name of names) {
          if (belongsTo(name, session)) db.prepare("DELETE FROM locks WHERE name = ?").run(name);
        }
      });
    },

    referencedBlobs(): Set<string> {
      return transactions.read(() => new Set(findBlobs.all().map((row) => String(row["blob"]))));
    },
  };
}

export type Sessions = ReturnType<typeof sessionsIn>;
