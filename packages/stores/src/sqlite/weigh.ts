import type { Weight } from "@holdfast/runtime";
import type { DatabaseSync } from "node:sqlite";
import { weigh } from "../weigh.ts";
import type { Transactions } from "./transaction.ts";

/** Bytes of a row beside its large columns: hashes, names and the index, about. */
const rowBytes = 300;

/** Weights by the stored bytes of each row; the pages they are on can hold more. */
export function weighOn(db: DatabaseSync, transactions: Transactions, going: readonly string[]): Weight[] {
  const findAll = db.prepare(`
    SELECT id, session, (SELECT p.session FROM sessions p WHERE p.id = s.parent) AS parent, coalesce(parent_seq, 0) AS parentSeq,
      is_deleted AS isDeleted FROM sessions s`);
  const findBlobs = db.prepare("SELECT session, blob FROM blob_refs WHERE blob <> ''");
  const sizeOf = (columns: string, table: string, condition = ""): string =>
    `coalesce((SELECT sum(${columns} + ${rowBytes}) FROM ${table} WHERE session = ?1${condition}), 0)`;
  const eventBytes = sizeOf("coalesce(octet_length(payload), 0)", "events", " AND seq > ?2");
  const snapshotBytes = sizeOf("octet_length(head) + octet_length(registers)", "snapshots", " AND seq > ?2");
  const shared = db.prepare(`SELECT ${eventBytes} + ${snapshotBytes} AS bytes`);
  const own = db.prepare(`
    SELECT ${sizeOf("octet_length(head)", "heads")} + ${sizeOf("octet_length(value)", "registers")}
      + ${sizeOf("coalesce(octet_length(body), 0)", "inbox")} AS bytes`);

  return transactions.read(() => {
    const ids = new Map<string, number>();
    const blobs = new Map<number, Set<string>>();
    for (const row of findBlobs.all()) {
      const id = Number(row["session"]);
      blobs.set(id, (blobs.get(id) ?? new Set()).add(String(row["blob"])));
    }
    const all = findAll.all().map((row) => {
      const session = String(row["session"]);
      ids.set(session, Number(row["id"]));
      return {
        session,
        parent: row["parent"] as string | null,
        parentSeq: Number(row["parentSeq"]),
        isDeleted: row["isDeleted"] === 1,
        blobs: blobs.get(Number(row["id"])) ?? new Set<string>(),
      };
    });
    return weigh(all, going, (session, keptUpTo) => {
      const id = ids.get(session) ?? 0;
      return Number(shared.get(id, keptUpTo ?? 0)?.["bytes"]) + Number(own.get(id)?.["bytes"]);
    });
  });
}
