import type { Commit } from "@holdfast/runtime";
import type { DatabaseSync } from "node:sqlite";
import { checkCommit, staleDriver } from "../commit-shape.ts";
import type { Lineages } from "./lineage.ts";
import type { Transactions } from "./transaction.ts";

/**
 * The one way a session changes. A usual commit is BEGIN, one statement for the compare-and-set, one for the head, one
 * for each event and register, COMMIT: the flush at the end costs more than all of them.
 */
export function committer(db: DatabaseSync, transactions: Transactions, { ownerOf }: Lineages): (commit: Commit) => void {
  const insertSession = db.prepare(`
    INSERT INTO sessions (session, workspace, title, status, wake_at, created_at, updated_at, seq, parent, parent_seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session) DO NOTHING RETURNING id`);
  const advanceSession = db.prepare(`
    UPDATE sessions SET status = ?, wake_at = ?, updated_at = ?, seq = ?, title = coalesce(?, title)
    WHERE session = ? AND seq = ? AND is_deleted = 0 RETURNING id`);
  const putHead = db.prepare(`
    INSERT INTO heads (session, head) VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET head = excluded.head`);
  const insertEvent = db.prepare(`
    INSERT INTO events (session, seq, type, version, at, prev, digest, hash, salt, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const putRegister = db.prepare(`
    INSERT INTO registers (session, kind, key, value) VALUES (?, ?, ?, ?)
    ON CONFLICT (session, kind, key) DO UPDATE SET value = excluded.value`);
  const deleteRegister = db.prepare("DELETE FROM registers WHERE session = ? AND kind = ? AND key = ?");
  const takeMessage = db.prepare("UPDATE inbox SET body = NULL WHERE session = ? AND number = ? AND body IS NOT NULL");
  const insertMessage = db.prepare(`
    INSERT INTO outbox (session, message_id, receiver, body) VALUES (?, ?, ?, ?) ON CONFLICT (session, message_id) DO NOTHING`);
  const insertBlobRef = db.prepare("INSERT INTO blob_refs (session, blob, seq) VALUES (?, ?, ?) ON CONFLICT (session, blob) DO NOTHING");
  const takeOverBlobRefs = db.prepare(`
    INSERT INTO blob_refs (session, blob, seq)
    SELECT ?, blob, seq FROM blob_refs WHERE session = (SELECT id FROM sessions WHERE session = ?) AND seq <= ?`);

  const insertSnapshot = db.prepare(`
    INSERT INTO snapshots (session, seq, head, registers)
    SELECT ?1, ?2, ?3, (SELECT json_group_array(json_array(kind, key, value)) FROM registers WHERE session = ?1)`);

  /** The session's own number in this file. Throws `stale_driver`. */
  const advance = (commit: Commit): number => {
    const { session, status, wakeAt, at, title = null, expectedSeq, created } = commit;
    const seq = expectedSeq + commit.events.length;
    const row =
      created === undefined ? advanceSession.get(status, wakeAt, at, seq, title, session, expectedSeq) : create(commit, created, seq);
    if (row === undefined) throw staleDriver(commit, "its log is gone or doesn't end there");
    return Number(row["id"]);
  };
  const create = (commit: Commit, { workspace, title, fork }: NonNullable<Commit["created"]>, seq: number) => {
    const { session, status, wakeAt, at } = commit;
    const parent = fork === undefined ? null : ownerOf(fork.session, fork.tip, fork.seq);
    if (fork !== undefined && parent === null) throw staleDriver(commit, `${fork.session} doesn't end at ${fork.tip}`);
    const row = insertSession.get(session, workspace, title, status, wakeAt, at, at, seq, parent, fork?.seq ?? null);
    if (row !== undefined && fork !== undefined) takeOverBlobRefs.run(Number(row["id"]), fork.session, fork.seq);
    return row;
  };

  return (commit) => {
    checkCommit(commit);
    const write = commit.isBinding === true ? transactions.writeSynced : transactions.write;
    write(() => {
      const id = advance(commit);
      putHead.run(id, commit.head);
      for (const e of commit.events) {
        insertEvent.run(id, e.seq, e.type, e.version, e.at, e.prev, e.digest, e.hash, e.salt, e.payload);
      }
      for (const { kind, key, value } of commit.registers) {
        if (value === null) deleteRegister.run(id, kind, key);
        else putRegister.run(id, kind, key, value);
      }
      for (const number of commit.taken) {
        if (takeMessage.run(id, number).changes === 0) throw staleDriver(commit, `inbox row ${number} is not waiting`);
      }
      for (const message of commit.outbox) insertMessage.run(id, message.messageId, message.to, message.body);
      for (const blob of commit.blobRefs) insertBlobRef.run(id, blob, commit.expectedSeq + commit.events.length);
      if (commit.takesSnapshot === true) insertSnapshot.run(id, commit.expectedSeq + commit.events.length, commit.head);
    });
  };
}
