import type { StoredEvent } from "@holdfast/protocol";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { KnownKeys, Log, Ports } from "../src/index.ts";
import { drive, forkSession, headerHash, isWhole, payloadDigest, post, readSession, verifyLog } from "../src/index.ts";
import { createTestModel, createTestTool, createWorld, portsOf, runPrompt, say } from "./kit.ts";

let folder: string;
let log: Log;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-verify-"));
  log = openSqliteLog({ path: join(folder, "sessions.db"), durability: "normal" });
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What somebody does who can write the file. */
function tamper(sql: string): void {
  const db = new DatabaseSync(join(folder, "sessions.db"));
  expect(db.prepare(sql).run().changes).toBeGreaterThan(0);
  db.close();
}

async function twoTurns(): Promise<{ ports: Ports; session: string }> {
  const model = createTestModel((index) => (index === 0 ? { calls: [{ name: "look", input: "x" }] } : { text: `answer ${index}` }));
  const ports = portsOf({ ...createWorld({ model, tools: [createTestTool({ name: "look" })] }), log });
  const { session } = await runPrompt(ports);
  await post(ports, session, say("again"));
  await drive(ports, session, { waiting: "return" });
  return { ports, session };
}

test("a log that nobody touched is whole, each turn's end is signed, and so is a fork's", async () => {
  const { ports, session } = await twoTurns();
  const { seq } = (await readSession(ports, session)).row;
  expect(await verifyLog(ports, session)).toEqual({
    events: seq,
    erased: 0,
    signatures: { good: 2, bad: [], unknown: 0, missing: [] },
    fault: null,
  });
  const fork = await forkSession(ports, session);
  await post(ports, fork.session, say("again"));
  await drive(ports, fork.session, { waiting: "return" });
  expect(await verifyLog(ports, fork.session)).toMatchObject({ signatures: { good: 3, bad: [], unknown: 0, missing: [] }, fault: null });
  const stranger = { log, signer: { ...ports.signer, keyId: "another" } };
  expect(await verifyLog(stranger, session)).toMatchObject({ signatures: { good: 0, bad: [], unknown: 2 } });
  const others: KnownKeys = {
    verify: (keyId, text, signature) => (keyId === "k" ? ports.signer.verify(text, signature) : Promise.resolve(null)),
  };
  expect(await verifyLog(stranger, session, others)).toMatchObject({ signatures: { good: 2, bad: [], unknown: 0 } });
});

test.each([
  ["a payload", "UPDATE events SET payload = replace(payload, 'answer 1', 'answer X') WHERE payload LIKE '%answer 1%'", "payload"],
  ["a time", "UPDATE events SET at = at + 1 WHERE seq = 4", "hash"],
  ["an event's type", "UPDATE events SET type = 'notice.added' WHERE seq = 3", "hash"],
  ["a hash", "UPDATE events SET hash = 'ff' WHERE seq = 3", "hash"],
  ["an event that is missing", "DELETE FROM events WHERE seq = 3", "order"],
  ["an end that is missing", "DELETE FROM events WHERE seq > 8", "missing"],
  ["a row that ends later", "UPDATE sessions SET seq = seq + 12", "end"],
  ["a row that ends earlier", "UPDATE sessions SET seq = seq - 8", "end"],
  ["two events that changed places", "UPDATE events SET seq = CASE seq WHEN 3 THEN -4 ELSE -3 END WHERE seq IN (3, 4)", "order"],
])("%s is found, and nobody goes on with such a session or forks it", async (_, sql, fault) => {
  const { ports, session } = await twoTurns();
  tamper(sql);
  expect((await verifyLog(ports, session)).fault?.fault).toBe(fault);
  await expect(forkSession(ports, session)).rejects.toMatchObject({ code: "session_corrupt" });
  await post(ports, session, say("go on"));
  // By another process: the one that drove it last has its window still.
  const owner = { ...ports.processes.owner, pid: 2 };
  const next = { ...ports, processes: { ...ports.processes, owner, isAlive: () => false } };
  await expect(drive(next, session, { waiting: "return" })).rejects.toMatchObject({ code: "session_corrupt" });
});

test.each([
  ["a payload that was taken away", "UPDATE events SET payload = NULL, salt = NULL WHERE seq = 5"],
  [
    "a payload that was changed, and its salt taken away",
    "UPDATE events SET payload = replace(payload, 'answer 1', 'answer X'), salt = NULL WHERE payload LIKE '%answer 1%'",
  ],
])("%s is found", async (_, sql) => {
  const { ports, session } = await twoTurns();
  tamper(sql);
  expect((await verifyLog(ports, session)).fault?.fault).toBe("payload");
});

/** The whole log of a session written anew, with hashes that fit, by somebody who has no key. */
function rewrite(session: string, change: (events: StoredEvent[]) => StoredEvent[]): void {
  const db = new DatabaseSync(join(folder, "sessions.db"));
  const row = db.prepare("SELECT id, head FROM sessions JOIN heads ON heads.session = sessions.id WHERE sessions.session = ?").get(session);
  const { id, head } = row as { id: number; head: string };
  const stored = db.prepare("SELECT * FROM events WHERE session = ? ORDER BY seq").all(id) as unknown as StoredEvent[];
  let prev = "";
  const made = change(stored).map((event, index) => {
    const header = { ...event, session, seq: index + 1, prev, digest: payloadDigest(event.salt ?? "", event.payload ?? "") };
    prev = headerHash(header);
    return { ...header, hash: prev };
  });
  db.prepare("DELETE FROM events WHERE session = ?").run(id);
  const columns = ["seq", "type", "version", "at", "prev", "digest", "hash", "salt", "payload"] as const;
  const insert = db.prepare(`INSERT INTO events (session, ${columns.join(", ")}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  for (const event of made) insert.run(id, ...columns.map((name) => event[name]));
  const fitting = JSON.stringify({ ...(JSON.parse(head) as object), seq: made.length, hash: prev });
  db.prepare("UPDATE heads SET head = ? WHERE session = ?").run(fitting, id);
  db.prepare("UPDATE sessions SET seq = ? WHERE id = ?").run(made.length, id);
  db.close();
}

test.each<[string, (events: StoredEvent[]) => StoredEvent[], "bad" | "missing"]>([
  ["changed", (events) => events.map((one) => ({ ...one, payload: one.payload?.replace("answer 1", "answer X") ?? null })), "bad"],
  ["cut off at its beginning", (events) => events.filter(({ seq }) => seq > 2), "bad"],
  ["without its signatures", (events) => events.filter(({ type }) => type !== "tip.signed"), "missing"],
])("a log written anew, %s, with hashes that fit shows by its signatures", async (_, change, where) => {
  const { ports, session } = await twoTurns();
  rewrite(session, change);
  const report = await verifyLog(ports, session);
  expect([report.fault, report.signatures.good, report.signatures[where].length, isWhole(report)]).toEqual([null, 0, 2, false]);
});

test("any changed character of an event, in whatever column, is found; so is one less or one twice", async () => {
  const { ports, session } = await twoTurns();
  const { seq } = (await readSession(ports, session)).row;
  const stored = await log.read(session, 1, seq);
  const columns = ["seq", "type", "version", "at", "prev", "digest", "hash", "salt", "payload"] as const;
  const isFound = async (changed: readonly StoredEvent[]): Promise<boolean> => {
    const other: Log = { ...log, read: async () => [...changed] };
    return verifyLog({ ...ports, log: other }, session).then(
      (report) => !isWhole(report),
      () => true,
    );
  };
  expect(await isFound(stored)).toBe(false);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(seq - 1),
      fc.constantFrom(...columns),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (index, column, at, by) => {
        const event = stored[index]!;
        const was = event[column];
        const flip = (text: string): string => {
          const where = at % Math.max(1, text.length);
          return text === "" ? "x" : text.slice(0, where) + String.fromCharCode(text.charCodeAt(where) ^ by) + text.slice(where + 1);
        };
        const now = typeof was === "number" ? was + by : flip(was ?? "");
        expect(await isFound(stored.map((one) => (one === event ? { ...event, [column]: now } : one)))).toBe(true);
        expect(await isFound(stored.filter((one) => one !== event))).toBe(true);
        expect(await isFound(stored.flatMap((one) => (one === event ? [one, one] : [one])))).toBe(true);
      },
    ),
    { numRuns: 200 },
  );
});

test("a chain that was written anew as a whole shows by its signature", async () => {
  const { ports, session } = await twoTurns();
  tamper("UPDATE events SET payload = replace(payload, '\"signature\":\"signed', '\"signature\":\"forged') WHERE type = 'tip.signed'");
  const { fault } = await verifyLog(ports, session);
  expect(fault?.fault).toBe("payload");
  const forging = { log, signer: { ...ports.signer, verify: async () => false } };
  expect((await verifyLog(forging, session)).signatures.bad).toHaveLength(2);
});
