import type { DatabaseSync } from "node:sqlite";

/** A session in this file, and its events that are part of a session's history: those up to `upTo`. */
interface Ancestor {
  readonly id: number;
  readonly session: string;
  readonly upTo: number;
  readonly isDeleted: boolean;
}

/** Who shares which events with whom. All of it is to be asked within a transaction. */
export function lineagesIn(db: DatabaseSync) {
  const findLineage = db.prepare(`
    WITH RECURSIVE lineage (id, session, up_to, parent, parent_seq, is_deleted) AS (
      SELECT id, session, ${Number.MAX_SAFE_INTEGER}, parent, parent_seq, is_deleted FROM sessions WHERE session = ? AND is_deleted = 0
      UNION ALL
      SELECT s.id, s.session, min(l.up_to, l.parent_seq), s.parent, s.parent_seq, s.is_deleted
      FROM lineage l JOIN sessions s ON s.id = l.parent)
    SELECT id, session, up_to AS upTo, is_deleted AS isDeleted FROM lineage`);
  const findHeirs = db.prepare(`
    WITH RECURSIVE heirs (id) AS (
      SELECT ?1
      UNION ALL
      SELECT s.id FROM heirs h JOIN sessions s ON s.parent = h.id WHERE s.parent_seq >= ?2)
    SELECT s.session FROM heirs h JOIN sessions s ON s.id = h.id WHERE s.is_deleted = 0`);
  const findEnd = db.prepare("SELECT seq FROM sessions WHERE session = ? AND is_deleted = 0");
  const hasEvent = db.prepare("SELECT 1 FROM events WHERE session = ? AND seq = ?");

  /** The session itself first, then what it was forked from. */
  const lineageOf = (session: string): Ancestor[] =>
    findLineage.all(session).map((row) => ({
      id: Number(row["id"]),
      session: String(row["session"]),
      upTo: Number(row["upTo"]),
      isDeleted: row["isDeleted"] === 1,
    }));
  const writerOf = (lineage: readonly Ancestor[], seq: number): number | null =>
    lineage.find(({ id, upTo }) => seq <= upTo && hasEvent.get(id, seq) !== undefined)?.id ?? null;

  return {
    lineageOf,
    writerOf,
    /** The number of the session that wrote event `seq` of `session`; null where that one doesn't end at `tip`. */
    ownerOf(session: string, tip: number, seq: number): number | null {
      return findEnd.get(session)?.["seq"] === tip ? writerOf(lineageOf(session), seq) : null;
    },
    sharersOf(session: string, seqs: readonly number[]): string[] {
      const lineage = lineageOf(session);
      const first = new Map<number, number>();
      for (const seq of seqs) {
        const writer = writerOf(lineage, seq);
        if (writer !== null) first.set(writer, Math.min(seq, first.get(writer) ?? seq));
      }
      const names = [...first].flatMap(([writer, seq]) => findHeirs.all(writer, seq).map((row) => String(row["session"])));
      return [...new Set(names)].filter((name) => name !== session);
    },
  };
}

export type Lineages = ReturnType<typeof lineagesIn>;
