import { openSqliteLog } from "@holdfast/stores/sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Log, Ports } from "../src/index.ts";
import { drive, forkSession, post, readSession, verifyLog } from "../src/index.ts";
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
  expect(await verifyLog(ports, session)).toEqual({ events: seq, erased: 0, signatures: { good: 2, bad: [], unknown: 0 }, fault: null });
  const fork = await forkSession(ports, session);
  await post(ports, fork.session, say("again"));
  await drive(ports, fork.session, { waiting: "return" });
  expect(await verifyLog(ports, fork.session)).toMatchObject({ signatures: { good: 3, bad: [], unknown: 0 }, fault: null });
  const stranger = { log, signer: { ...ports.signer, keyId: "another" } };
  expect(await verifyLog(stranger, session)).toMatchObject({ signatures: { good: 0, bad: [], unknown: 2 } });
});

test.each([
  ["a payload", "UPDATE events SET payload = replace(payload, 'answer 1', 'answer X') WHERE payload LIKE '%answer 1%'", "payload"],
  ["a time", "UPDATE events SET at = at + 1 WHERE seq = 4", "hash"],
  ["an event's type", "UPDATE events SET type = 'notice.added' WHERE seq = 3", "hash"],
  ["a hash", "UPDATE events SET hash = 'ff' WHERE seq = 3", "hash"],
  ["an event that is missing", "DELETE FROM events WHERE seq = 3", "order"],
  ["an end that is missing", "DELETE FROM events WHERE seq > 8", "missing"],
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

test("a chain that was written anew as a whole shows by its signature", async () => {
  const { ports, session } = await twoTurns();
  tamper("UPDATE events SET payload = replace(payload, '\"signature\":\"signed', '\"signature\":\"forged') WHERE type = 'tip.signed'");
  const { fault } = await verifyLog(ports, session);
  expect(fault?.fault).toBe("payload");
  const forging = { log, signer: { ...ports.signer, verify: async () => false } };
  expect((await verifyLog(forging, session)).signatures.bad).toHaveLength(2);
});
