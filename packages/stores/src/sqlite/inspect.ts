import { isHoldfastError } from "@holdfast/protocol/error";
import type { Owner } from "@holdfast/runtime";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { ownerColumns, ownerIn } from "./claims.ts";
import { isOnReadOnly, storeFailure } from "./failure.ts";
import { hasNoLog } from "./file.ts";
import { checkFormat, unchanging } from "./format.ts";
import { migrations, sessionTables } from "./schema.ts";
import { rollBack } from "./transaction.ts";
import { unsoundIn, type Unsound } from "./unsound.ts";

/** What a look at a store found. Nothing of it was changed. */
export type StoreLook =
  | { readonly type: "none" }
  /** Not all of it can be read. */
  | { readonly type: "damaged"; readonly problems: readonly string[] }
  /** Of an older format: it is brought to the current one when it is opened next. */
  | { readonly type: "older" }
  | ({ readonly type: "whole" } & StoreLeftovers);

export interface StoreLeftovers {
  /** Every session of which anything is left, also deleted ones that forks share. */
  readonly sessions: ReadonlySet<string>;
  /** Contents, by id, with the sessions that refer to them. */
  readonly contents: ReadonlyMap<string, readonly string[]>;
  /** Rows that belong to no session. */
  readonly strayRows: number;
  /** Locks, by name, with their holders, dead or alive. */
  readonly locks: readonly { readonly name: string; readonly owner: Owner }[];
  /** Erasures that were recorded and not carried out to the end. */
  readonly erasures: readonly { readonly session: string; readonly itemId: string }[];
}

const mostProblems = 5;

/** Looks at every page of the file. Throws `session_newer`, and `store_failed` for another program's database. */
export function inspectStore(path: string, busyTimeoutMs = 5_000): StoreLook {
  if (!existsSync(path)) return { type: "none" };
  try {
    return inspect(path, busyTimeoutMs, false);
  } catch (error) {
    // Reading makes a file beside the store, for which a full disk has no room. With no log to be read it isn't needed.
    const isRefused = isHoldfastError(error, "store_full") || isOnReadOnly(path);
    if (!isRefused || !hasNoLog(path)) throw error;
    const look = inspect(path, busyTimeoutMs, true);
    // Nothing kept a writer away: what looks damaged may be half of a change.
    if (look.type === "damaged") throw error;
    return look;
  }
}

function inspect(path: string, busyTimeoutMs: number, isAlone: boolean): StoreLook {
  let db: DatabaseSync | null = null;
  try {
    checkFormat(path, busyTimeoutMs, isAlone);
    db = new DatabaseSync(isAlone ? unchanging(path) : path, { readOnly: true, timeout: busyTimeoutMs });
    const problems = db
      .prepare(`PRAGMA integrity_check(${mostProblems})`)
      .all()
      .map((row) => String(row["integrity_check"]))
      .filter((text) => text !== "ok");
    if (problems.length > 0) return { type: "damaged", problems };
    const format = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (format < migrations.length) return format === 0 ? { type: "none" } : { type: "older" };
    const unsound = problemsOf(unsoundIn(db));
    if (unsound.length > 0) return { type: "damaged", problems: unsound };
    return { type: "whole", ...leftoversIn(db) };
  } catch (error) {
    const failure = storeFailure(error, path);
    // That it is damaged is said by the type; what SQLite found is the cause.
    if (isHoldfastError(failure, "session_corrupt"))
      return { type: "damaged", problems: [failure.cause instanceof Error ? failure.cause.message : failure.message] };
    throw failure;
  } finally {
    db?.close();
  }
}

/** The first of them: a sound file can hold what nobody can go on with. */
function problemsOf({ withoutState, withoutEnd, messages }: Unsound): string[] {
  return [
    ...withoutState.map((session) => `the control state of ${session} can't be read`),
    ...withoutEnd
      .filter((session) => !withoutState.includes(session))
      .map((session) => `the log of ${session} has lost events, or doesn't end where the store says`),
    ...messages.map(({ session, number }) => `a message that waits for ${session} can't be read (${number})`),
  ].slice(0, mostProblems);
}

function leftoversIn(db: DatabaseSync): StoreLeftovers {
  const strayIn = (table: string): number => Number(db.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${isStray}`).get()?.["n"]);
  return {
    sessions: new Set(
      db
        .prepare("SELECT session FROM sessions")
        .all()
        .map((row) => String(row["session"])),
    ),
    contents: contentsIn(db),
    strayRows: sessionTables.reduce((sum, table) => sum + strayIn(table), 0),
    locks: db
      .prepare(`SELECT name, ${ownerColumns} FROM locks`)
      .all()
      .map(({ name, ...owner }) => ({ name: String(name), owner: ownerIn(owner) })),
    erasures: db
      .prepare("SELECT s.session, r.key AS itemId FROM registers r JOIN sessions s ON s.id = r.session WHERE r.kind = 'erasing'")
      .all() as unknown as StoreLeftovers["erasures"],
  };
}

/** Earlier versions also noted the empty id of an output that a check didn't have. */
function contentsIn(db: DatabaseSync): Map<string, string[]> {
  const contents = new Map<string, string[]>();
  const find = "SELECT b.blob, s.session FROM blob_refs b JOIN sessions s ON s.id = b.session WHERE b.blob <> '' AND s.is_deleted = 0";
  for (const { blob, session } of db.prepare(find).all()) {
    contents.set(String(blob), [...(contents.get(String(blob)) ?? []), String(session)]);
  }
  return contents;
}

const isStray = "session NOT IN (SELECT id FROM sessions)";

/** Deletes rows that belong to no session, and locks of the dead, each looked at again. Returns how many went. */
export function tidyStore(
  path: string,
  isAlive: (owner: Owner) => boolean,
  busyTimeoutMs = 5_000,
): { readonly rows: number; readonly locks: number } {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: false });
  try {
    db.exec("PRAGMA secure_delete = ON; BEGIN IMMEDIATE");
    const rows = sessionTables.reduce((sum, table) => sum + Number(db.prepare(`DELETE FROM ${table} WHERE ${isStray}`).run().changes), 0);
    const dead = leftoversIn(db).locks.filter(({ owner }) => !isAlive(owner));
    for (const { name } of dead) db.prepare("DELETE FROM locks WHERE name = ?").run(name);
    db.exec("COMMIT");
    return { rows, locks: dead.length };
  } catch (error) {
    rollBack(db);
    throw storeFailure(error, path);
  } finally {
    db.close();
  }
}
