import type { DatabaseSync } from "node:sqlite";

export type Row = Readonly<Record<string, null | number | bigint | string | Uint8Array>>;

/**
 * Gives every row of a table that can be read: from the front as far as it goes, from the back as far as it goes, and what
 * lies between by the numbers that an index still knows. A row may come twice. False where something is damaged.
 */
export function readRows(
  db: DatabaseSync,
  table: string,
  columns: readonly string[],
  hasRowid: boolean,
  take: (row: Row) => void,
): boolean {
  const names = columns.map((column) => `"${column}"`).join(", ");
  if (!hasRowid) return bothWays(db, table, names, take);
  const seen = new Set<number>();
  const takeNumbered = ({ "#": number, ...row }: Row): void => {
    seen.add(Number(number));
    take(row);
  };
  const numbered = `SELECT rowid AS "#", ${names} FROM ${table} NOT INDEXED`;
  if (untilDamaged(db, `${numbered} ORDER BY rowid`, takeNumbered)) return true;
  untilDamaged(db, `${numbered} ORDER BY rowid DESC`, takeNumbered);
  const known = new Set<number>();
  bothWays(db, table, `rowid AS "#"`, (row) => known.add(Number(row["#"])));
  for (const number of known) if (!seen.has(number)) untilDamaged(db, `${numbered} WHERE rowid = ${number}`, takeNumbered);
  return false;
}

/** In the order of the table's key, then the other way round where the damage ended that. */
function bothWays(db: DatabaseSync, table: string, names: string, take: (row: Row) => void): boolean {
  const keys = db
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .filter(({ pk }) => Number(pk) > 0)
    .sort((a, b) => Number(a["pk"]) - Number(b["pk"]));
  const read = (direction: string): boolean => {
    const order = keys.map(({ name }) => `"${String(name)}" ${direction}`).join(", ");
    return untilDamaged(db, `SELECT ${names} FROM ${table} ORDER BY ${order}`, take);
  };
  if (read("ASC")) return true;
  read("DESC");
  return false;
}

/** False where the damage ended it. */
function untilDamaged(db: DatabaseSync, sql: string, take: (row: Row) => void): boolean {
  let statement;
  try {
    statement = db.prepare(sql).iterate();
  } catch {
    return false;
  }
  for (;;) {
    let next;
    try {
      next = statement.next();
    } catch {
      return false;
    }
    if (next.done === true) return true;
    take(next.value as Row);
  }
}
