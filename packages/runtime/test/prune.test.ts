import { describe, expect, test } from "vitest";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Ports } from "../src/index.ts";
import { deleteSession, drive, forkSession, holdSession, planPrune, post, prune, readSession, totalOf } from "../src/index.ts";
import { memoryStore, sqliteStore } from "./erasing.ts";
import { createTestModel, createTestTool, createWorld, allow, newSession, portsOf, say } from "./kit.ts";

const day = 24 * 60 * 60 * 1000;
const everything = { olderThanMs: null, maxBytes: null, workspaces: null, atMost: null, weighsAll: true };

/** A world whose clock a test sets, and a session a day. */
function place(open: typeof memoryStore, policy?: Parameters<typeof createWorld>[0]["policy"]) {
  const store = open();
  const ask = createTestTool({ name: "ask" });
  const model = createTestModel((index) => (policy === undefined ? { text: `answer ${index}` } : { calls: [{ name: "ask", input: "x" }] }));
  const world = { ...createWorld({ model, tools: [ask], ...(policy === undefined ? {} : { policy }) }), ...store };
  const at = { now: 0 };
  const removed: string[] = [];
  const plain = portsOf(world);
  const ports: Ports = {
    ...plain,
    clock: { ...plain.clock, now: () => at.now },
    processes: {
      ...plain.processes,
      isAlive: (owner) => owner.label === "alive",
      remains: async () => ({ bytes: 100, isRunning: false }),
      endSession: async (session, { forget }) => void (forget && removed.push(session)),
    },
  };
  const make = async (days: number, text = "hello"): Promise<string> => {
    at.now = days * day;
    const session = await newSession(ports);
    await post(ports, session, say(text));
    await drive(ports, session, { waiting: "return" });
    return session;
  };
  const namesLeft = async () => (await ports.log.list({})).map(({ session }) => session).sort();
  return { ports, at, removed, make, namesLeft };
}

describe.each([
  ["memory", memoryStore],
  ["SQLite", sqliteStore],
] as const)("pruning, in %s", (_, open) => {
  test("by age: the plan says what would go and what that frees, and changes nothing", async () => {
    const { ports, at, make, namesLeft, removed } = place(open);
    const [first, second, third] = [await make(1), await make(2), await make(30)];
    at.now = 32 * day;
    const plan = await planPrune(ports, { ...everything, olderThanMs: 30 * day });
    expect(plan.going.map(({ row }) => row.session)).toEqual([first, second]);
    expect(plan.looked).toBe(3);
    for (const { sizes } of plan.going) {
      expect(sizes.log).toBeGreaterThan(500);
      expect(sizes.outputs).toBe(100);
    }
    expect(totalOf(plan.sizes)).toBeGreaterThan(plan.going.reduce((sum, { sizes }) => sum + totalOf(sizes), 0));
    const brief = await planPrune(ports, { ...everything, olderThanMs: 30 * day, weighsAll: false });
    expect(brief).toEqual({ ...plan, sizes: { log: 0, blobs: 0, outputs: 0 } });
    expect(await namesLeft()).toEqual([first, second, third].sort());
    expect(await prune(ports, plan)).toEqual([first, second]);
    expect(await namesLeft()).toEqual([third]);
    expect(removed.sort()).toEqual([first, second].sort());
  });

  test("by size: the longest unchanged go until the rest fits, and nothing that changed lately", async () => {
    const { ports, at, make } = place(open);
    const sessions = [await make(1), await make(2), await make(3)];
    at.now = 10 * day;
    const { sizes } = await planPrune(ports, everything);
    const plan = await planPrune(ports, { ...everything, maxBytes: Math.ceil(totalOf(sizes) / 2) });
    expect(plan.going.map(({ row }) => row.session)).toEqual(sessions.slice(0, 2));
    at.now = 3 * day + 60_000;
    expect((await planPrune(ports, { ...everything, maxBytes: 1 })).going.map(({ row }) => row.session)).toEqual(sessions.slice(0, 2));
    expect((await planPrune(ports, { ...everything, maxBytes: 1, atMost: 1 })).going).toHaveLength(1);
    expect((await planPrune(ports, { ...everything, maxBytes: 1, workspaces: ["/elsewhere"] })).going).toEqual([]);
    expect((await planPrune(ports, everything)).going).toEqual([]);
  });

  test("a session that waits for a person, was written to, is driven, or has a program running stays", async () => {
    const waiting = place(open, () => ({ ...allow, decision: "review" }));
    const asked = await waiting.make(1);
    waiting.at.now = 99 * day;
    const plan = await planPrune(waiting.ports, { ...everything, olderThanMs: day });
    expect([plan.going, plan.inUse]).toEqual([[], 1]);
    expect((await readSession(waiting.ports, asked)).openApprovals).toHaveLength(1);

    const { ports, at, make } = place(open);
    const [written, driven, running, opened, left] = [await make(1), await make(1), await make(1), await make(1), await make(1)];
    at.now = 99 * day;
    await post(ports, written, say("later"));
    await ports.log.lock(`session:${driven}`, { ...ports.processes.owner, label: "alive" }, () => true);
    const alive = { ...ports, processes: { ...ports.processes, owner: { ...ports.processes.owner, label: "alive" } } };
    await holdSession(alive, opened);
    await (
      await holdSession(alive, left)
    )();
    const remains = async (session: string) => ({ bytes: 0, isRunning: session === running });
    const watched = { ...ports, processes: { ...ports.processes, remains } };
    const wish = { ...everything, olderThanMs: day, maxBytes: 1 };
    expect(await planPrune(watched, wish)).toMatchObject({ going: [{ row: { session: left } }], inUse: 4 });
  });

  test("a session that is taken up between the plan and the deletion stays", async () => {
    const { ports, at, make, namesLeft } = place(open);
    const [written, gone, changed] = [await make(1), await make(1), await make(1)];
    at.now = 99 * day;
    const plan = await planPrune(ports, { ...everything, olderThanMs: day });
    expect(plan.going).toHaveLength(3);
    await post(ports, written, say("later"));
    await post(ports, changed, say("later"));
    await drive(ports, changed, { waiting: "return" });
    const fresh = await newSession(ports);
    expect(await prune(ports, plan)).toEqual([gone]);
    expect(await namesLeft()).toEqual([written, changed, fresh].sort());
  });

  test("on a full disk what its commands left goes first, and where a fork shares it nothing goes", async () => {
    const { ports, at, make, namesLeft, removed } = place(open);
    const [alone, shared] = [await make(1), await make(1)];
    const { session: fork } = await forkSession(ports, shared);
    at.now = 99 * day;
    // The log has no room until something of the session's was removed.
    const log: Ports["log"] = {
      ...ports.log,
      delete: async (session, restsAt) => {
        if (!removed.includes(session)) throw new HoldfastError("store_full", "the disk is full");
        return ports.log.delete(session, restsAt);
      },
    };
    await deleteSession({ ...ports, log }, alone);
    expect(await namesLeft()).toEqual([shared, fork].sort());
    await expect(deleteSession({ ...ports, log }, shared)).rejects.toMatchObject({ code: "store_full" });
    expect(await namesLeft()).toEqual([shared, fork].sort());
    expect(new Set(removed)).toEqual(new Set([alone]));
  });

  test("what a fork needs stays, with the outputs of its commands, and is not counted as free", async () => {
    const { ports, at, make, removed } = place(open);
    const old = await make(1, "x".repeat(20_000));
    at.now = 50 * day;
    const { session: fork } = await forkSession(ports, old);
    const items = (await readSession(ports, fork)).items;
    const plan = await planPrune(ports, { ...everything, olderThanMs: 30 * day });
    expect(plan.going.map(({ row }) => row.session)).toEqual([old]);
    expect(plan.going[0]?.sizes.log).toBeLessThan(20_000);
    expect(plan.going[0]?.sizes.outputs).toBe(0);
    expect(await prune(ports, plan)).toEqual([old]);
    expect(removed).toEqual([]);
    expect((await readSession(ports, fork)).items).toEqual(items);
    // With the fork all of it goes.
    at.now = 99 * day;
    const last = await planPrune(ports, { ...everything, olderThanMs: 30 * day });
    expect(last.going[0]?.sizes.log).toBeGreaterThan(20_000);
    expect(await prune(ports, last)).toEqual([fork]);
    expect(removed.sort()).toEqual([old, fork].sort());
  });
});
