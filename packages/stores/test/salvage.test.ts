import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Log, Ports } from "@holdfast/runtime";
import type { SessionEvent } from "@holdfast/protocol";
import { examineLogs } from "@holdfast/runtime";
import { chain } from "@holdfast/runtime/kernel/chain";
import { replaySession } from "@holdfast/runtime/session/replay";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RecordedLog } from "../../browser/test/replay-logs.ts";
import { inspectStore, openSqliteLog, salvageStore, tidyStore } from "../src/sqlite.ts";
import { temporaryFolder } from "./folder.ts";
import { commitOf, owner } from "./sample.ts";

const file = join(import.meta.dirname, "../../browser/test/fixtures/logs-1.json");
const logs = (JSON.parse(readFileSync(file, "utf8")) as RecordedLog[]).slice(0, 5);
const pageSize = 4096;

let folder = "";
let path = "";
let dispose: () => Promise<void>;
beforeEach(() => {
  ({ folder, dispose } = temporaryFolder());
  path = join(folder, "sessions.db");
});
afterEach(() => dispose());

/** A store of recorded sessions. */
async function makeStore(): Promise<void> {
  const log = openSqliteLog(path);
  for (const [at, { row, head, registers, events }] of logs.entries()) {
    const { session, workspace, title, status, wakeAt } = row;
    const rest = { taken: [], outbox: [], blobRefs: [`blob of ${session}`] };
    await log.commit({ session, expectedSeq: 0, events, head, registers, ...rest, status, wakeAt, at, created: { workspace, title } });
  }
  await log.close();
}

const blobs: Ports["blobs"] = {
  put: async () => "",
  get: async () => null,
  has: async () => false,
  size: async () => 0,
  delete: async () => undefined,
  collect: async () => 0,
};

async function replayed(log: Log, { row, instructions }: RecordedLog): Promise<string | null> {
  const director: Ports["director"] = {
    behaviour: 1,
    describe: () => [],
    describePassing: () => [],
    fit: (sections) => ({ sections, shed: [] }),
    tell: async () => [],
    compact: () => Promise.reject(new Error("nothing is shortened here")),
    direct: ({ tools, items }) => ({ instructions, tools, items }),
  };
  const report = await replaySession({ log, blobs, director, bodyDigest: async () => null }, row.session);
  return report.departure === null ? report.digest : null;
}

test("a folder in the place of the store is said to be one, by opening and by a look", () => {
  mkdirSync(path);
  for (const work of [() => openSqliteLog(path), () => inspectStore(path)]) {
    expect(work).toThrow(
      expect.objectContaining({ code: "store_failed", message: expect.stringContaining(`${path} is a folder`) as string }),
    );
  }
});

test("what is no database is damaged by what SQLite says, which doesn't say again that it is", () => {
  writeFileSync(path, "nothing of the kind ".repeat(1000));
  expect(inspectStore(path)).toEqual({ type: "damaged", problems: ["file is not a database"] });
});

test("whichever page is damaged, what can be read is saved, what isn't whole can't be gone on with, and the old file is kept", async () => {
  await makeStore();
  const whole = readFileSync(path);
  let partials = 0;
  const counts: number[] = [];
  for (let page = 0; page < whole.length / pageSize; page += 1) {
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, page * pageSize, (page + 1) * pageSize);
    writeFileSync(path, damaged);
    if (inspectStore(path).type !== "damaged") continue;
    const { aside, whole: kept, partial } = await salvageStore(path, `page-${page}`);
    expect(readFileSync(aside).equals(damaged), `the file beside it, page ${page}`).toBe(true);
    expect(inspectStore(path).type).toBe("whole");
    const log = openSqliteLog(path);
    for (const recorded of logs) {
      const { session } = recorded.row;
      const stored = await log.load(session);
      const events = await log.read(session, 1);
      expect(events).toEqual(recorded.events.slice(0, events.length));
      if (kept.includes(session)) expect(await replayed(log, recorded), `${session}, page ${page}`).toBe(recorded.digest);
      // Whoever goes on with a session finds that its log ends before its head.
      else if (stored !== null) expect((JSON.parse(stored.head) as { seq: number }).seq).toBeGreaterThan(events.length);
    }
    const listed = (await log.list({})).map(({ session }) => session).filter((session) => kept.includes(session));
    expect(listed, `the order, page ${page}`).toEqual(
      logs
        .map(({ row }) => row.session)
        .filter((session) => kept.includes(session))
        .reverse(),
    );
    partials += partial.length;
    counts.push(kept.length);
    await log.close();
  }
  expect(partials).toBeGreaterThan(0);
  // The first page, and those that say where all others of a table are: without one of them nothing can be found.
  const roots = counts.filter((count) => count === 0).length;
  expect(roots).toBeLessThanOrEqual(3);
  expect(Math.min(...counts.filter((count) => count > 0))).toBeGreaterThanOrEqual(logs.length - 2);
}, 60_000);

test("a file that was cut off is read as far as it goes", async () => {
  await makeStore();
  const cut = readFileSync(path).subarray(0, -10 * pageSize);
  writeFileSync(path, cut);
  const { aside, whole } = await salvageStore(path, "now");
  expect(whole.length).toBeGreaterThan(0);
  expect(readFileSync(aside).equals(cut)).toBe(true);
});

test("a head and registers that are lost follow from the events again", async () => {
  await makeStore();
  const db = new DatabaseSync(path);
  db.exec("DELETE FROM registers WHERE session = 1; DELETE FROM heads WHERE session = 2; UPDATE heads SET head = '{' WHERE session = 3");
  db.exec("UPDATE registers SET value = '{' WHERE session = 4");
  db.close();
  // The file is sound; a look finds them all the same.
  const damaged = logs.slice(0, 4).map(({ row }) => `the control state of ${row.session} can't be read`);
  expect(inspectStore(path)).toEqual({ type: "damaged", problems: damaged });
  const { whole, partial } = await salvageStore(path, "now");
  expect([whole.length, partial]).toEqual([logs.length, []]);
  expect(inspectStore(path).type).toBe("whole");
  const log = openSqliteLog(path);
  for (const recorded of logs) expect(await replayed(log, recorded)).toBe(recorded.digest);
  await log.close();
});

test("a snapshot that can't be read is left out, and its session follows from the events", async () => {
  await makeStore();
  const db = new DatabaseSync(path);
  db.exec("INSERT INTO snapshots (session, seq, head, registers) SELECT id, 2, '{', '[' FROM sessions");
  db.exec("UPDATE heads SET head = '{'");
  db.close();
  expect((await salvageStore(path, "now")).whole).toHaveLength(logs.length);
  const log = openSqliteLog(path);
  expect(await log.snapshot(logs[0]?.row.session ?? "", 2)).toBeNull();
  await log.close();
});

test("in a sound file, logs that lost events or have another end, and messages that can't be read, are found and mended", async () => {
  await makeStore();
  const [cut, gap, late, early, changed] = logs.map(({ row }) => row.session);
  const db = new DatabaseSync(path);
  db.exec("DELETE FROM events WHERE session = 1 AND seq = (SELECT max(seq) FROM events WHERE session = 1)");
  db.exec("DELETE FROM events WHERE session = 2 AND seq = 5");
  db.exec("UPDATE sessions SET seq = seq + 12 WHERE id = 3; UPDATE sessions SET seq = seq - 2 WHERE id = 4");
  const post = db.prepare("INSERT INTO inbox (session, number, message_id, body, at) VALUES (4, ?, ?, ?, 1)");
  const bodies = ["{", '{"type":"unheard.of"}', '{"type":"interrupt","by":"a person"}'];
  for (const [index, body] of bodies.entries()) post.run(index + 1, `m${index}`, body);
  const look = inspectStore(path);
  expect(look).toMatchObject({ type: "damaged" });
  expect(look.type === "damaged" ? look.problems.map((text) => [cut, gap, late, early].find((id) => text.includes(id ?? ""))) : []).toEqual(
    expect.arrayContaining([cut, gap, late, early]),
  );
  db.exec("UPDATE events SET payload = replace(payload, '}', ' }') WHERE session = 5 AND seq = 4");
  db.close();
  const damaged = openSqliteLog(path);
  const before = await examineLogs(damaged);
  expect(new Set(before.broken.map(({ session }) => session))).toEqual(new Set([cut, gap, late, early, changed]));
  // Not more is read than was asked for, and the rest is told.
  expect(await examineLogs(damaged, 1)).toMatchObject({ looked: 0, unseen: logs.length });
  await damaged.close();

  const { whole, partial, setAside } = await salvageStore(path, "now");
  expect([new Set(whole), setAside]).toEqual([new Set([late, early]), [1, 2].map((number) => ({ session: early, number }))]);
  expect(partial.map(({ session, events }) => [session, events])).toEqual(
    expect.arrayContaining([
      [gap, 4],
      [changed, 3],
    ]),
  );
  expect(inspectStore(path).type).toBe("whole");
  const log = openSqliteLog(path);
  expect(await examineLogs(log)).toMatchObject({ broken: [], lost: [], looked: logs.length, unseen: 0 });
  expect((await log.inbox(early ?? "")).map(({ body }) => body)).toEqual(bodies.slice(2));
  for (const recorded of [logs[2], logs[3]]) if (recorded !== undefined) expect(await replayed(log, recorded)).toBe(recorded.digest);
  await log.close();
  // A second repair has nothing to do, and would change nothing.
  expect((await salvageStore(path, "again")).partial).toEqual(partial);
});

test("what a fork shares of a deleted session and doesn't hold together is shared no more", async () => {
  const log = openSqliteLog(path);
  const [recorded] = logs;
  if (recorded === undefined) throw new Error("no log");
  const { session, workspace, title, status, wakeAt, updatedAt: at } = recorded.row;
  const rest = { registers: [], taken: [], outbox: [], blobRefs: [], status, wakeAt, at };
  const { events, head } = recorded;
  await log.commit({ session, expectedSeq: 0, events, head, ...rest, created: { workspace, title } });
  const tip = events.at(-1) ?? { seq: 0, hash: "" };
  const [own] = chain("fork", tip, [{ type: "item.erased", payload: { itemId: "i", kept: [] } } as unknown as SessionEvent], at, () => "s");
  const forkHead = JSON.stringify({ ...(JSON.parse(head) as object), seq: tip.seq + 1, hash: own?.hash });
  const created = { workspace, title, fork: { session, seq: tip.seq, tip: tip.seq } };
  await log.commit({ session: "fork", expectedSeq: tip.seq, events: own === undefined ? [] : [own], head: forkHead, ...rest, created });
  await log.delete(session);
  expect((await examineLogs(log)).broken).toEqual([]);
  await log.close();
  const db = new DatabaseSync(path);
  db.exec("UPDATE events SET payload = '{}' WHERE session = 1 AND seq = 4");
  db.close();
  expect((await salvageStore(path, "now")).partial).toEqual([{ session: "fork", events: 3, of: tip.seq + 1 }]);
  const mended = openSqliteLog(path);
  expect([await examineLogs(mended), await mended.read("fork", 1)]).toMatchObject([{ broken: [], cut: ["fork"] }, events.slice(0, 3)]);
  await mended.close();
});

test("a store that another process has open, though idle, is left alone", async () => {
  await makeStore();
  const source = `
    import { DatabaseSync } from "node:sqlite";
    const db = new DatabaseSync(${JSON.stringify(path)});
    db.prepare("SELECT count(*) FROM sessions").get();
    console.log("open");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(child.stdout, "data");
    await expect(salvageStore(path, "now")).rejects.toMatchObject({ code: "store_failed" });
    expect(readdirSync(folder).filter((name) => name.includes("damaged") || name.includes("salvaged"))).toEqual([]);
  } finally {
    child.kill("SIGKILL");
    await once(child, "close");
  }
  expect((await salvageStore(path, "now")).whole).toHaveLength(logs.length);
});

test("a file in which SQLite knows no database is kept aside for an empty store", async () => {
  writeFileSync(path, "not a database, ".repeat(1000));
  const { aside, whole, partial } = await salvageStore(path, "now");
  expect({ whole, partial }).toEqual({ whole: [], partial: [] });
  expect(readFileSync(aside, "utf8")).toContain("not a database");
  expect(inspectStore(path)).toMatchObject({ type: "whole", strayRows: 0 });
});

test("rows that belong to no session and locks of the dead go; those of the living stay", async () => {
  const log = openSqliteLog(path);
  await log.commit(commitOf("s", 0));
  await log.lock("session:s", owner(1), () => true);
  await log.lock("open:s", owner(2), () => true);
  const db = new DatabaseSync(path);
  db.exec("INSERT INTO inbox (session, number, message_id, body, at) VALUES (99, 1, 'm', '{}', 0)");
  db.exec("INSERT INTO blob_refs (session, blob, seq) VALUES (99, 'b', 1)");
  db.close();
  expect(inspectStore(path)).toMatchObject({ type: "whole", strayRows: 2, sessions: new Set(["s"]) });
  expect(tidyStore(path, ({ pid }) => pid === 2)).toEqual({ rows: 2, locks: 1 });
  expect(inspectStore(path)).toMatchObject({ strayRows: 0, locks: [{ name: "open:s" }] });
  expect(await log.holder("open:s")).toMatchObject({ pid: 2 });
  expect(await log.load("s")).not.toBeNull();
  await log.close();
});
