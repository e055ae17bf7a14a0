import type { SessionRow } from "@holdfast/runtime";
import type { DatabaseSync } from "node:sqlite";
import type { Lineages } from "./lineage.ts";
import type { Sessions } from "./sessions.ts";
import type { Transactions } from "./transaction.ts";

/**
 * A scan, no index: an index would cost every commit and the file's size twice, and would be one more copy of what is
 * erased (docs/decisions/0009-search.md). LIKE is SQLite's fastest look through text; it takes ASCII letters in either case.
 */
export function searchIn(db: DatabaseSync, transactions: Transactions, { lineageOf }: Lineages, sessions: Sessions) {
  const hasAll = (column: string, count: number): string => Array(count).fill(`${column} LIKE ? ESCAPE '!'`).join(" AND ");
  const patternOf = (piece: string): string => `%${piece.replace(/[!%_]/g, "!$&")}%`;

  return async function* search(pieces: readonly string[], workspaces?: readonly string[]): AsyncGenerator<SessionRow> {
    const patterns = pieces.map(patternOf);
    const matches = (column: string): string => (patterns.length === 0 ? "1" : hasAll(column, patterns.length));
    const findTitle = db.prepare(`SELECT 1 FROM sessions WHERE session = ? AND ${matches("title")}`);
    const findEvent = db.prepare(`
      SELECT 1 FROM events WHERE session = ? AND seq <= ? AND payload IS NOT NULL AND ${matches("payload")} LIMIT 1`);
    for (const row of sessions.list({})) {
      if (workspaces !== undefined && (row.workspace === null || !workspaces.includes(row.workspace))) continue;
      const isFound = transactions.read(
        () =>
          findTitle.get(row.session, ...patterns) !== undefined ||
          lineageOf(row.session).some(({ id, upTo }) => findEvent.get(id, upTo, ...patterns) !== undefined),
      );
      if (isFound) yield row;
    }
  };
}
