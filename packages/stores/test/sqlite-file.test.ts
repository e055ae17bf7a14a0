import { HoldfastError } from "@holdfast/protocol";
import { inspectStore, openSqliteLog } from "@holdfast/stores/sqlite";
import {
  chmodSync,
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { logOn } from "../src/sqlite/log.ts";
import { openStoreFile } from "../src/sqlite/file.ts";
import { mountSmallDisk, mountable } from "./disk.ts";
import { temporaryFolder } from "./folder.ts";
import { commitOf, owner, storedEvent } from "./sample.ts";

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
const bytesOnDisk = () => Buffer.concat(readdirSync(join(folder, "home")).map((name) => readFileSync(join(folder, "home", name))));

/** A store with one large session and one small one, closed. */
async function makeStore(events = 400): Promise<void> {
  const log = openSqliteLog({ path, durability: "normal" });
  for (let seq = 0; seq < events; seq++) {
    await log.commit(commitOf("large", seq, { events: [storedEvent("large", seq + 1, `large-${seq + 1};`.padEnd(1500, "x"))] }));
  }
  await log.commit(commitOf("small", 0));
  await log.close();
}

describe("the file", () => {
  it("is private to its user, in a private folder, with what SQLite puts beside it", async () => {
    const log = openSqliteLog(path);
    await log.commit(commitOf("s", 0));
    expect(statSync(join(folder, "home")).mode & 0o777).toBe(0o700);
    const names = readdirSync(join(folder, "home"));
    expect(names.sort()).toEqual(["sessions.db", "sessions.db-shm", "sessions.db-wal"]);
    for (const name of names) expect([name, statSync(join(folder, "home", name)).mode & 0o777]).toEqual([name, 0o600]);
    await log.close();
    chmodSync(path, 0o644);
    await openSqliteLog(path).close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("has everything when it is opened again", async () => {
    const log = openSqliteLog(path);
    await log.commit(
      commitOf("s", 0, { registers: [{ kind: "fact", key: "a", value: "1" }], outbox: [{ messageId: "o", to: "x", body: "" }] }),
    );
    await log.post("s", { messageId: "m", body: "hello", at: 1 });
    await log.claim("s", "call", 1, "driver");
    await log.lock("workspace", owner(1), () => true);
    const before = await log.load("s");
    await log.close();
    await log.close();

    const again = openSqliteLog(path);
    expect(await again.load("s")).toEqual(before);
    expect(await again.read("s", 1)).toEqual([storedEvent("s", 1)]);
    expect(await again.inbox("s")).toHaveLength(1);
    expect(await again.takeOutbox(1)).toHaveLength(1);
    expect(await again.claim("s", "call", 1, "driver")).toBe(false);
    expect(await again.holder("workspace")).toEqual(owner(1));
    await again.close();
    await expect(again.load("s")).rejects.toMatchObject({ code: "store_failed" });
  });

  it.each(["full", "normal"] as const)("flushes as durability %s says", (durability) => {
    const { db } = openStoreFile({ path, durability });
    expect(db.prepare("PRAGMA synchronous").get()?.["synchronous"]).toBe(durability === "full" ? 2 : 1);
    expect(db.prepare("PRAGMA journal_mode").get()?.["journal_mode"]).toBe("wal");
    db.close();
  });

  it("flushes what an effect hangs on, whatever the durability", async () => {
    const { db, path: file } = openStoreFile({ path, durability: "normal" });
    const log = logOn(db, file);
    const level = (): unknown => db.prepare("PRAGMA synchronous").get()?.["synchronous"];
    const during: unknown[] = [];
    // Called within the transaction, as each of the commit's events is stored.
    db.function("level", () => (during.push(level()), 0));
    db.exec("CREATE TEMP TRIGGER look AFTER INSERT ON events BEGIN SELECT level(); END");
    db.exec("CREATE TEMP TRIGGER look_too AFTER INSERT ON claims BEGIN SELECT level(); END");
    await log.commit(commitOf("s", 0));
    await log.commit(commitOf("s", 1, { isBinding: true }));
    await log.claim("s", "call", 1, "driver");
    await log.commit(commitOf("s", 2));
    expect(during).toEqual([1, 2, 2, 1]);
    expect(level()).toBe(1);
    await log.close();
  });

  it("holds no trace of what was erased or deleted", async () => {
    const log = openSqliteLog(path);
    const secret = (word: string) => `${word} `.repeat(30);
    for (let seq = 0; seq < 120; seq++) {
      const word = seq === 50 ? "erased-content" : "kept-content";
      await log.commit(commitOf("s", seq, { events: [storedEvent("s", seq + 1, secret(word))] }));
      await log.commit(
        commitOf("d", seq, { events: [storedEvent("d", seq + 1, secret("deleted-content"))], head: secret("deleted-content") }),
      );
    }
    await log.post("d", { messageId: "m", body: secret("deleted-content"), at: 1 });
    expect(bytesOnDisk().includes("erased-content")).toBe(true);
    await log.erase("s", { seqs: [51], blobs: [], title: null, sharers: [] });
    expect(bytesOnDisk().includes("erased-content")).toBe(false);
    expect(bytesOnDisk().includes("deleted-content")).toBe(true);
    await log.delete("d");
    expect(bytesOnDisk().includes("deleted-content")).toBe(false);
    expect(bytesOnDisk().includes("kept-content")).toBe(true);
    await log.close();
  });

  it("gives a deleted session's space back to the disk", async () => {
    await makeStore();
    const before = statSync(path).size;
    const log = openSqliteLog(path);
    await log.delete("large");
    expect(statSync(path).size).toBeLessThan(before / 4);
    expect(await log.read("small", 1)).toHaveLength(1);
    await log.close();
  });

  it("erases and deletes while another connection reads", async () => {
    await makeStore(20);
    const log = openSqliteLog({ path, busyTimeoutMs: 50 });
    const reader = new DatabaseSync(path, { readOnly: true });
    reader.exec("BEGIN");
    const count = () => reader.prepare("SELECT count(*) AS n FROM events WHERE payload IS NOT NULL").get()?.["n"];
    expect(count()).toBe(21);
    await log.erase("large", { seqs: [1], blobs: [], title: null, sharers: [] });
    await log.delete("small");
    expect(count()).toBe(21);
    reader.exec("COMMIT");
    expect(count()).toBe(19);
    reader.close();
    await log.close();
    expect(bytesOnDisk().includes("large-1;")).toBe(false);
  });

  it("has no row of a deleted session in any table", async () => {
    const log = openSqliteLog(path);
    const registers = [{ kind: "fact", key: "a", value: "1" }];
    await log.commit(
      commitOf("s", 0, { registers, outbox: [{ messageId: "o", to: "x", body: "" }], blobRefs: ["b"], takesSnapshot: true }),
    );
    await log.post("s", { messageId: "m", body: "", at: 1 });
    await log.claim("s", "call", 1, "driver");
    await log.lock("session:s", owner(1), () => true);
    const reader = new DatabaseSync(path, { readOnly: true });
    const counts = () =>
      reader
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .all()
        .map(({ name }) => [name, reader.prepare(`SELECT count(*) AS n FROM ${String(name)}`).get()?.["n"]]);
    expect(counts().filter(([, n]) => n !== 1)).toEqual([]);
    await log.delete("s");
    expect(counts().filter(([, n]) => n !== 0)).toEqual([]);
    reader.close();
    await log.close();
  });
});

describe("a damaged file", () => {
  /** Opens the store and reads everything; the code of what went wrong. */
  const readAll = async (): Promise<string> => {
    try {
      const log = openSqliteLog(path);
      try {
        for (const { session } of await log.list({})) await log.read(session, 1);
      } finally {
        await log.close();
      }
      return "read";
    } catch (error) {
      return error instanceof HoldfastError ? error.code : String(error);
    }
  };

  it("is named as such wherever it was cut off, and when it never was a store", async () => {
    await makeStore();
    const whole = readFileSync(path);
    for (const size of [whole.length - 4096, whole.length - 100, Math.floor(whole.length / 2), 20_000, 4096, 1000, 99, 10]) {
      writeFileSync(path, whole);
      truncateSync(path, size);
      expect([size, await readAll()]).toEqual([size, "session_corrupt"]);
    }
    writeFileSync(path, "not a database, ".repeat(1000));
    expect(await readAll()).toBe("session_corrupt");
    writeFileSync(path, whole);
    expect(await readAll()).toBe("read");
  });

  it("costs only what the broken page held: other events and sessions can be read", async () => {
    await makeStore();
    const file = openSync(path, "r+");
    const page = Math.floor(readFileSync(path).indexOf("large-100;") / 4096);
    writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, page * 4096);
    closeSync(file);
    const log = openSqliteLog(path);
    await expect(log.read("large", 95, 105)).rejects.toMatchObject({ code: "session_corrupt" });
    expect(await log.read("large", 350)).toHaveLength(51);
    expect(await log.read("small", 1)).toHaveLength(1);
    await log.commit(commitOf("large", 400));
    await log.close();
  });

  it("loses a torn commit from the end of the write-ahead log, and keeps the ones before it", async () => {
    const log = openSqliteLog(path);
    for (let seq = 0; seq < 10; seq++) await log.commit(commitOf("s", seq));
    const torn = join(folder, "torn");
    cpSync(join(folder, "home"), torn, { recursive: true });
    await log.close();
    path = join(torn, "sessions.db");
    truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 2000);
    const again = openSqliteLog(path);
    const seq = (await again.load("s"))?.row.seq;
    expect(seq).toBe(9);
    expect(await again.read("s", 1)).toHaveLength(9);
    await again.commit(commitOf("s", 9));
    await again.close();
  });
});

describe("when it can't be saved", () => {
  it("another process's transaction is waited for, then named", async () => {
    const log = openSqliteLog({ path, busyTimeoutMs: 50 });
    await log.commit(commitOf("s", 0));
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    await expect(log.commit(commitOf("s", 1))).rejects.toMatchObject({ code: "store_failed" });
    expect(await log.read("s", 1)).toHaveLength(1);
    other.exec("COMMIT");
    other.close();
    await log.commit(commitOf("s", 1));
    await log.close();
  });

  it("a file that was deleted or replaced under it takes no commit that nobody could ever read", async () => {
    const log = openSqliteLog(path);
    await log.commit(commitOf("s", 0));
    rmSync(join(folder, "home"), { recursive: true });
    await expect(log.commit(commitOf("s", 1))).rejects.toMatchObject({ code: "store_failed" });
    await expect(log.post("s", { messageId: "m", body: "{}", at: 0 })).rejects.toMatchObject({ code: "store_failed" });
    const next = openSqliteLog(path);
    await next.commit(commitOf("t", 0));
    await expect(log.commit(commitOf("s", 1))).rejects.toMatchObject({ code: "store_failed" });
    expect(await next.list({})).toHaveLength(1);
    await next.close();
    await log.close();
  });

  it("a path that can't be a file of ours is a failure of the store", () => {
    writeFileSync(join(folder, "file"), "");
    expect(codeOf(() => openSqliteLog(join(folder, "file", "sessions.db")))).toBe("store_failed");
    expect(codeOf(() => openSqliteLog(folder))).toBe("store_failed");
  });

  it("a connection that may only read is a failure of the store", async () => {
    await makeStore(2);
    const { db } = openStoreFile({ path });
    db.exec("PRAGMA query_only = ON");
    const log = logOn(db, path);
    await expect(log.commit(commitOf("small", 1))).rejects.toMatchObject({ code: "store_failed" });
    expect((await log.load("small"))?.row.seq).toBe(1);
    await log.close();
  });

  const tooLarge = (seq: number) => commitOf("s", seq, { events: [storedEvent("s", seq + 1, "x".repeat(600_000))] });

  it("a quota that is reached leaves nothing of the commit, and it goes on when there is space", async () => {
    const { db } = openStoreFile({ path });
    const log = logOn(db, path);
    await log.commit(commitOf("s", 0));
    db.exec("PRAGMA max_page_count = 60");
    await expect(log.commit(tooLarge(1))).rejects.toMatchObject({ code: "store_full" });
    expect((await log.load("s"))?.row.seq).toBe(1);
    await log.commit(commitOf("s", 1));
    db.exec("PRAGMA max_page_count = 100000");
    await log.commit(tooLarge(2));
    expect(await log.read("s", 1)).toHaveLength(3);
    await log.close();
  });

  it.each(mountable(4))("a full disk (%d MiB) leaves nothing of the commit, shortens no file, and it goes on later", async (size) => {
    const disk = mountSmallDisk(size);
    try {
      path = join(disk.folder, "home", "sessions.db");
      const log = openSqliteLog(path);
      await log.commit(commitOf("s", 0));
      disk.fill(200_000);
      const before = statSync(path).size;
      await expect(log.commit(tooLarge(1))).rejects.toMatchObject({ code: "store_full" });
      let seq = 1;
      const untilFull = async () => {
        for (;;) await log.commit(commitOf("s", seq++));
      };
      await expect(untilFull()).rejects.toMatchObject({ code: "store_full" });
      seq -= 1;
      expect(statSync(path).size).toBeGreaterThanOrEqual(before);
      expect((await log.load("s"))?.row.seq).toBe(seq);
      await expect(log.post("s", { messageId: "m", body: "x".repeat(50_000), at: 1 })).rejects.toMatchObject({ code: "store_full" });
      disk.empty();
      await log.commit(tooLarge(seq));
      expect(await log.read("s", 1)).toHaveLength(seq + 1);
      await log.close();
      const again = openSqliteLog(path);
      expect(await again.read("s", 1)).toHaveLength(seq + 1);
      await again.close();

      disk.fill(0);
      expect(inspectStore(path)).toMatchObject({ type: "whole", sessions: new Set(["s"]) });
      const whileFull = openSqliteLog(path);
      expect(await whileFull.read("s", 1)).toHaveLength(seq + 1);
      expect(await whileFull.list({})).toHaveLength(1);
      await whileFull.close();
      expect(codeOf(() => openSqliteLog(join(disk.folder, "new", "sessions.db")))).toBe("store_full");
      disk.empty();
    } finally {
      disk.unmount();
    }
  });
});
