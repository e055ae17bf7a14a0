import { expect, test } from "vitest";
import type { Commit, Log } from "../src/index.ts";
import { drive, post } from "../src/index.ts";
import { createTestModel, createTestTool, createWorld, newSession, portsOf, say } from "./kit.ts";

/** Counts what a turn writes and reads. */
function counting(log: Log): Log & { taken(): { written: number; read: number } } {
  let written = 0;
  let read = 0;
  return {
    ...log,
    commit: async (commit: Commit) => {
      written += commit.head.length + JSON.stringify([commit.events, commit.registers]).length;
      await log.commit(commit);
    },
    read: async (session, from, to) => {
      const events = await log.read(session, from, to);
      read += events.length;
      return events;
    },
    taken: () => {
      const counted = { written, read };
      written = 0;
      read = 0;
      return counted;
    },
  };
}

test("F02 O(n^2) persistence: turn 2,000 writes as much as turn 20, and reads no event of the turns before", async () => {
  const tool = createTestTool({ name: "read" });
  const model = createTestModel((index) => (index % 2 === 0 ? { calls: [{ name: "read", input: { of: "a file" } }] } : {}));
  const world = createWorld({ model, tools: [tool] });
  const log = counting(world.log);
  const ports = { ...portsOf(world), log };
  const session = await newSession(ports);
  const turns: { written: number; read: number }[] = [];
  for (let turn = 1; turn <= 2_000; turn += 1) {
    await post(ports, session, say("and on"));
    log.taken();
    await drive(ports, session, { waiting: "return" });
    model.requests.length = 0;
    turns.push(log.taken());
  }
  const [early, late] = [turns[19], turns[1_999]];
  expect(late?.read).toBe(0);
  expect(early?.read).toBe(0);
  // Numbers grow by digits.
  expect(late?.written).toBeLessThan((early?.written ?? 0) * 1.1);
});
