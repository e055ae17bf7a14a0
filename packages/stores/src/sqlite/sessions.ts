import type { StoredEvent } from "@holdfast/protocol";
import type { Log, RegisterRow, SessionRow, SharedErasure, StoredState } from "@holdfast/runtime";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { notAtRest, sessionNotFound } from "../commit-shape.ts";
import { deleterOn } from "./delete.ts";
import type { Lineages } from "./lineage.ts";
import type { Transactions } from "./transaction.ts";

const rowColumns = `session, workspace, title, status, wake_at AS wakeAt, created_at AS createdAt, updated_at AS updatedAt, seq,
  (SELECT p.session FROM sessions p WHERE p.id = s.parent) AS parent, parent_seq AS parentSeq`;

/** The number of a session's last event among those of all sessions: it only grows, whatever the clock is set to. */
const lastChange = "(SELECT e.rowid FROM events e WHERE e.session = s.id ORDER BY e.seq DESC LIMIT 1)";

/** Reading, erasing and deleting of sessions. */
export function sessionsIn(db: DatabaseSync, transactions: Transactions, { lineageOf, writerOf, sharersOf }: Lineages) {
  const findId = db.prepare("SELECT id FROM sessions WHERE session = ? AND is_deleted = 0");
  const findRow = db.prepare(`SELECT ${rowColumns} FROM sessions s WHERE session = ? AND is_deleted = 0`);
  const findHead = db.prepare("SELECT head FROM heads WHERE session = ?");
  const findRegisters = db.prepare("SELECT kind, key, value FROM registers WHERE session = ?");
  const findEvents = db.prepare(`
    SELECT ? AS session, seq, type, version, at, prev, digest, hash, salt, payload
    FROM events WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq`);
  const findSnapshot = db.prepare("SELECT seq, head, registers FROM snapshots WHERE session = ? AND seq <= ? ORDER BY seq DESC LIMIT 1");
  const eraseEvent = db.prepare("UPDATE events SET payload = NULL, salt = NULL WHERE session = ? AND seq = ?");
  const dropBlobRef = db.prepare("DELETE FROM blob_refs WHERE session = ? AND blob = ?");
  const dropOldSnapshots = db.prepare(
    "DELETE FROM snapshots WHERE session = ?1 AND seq < (SELECT max(seq) FROM snapshots WHERE session = ?1)",
  );
  const dropSnapshots = db.prepare("DELETE FROM snapshots WHERE session = ?");
  const putTitle = db.prepare("UPDATE sessions SET title = ? WHERE id = ?");
  // Earlier versions also noted the empty id of an output that a check didn't have.
  const findBlobs = db.prepare("SELECT DISTINCT blob FROM blob_refs WHERE blob <> ''");
  let remove: ReturnType<typeof deleterOn> | null = null;
  const lists = new Map<string, StatementSync>();

  const idOf = (session: string): number | null => {
    const row = findId.get(session);
    return row === undefined ? null : Number(row["id"]);
  };

  const isResting = (id: number, seq: number): boolean =>
    db
      .prepare(`
        SELECT 1 FROM sessions WHERE id = ?1 AND seq = ?2 AND status = 'idle'
          AND NOT EXISTS (SELECT 1 FROM inbox WHERE session = ?1 AND body IS NOT NULL)`)
      .get(id, seq) !== undefined;

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
      return transactions.read(() =>
        lineageOf(session)
          .reverse()
          .flatMap(({ id, session: writer, upTo }) => findEvents.all(writer, id, from, Math.min(to, upTo)) as unknown as StoredEvent[]),
      );
    },

    snapshot(session: string, seq: number): Awaited<ReturnType<Log["snapshot"]>> {
      const row = transactions.read(() => {
        for (const { id, upTo } of lineageOf(session)) {
          const found = findSnapshot.get(id, Math.min(seq, upTo));
          if (found !== undefined) return found;
        }
        return undefined;
      });
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
      if (filter.workspaces !== undefined) {
        conditions.push(`workspace IN (${filter.workspaces.map(() => "?").join(", ")})`);
        values.push(...filter.workspaces);
      }
      where("status = ?", filter.status);
      where("wake_at <= ?", filter.wakeBefore);
      const sql = `SELECT ${rowColumns} FROM sessions s WHERE ${["is_deleted = 0", ...conditions].join(" AND ")} ORDER BY ${lastChange} DESC, id DESC LIMIT ?`;
      return transactions.read(() => {
        const statement = lists.get(sql) ?? db.prepare(sql);
        lists.set(sql, statement);
        return statement.all(...values, filter.limit ?? -1) as unknown as SessionRow[];
      });
    },

    sharers(session: string, seqs: readonly number[]): string[] {
      return transactions.read(() => sharersOf(session, seqs));
    },

    erase(session: string, { seqs, blobs, title, sharers }: SharedErasure): boolean {
      return transactions.write(() => {
        const id = this.requireId(session);
        if (sharersOf(session, seqs).some((other) => !sharers.includes(other))) return false;
        const lineage = lineageOf(session);
        for (const seq of seqs) {
          const writer = writerOf(lineage, seq);
          if (writer !== null) eraseEvent.run(writer, seq);
        }
        for (const blob of blobs) dropBlobRef.run(id, blob);
        dropOldSnapshots.run(id);
        for (const ancestor of lineage) if (ancestor.isDeleted) dropSnapshots.run(ancestor.id);
        if (title !== null) putTitle.run(title, id);
        return true;
      });
    },

    delete(session: string, restsAt: number | undefined): string[] {
      return transactions.write(() => {
        const id = idOf(session);
        if (id === null) return [];
        if (restsAt !== undefined && !isResting(id, restsAt)) throw notAtRest(session, restsAt);
        remove ??= deleterOn(db);
        return remove(id);
      });
    },

    referencedBlobs(): Set<string> {
      return transactions.read(() => new Set(findBlobs.all().map((row) => String(row["blob"]))));
    },
  };
}

export type Sessions = ReturnType<typeof sessionsIn>;
