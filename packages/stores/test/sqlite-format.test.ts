import { HoldfastError } from "@holdfast/protocol";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { copyFileSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../src/sqlite/format.ts";
import { migrations } from "../src/sqlite/schema.ts";
import { temporaryFolder } from "./folder.ts";
import { commitOf } from "./sample.ts";

let folder: string;
let path: string;
let dispose: () => Promise<void>;
beforeEach(() => {
  ({ folder, dispose } = temporaryFolder());
  path = join(folder, "home", "sessions.db");
});
afterEach(() => dispose());

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return error instanceof HoldfastError ? error.code : String(error);
  }
  return "nothing thrown";
};

/** A store with a session, closed. */
async function makeStore(): Promise<void> {
  const log = openSqliteLog({ path, durability: "normal" });
  await log.commit(commitOf("s", 0));
  await log.close();
}

describe("the format", () => {
  const fixture = readFileSync(new URL("./fixtures/format-1.sql", import.meta.url), "utf8");
  const openFixture = () => {
    mkdirSync(join(folder, "home"));
    const db = new DatabaseSync(path);
    db.exec(fixture);
    return db;
  };
  const format = (db: DatabaseSync) => db.prepare("PRAGMA user_version").get()?.["user_version"];

  it("1 is read by this version, whole", async () => {
    openFixture().close();
    const log = openSqliteLog(path);
    const state = await log.load("ses_1");
    expect(state).toEqual({
      row: {
        session: "ses_1",
        workspace: "/project",
        title: "Fix the login",
        status: "waiting",
        wakeAt: 5000.5,
        createdAt: 1000,
        updatedAt: 2000,
        seq: 2,
        parent: null,
        parentSeq: null,
      },
      head: '{"turn":1}',
      registers: [{ kind: "plan", key: "main", value: '["look"]' }],
    });
    expect(await log.read("ses_1", 1)).toMatchObject([
      { seq: 1, type: "session.created", version: 1, at: 1000, prev: "", digest: "d1", hash: "h1", salt: "s1", payload: "{}" },
      { seq: 2, type: "input.taken", version: 1, at: 2000, prev: "h1", digest: "d2", hash: "h2", salt: null, payload: null },
    ]);
    expect(await log.inbox("ses_1")).toEqual([{ number: 2, messageId: "m2", body: '{"type":"interrupt"}', at: 2000 }]);
    expect(await log.takeOutbox(9)).toEqual([{ session: "ses_1", messageId: "o1", to: "ses_2", body: "hello" }]);
    expect(await log.claim("ses_1", "call_1", 1, "x")).toBe(false);
    expect(await log.holder("session:ses_1")).toEqual({ pid: 7, startTime: "70", bootId: "boot", label: "holdfast" });
    expect(await log.referencedBlobs()).toEqual(new Set(["blob"]));
    await log.commit(commitOf("ses_1", 2, { taken: [2] }));
    await log.close();
  });

  it("2 is read by this version, and its sessions can be forked and deleted", async () => {
    mkdirSync(join(folder, "home"));
    const db = new DatabaseSync(path);
    db.exec(readFileSync(new URL("./fixtures/format-2.sql", import.meta.url), "utf8"));
    db.close();
    const log = openSqliteLog(path);
    expect((await log.load("ses_1"))?.row).toMatchObject({ seq: 2, parent: null, parentSeq: null });
    expect(await log.snapshot("ses_1", 2)).toEqual({
      seq: 1,
      head: '{"turn":0}',
      registers: [{ kind: "plan", key: "main", value: '["look"]' }],
    });
    await log.commit(
      commitOf("fork", 1, { created: { workspace: "/project", title: "A fork", fork: { session: "ses_1", seq: 1, tip: 2 } } }),
    );
    expect((await log.read("fork", 1)).map(({ session, seq }) => [session, seq])).toEqual([
      ["ses_1", 1],
      ["fork", 2],
    ]);
    expect(await log.delete("ses_1")).toEqual([]);
    // When it was first referred to isn't known of a reference that old: a fork keeps it.
    expect(await log.referencedBlobs()).toEqual(new Set(["blob"]));
    expect(await log.delete("fork")).toEqual(["fork", "ses_1"]);
    await log.close();
  });

  it("3 is read by this version: who holds its locks has a number alone", async () => {
    mkdirSync(join(folder, "home"));
    const db = new DatabaseSync(path);
    db.exec(readFileSync(new URL("./fixtures/format-3.sql", import.meta.url), "utf8"));
    db.close();
    const log = openSqliteLog(path);
    expect((await log.load("ses_2"))?.row).toMatchObject({ seq: 2, parent: "ses_1", parentSeq: 1 });
    expect((await log.read("ses_2", 1)).map(({ session, seq }) => [session, seq])).toEqual([
      ["ses_1", 1],
      ["ses_2", 2],
    ]);
    const holder = { pid: 7, startTime: "70", bootId: "boot", label: "holdfast" };
    expect(await log.holder("session:ses_1")).toEqual(holder);
    await log.unlock("session:ses_1", holder);
    expect(await log.holder("session:ses_1")).toBeNull();
    await log.close();
  });

  it("goes forward step by step and keeps the rows", () => {
    const db = openFixture();
    migrate(db, path, [
      ...migrations,
      "ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0",
      "UPDATE sessions SET pinned = 1",
    ]);
    expect(format(db)).toBe(migrations.length + 2);
    expect(db.prepare("SELECT session, pinned FROM sessions").all()).toMatchObject([{ session: "ses_1", pinned: 1 }]);
    db.close();
  });

  it("stays where it was when a step fails", () => {
    const db = openFixture();
    const steps = [...migrations, "ALTER TABLE sessions ADD COLUMN pinned INTEGER", "INSERT INTO nowhere VALUES (1)"];
    expect(() => migrate(db, path, steps)).toThrow("no such table: nowhere");
    expect(format(db)).toBe(1);
    expect(db.prepare("SELECT * FROM sessions").get()).not.toHaveProperty("pinned");
    db.close();
  });

  it("of a later version is refused, and the file is left as it is", async () => {
    await makeStore();
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA user_version = ${migrations.length + 1}`);
    db.close();
    const before = readFileSync(path);
    expect(codeOf(() => openSqliteLog(path))).toBe("session_newer");
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("of a later version is refused also where only its write-ahead log says so", async () => {
    await makeStore();
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA user_version = ${migrations.length + 1}`);
    // As after a kill: the log was written, and nobody has moved it into the file.
    mkdirSync(join(folder, "killed"));
    for (const end of ["", "-wal"]) copyFileSync(path + end, join(folder, "killed", `sessions.db${end}`));
    db.close();
    path = join(folder, "killed", "sessions.db");
    const before = [readFileSync(path), readFileSync(`${path}-wal`)];
    expect(codeOf(() => openSqliteLog(path))).toBe("session_newer");
    expect([readFileSync(path), readFileSync(`${path}-wal`)]).toEqual(before);
  });

  it("none, of a process that was killed while it made the file: its half is taken back, and the file is made", async () => {
    mkdirSync(join(folder, "home"));
    const db = new DatabaseSync(path);
    db.exec("PRAGMA cache_size = 1; BEGIN; CREATE TABLE half (page BLOB)");
    for (let page = 0; page < 200; page += 1) db.exec("INSERT INTO half VALUES (zeroblob(4000))");
    mkdirSync(join(folder, "killed"));
    for (const end of ["", "-journal"]) copyFileSync(path + end, join(folder, "killed", `sessions.db${end}`));
    db.exec("ROLLBACK");
    db.close();
    path = join(folder, "killed", "sessions.db");
    const reader = new DatabaseSync(path, { readOnly: true });
    expect(() => reader.prepare("PRAGMA user_version").get()).toThrow("attempt to write a readonly database");
    reader.close();
    const log = openSqliteLog(path);
    expect(await log.list({})).toEqual([]);
    await log.close();
    expect(readdirSync(join(folder, "killed"))).toEqual(["sessions.db"]);
  });

  it("of another program's database is refused, and the file is left as it is", () => {
    mkdirSync(join(folder, "home"));
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE notes (text TEXT)");
    db.close();
    const before = readFileSync(path);
    expect(codeOf(() => openSqliteLog(path))).toBe("store_failed");
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
