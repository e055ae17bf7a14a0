import type { InboxRow, Log } from "@holdfast/runtime";
import type { DatabaseSync } from "node:sqlite";
import type { Sessions } from "./sessions.ts";
import type { Transactions } from "./transaction.ts";

type OutboxRows = Awaited<ReturnType<Log["takeOutbox"]>>;

/** What comes in from outside and what must reach others. */
export function messagesIn(db: DatabaseSync, transactions: Transactions, sessions: Sessions) {
  const findMessage = db.prepare("SELECT number FROM inbox WHERE session = ? AND message_id = ?");
  const insertMessage = db.prepare(`
    INSERT INTO inbox (session, number, message_id, body, at)
    VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM inbox WHERE session = ?1), ?2, ?3, ?4) RETURNING number`);
  const findLast = db.prepare(`
    SELECT coalesce(max(number), 0) AS last FROM inbox WHERE session = (SELECT id FROM sessions WHERE session = ?)`);
  const lastOf = (session: string) => Number(findLast.get(session)?.["last"]);
  const wakeSession = db.prepare("UPDATE sessions SET wake_at = min(coalesce(wake_at, ?1), ?1) WHERE id = ?2");
  const findWaiting = db.prepare(`
    SELECT number, message_id AS messageId, body, at FROM inbox
    WHERE session = (SELECT id FROM sessions WHERE session = ?) AND body IS NOT NULL ORDER BY number`);
  const findOutbox = db.prepare(`
    SELECT s.session, o.message_id AS messageId, o.receiver AS "to", o.body
    FROM outbox o JOIN sessions s ON s.id = o.session ORDER BY o.id LIMIT ?`);
  const findOwnOutbox = db.prepare(`
    SELECT s.session, o.message_id AS messageId, o.receiver AS "to", o.body
    FROM sessions s JOIN outbox o ON o.session = s.id WHERE s.session = ? ORDER BY o.id LIMIT ?`);
  const settleMessage = db.prepare("DELETE FROM outbox WHERE session = (SELECT id FROM sessions WHERE session = ?) AND message_id = ?");

  return {
    post(session: string, message: Parameters<Log["post"]>[1], after?: number): number | null {
      return transactions.write(() => {
        const id = sessions.requireId(session);
        const known = findMessage.get(id, message.messageId);
        if (known !== undefined) return Number(known["number"]);
        if (after !== undefined && lastOf(session) !== after) return null;
        wakeSession.run(message.at, id);
        return Number(insertMessage.get(id, message.messageId, message.body, message.at)?.["number"]);
      });
    },
    posted(session: string): number {
      return transactions.read(() => lastOf(session));
    },
    inbox(session: string): InboxRow[] {
      return transactions.read(() => findWaiting.all(session) as unknown as InboxRow[]);
    },
    takeOutbox(limit: number, session?: string): OutboxRows {
      const rows = () => (session === undefined ? findOutbox.all(limit) : findOwnOutbox.all(session, limit));
      return transactions.read(() => rows() as unknown as OutboxRows);
    },
    settleOutbox(session: string, messageId: string): void {
      transactions.write(() => settleMessage.run(session, messageId));
    },
  };
}
