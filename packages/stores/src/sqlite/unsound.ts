import { op } from "@holdfast/protocol/op";
import type { DatabaseSync } from "node:sqlite";

/** Of a sound file: what in it isn't, by session. None of it takes reading a log. */
export interface Unsound {
  /** A head or a register that is no JSON, or without those that every session has. */
  readonly withoutState: readonly string[];
  /** Events are missing, or head, row and events tell of different ends. */
  readonly withoutEnd: readonly string[];
  readonly messages: readonly UnreadableMessage[];
}

/** A message that waits and that nobody can take in. */
export interface UnreadableMessage {
  readonly session: string;
  readonly number: number;
}

export function unsoundIn(db: DatabaseSync): Unsound {
  return { withoutState: withoutState(db), withoutEnd: withoutEnd(db), messages: unreadableMessages(db) };
}

function withoutState(db: DatabaseSync): string[] {
  return db
    .prepare(
      `SELECT s.session FROM sessions s LEFT JOIN heads h ON h.session = s.id WHERE s.is_deleted = 0 AND (
        h.head IS NULL OR NOT json_valid(h.head)
        OR EXISTS (SELECT 1 FROM registers r WHERE r.session = s.id AND NOT json_valid(r.value))
        -- What begins a session puts some. One that lost its last events may have none.
        OR (NOT EXISTS (SELECT 1 FROM registers r WHERE r.session = s.id)
          AND EXISTS (SELECT 1 FROM events e WHERE e.session = s.id AND e.type IN ('session.created', 'session.forked'))
          AND EXISTS (SELECT 1 FROM events e WHERE e.session = s.id AND e.seq = s.seq)))
      ORDER BY s.id`,
    )
    .all()
    .map(({ session }) => String(session));
}

/** A head with the hash of the last event there is, and an end beyond it, is of a session that was saved in part. */
function withoutEnd(db: DatabaseSync): string[] {
  return db
    .prepare(
      `WITH own AS (SELECT session, count(*) AS n, min(seq) AS first, max(seq) AS last FROM events GROUP BY session)
      SELECT s.session FROM sessions s
        JOIN heads h ON h.session = s.id
        LEFT JOIN own o ON o.session = s.id
        LEFT JOIN events e ON e.session = s.id AND e.seq = o.last
      WHERE s.is_deleted = 0 AND CASE WHEN json_valid(h.head) THEN
        json_extract(h.head, '$.seq') <> s.seq OR o.last > s.seq OR json_extract(h.head, '$.hash') <> e.hash
        OR o.first <> coalesce(s.parent_seq, 0) + 1 OR o.n <> o.last - o.first + 1
        OR (o.last IS NULL AND s.parent IS NULL AND json_extract(h.head, '$.hash') <> '')
        ELSE 0 END
      ORDER BY s.id`,
    )
    .all()
    .map(({ session }) => String(session));
}

export function unreadableMessages(db: DatabaseSync): UnreadableMessage[] {
  return db
    .prepare("SELECT s.session, i.number, i.body FROM inbox i JOIN sessions s ON s.id = i.session WHERE i.body IS NOT NULL")
    .all()
    .filter(({ body }) => !isOp(String(body)))
    .map(({ session, number }) => ({ session: String(session), number: Number(number) }));
}

function isOp(body: string): boolean {
  try {
    return op.safeParse(JSON.parse(body)).success;
  } catch {
    return false;
  }
}
