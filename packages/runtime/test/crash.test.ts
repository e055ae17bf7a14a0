import { describe, expect, test } from "vitest";
import type { CallPlan } from "@holdfast/protocol";
import type { DriveEnd, ProbeFinding, Stop } from "../src/index.ts";
import { drive, post, readSession } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { Crash, crashAt, createTestModel, createTestTool, createWorld, done, newSession, portsOf, say, testCheck } from "./kit.ts";

/** A target outside: it counts what really happened. */
function createTarget(replay: "safe" | "keyed" | "probe" | "never") {
  const happened = new Map<string, number>();
  const keys = new Set<string>();
  const tool = createTestTool({
    name: "act",
    replay,
    exclusive: true,
    changesWorkspace: true,
    run: async (intent) => {
      if (replay === "keyed" && keys.has(intent.key)) return done("answered from the record");
      keys.add(intent.key);
      happened.set(intent.callId, (happened.get(intent.callId) ?? 0) + 1);
      return done("acted");
    },
    ...(replay === "probe"
      ? {
          probe: async (intent): Promise<ProbeFinding> =>
            happened.has(intent.callId) ? { type: "happened", outcome: done("acted") } : { type: "not_happened" },
        }
      : {}),
  });
  return { tool, happened };
}

describe.each(["safe", "keyed", "probe", "never"] as const)("killed at every stop, class %s", (replay) => {
  test("nothing is lost, nothing silently repeated, nothing silently forgotten, and the session goes on", async () => {
    let endedWithoutCrash = false;
    let inDoubt = 0;
    for (let n = 1; !endedWithoutCrash; n += 1) {
      const { tool, happened } = createTarget(replay);
      const model = createTestModel((index) => (index < 2 ? { calls: [{ name: "act", input: { index } }] } : { text: "done" }));
      const world = createWorld({ model, tools: [tool], check: () => true });
      const session = await newSession(portsOf(world), {}, [testCheck]);
      await post(portsOf(world), session, say("go"), "msg_1");
      let end: DriveEnd | null = null;
      try {
        end = await drive(portsOf(world, 1), session, { waiting: "return", stops: crashAt(n) });
        endedWithoutCrash = true;
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
        await expectLaw(world.log, session);
        // The inbox row of a doubled message is one.
        await post(portsOf(world), session, say("go"), "msg_1");
        end = await drive(portsOf(world, 2), session, { waiting: "return" });
      }
      expect(["verified", "idle"], `stop ${n}`).toContain(end.standing);
      await expectLaw(world.log, session);
      const view = await readSession(world, session);
      expectPaired(view.items);
      expect(view.turns).toHaveLength(1);
      expect(view.turns[0]?.outcome).toBe("verified");
      const settled = view.events.flatMap((event) => (event.type === "call.settled" ? [event.payload] : []));
      expect(settled).toHaveLength(2);
      for (const { callId, outcome } of settled) {
        const times = happened.get(callId) ?? 0;
        if (outcome.status === "in_doubt") inDoubt += 1;
        else expect(times, `stop ${n}: ${outcome.status}`).toBeGreaterThanOrEqual(1);
        if (replay !== "safe") expect(times, `stop ${n}`).toBeLessThanOrEqual(1);
      }
    }
    expect(inDoubt > 0).toBe(replay === "never");
  });
});

test("a frozen driver that thaws after another recovered can't act", async () => {
  const { tool, happened } = createTarget("never");
  const model = createTestModel((index) => (index < 1 ? { calls: [{ name: "act", input: {} }] } : { text: "done" }));
  const world = createWorld({ model, tools: [tool] });
  const session = await newSession(portsOf(world));
  await post(portsOf(world), session, say("go"));
  let thaw = (): void => undefined;
  let froze = (): void => undefined;
  const frozen = new Promise<void>((resolve) => (froze = resolve));
  const first = drive(portsOf(world, 1), session, {
    waiting: "return",
    stops: (stop) =>
      stop.what === "effect" && stop.when === "before" && stop.name.startsWith("call:")
        ? new Promise((resolve) => ((thaw = resolve), froze()))
        : Promise.resolve(),
  });
  await frozen;
  const end = await drive(portsOf(world, 2), session, { waiting: "return" });
  expect(end.standing).toBe("unverified");
  expect([...happened.values()]).toEqual([1]);
  thaw();
  await expect(first).rejects.toMatchObject({ code: "claim_lost" });
  expect([...happened.values()]).toEqual([1]);
  await expectLaw(world.log, session);
});

test("a call with a key that got no answer is asked again with the same key, and only so often", async () => {
  for (const answersAt of [2, Number.POSITIVE_INFINITY]) {
    const tool = createTestTool({
      name: "send",
      replay: "keyed",
      run: async (intent) => {
        if (intent.attempt >= answersAt) return done("answered from the record");
        throw new Error("connection reset");
      },
    });
    const model = createTestModel((index) => (index < 1 ? { calls: [{ name: "send", input: {} }] } : {}));
    const world = createWorld({ model, tools: [tool] });
    const session = await newSession(portsOf(world));
    await post(portsOf(world), session, say("go"));
    await drive(portsOf(world), session, { waiting: "return" });
    expect(new Set(tool.runs.map((intent) => intent.key)).size).toBe(1);
    expect(tool.runs).toHaveLength(Math.min(answersAt, 3));
    expect((await readSession(world, session)).inDoubt).toHaveLength(answersAt === 2 ? 0 : 1);
    await expectLaw(world.log, session);
  }
});

describe("a call with a key that may have happened", () => {
  /** Sends once, loses the answer, and is then disturbed; tells what became of the call. */
  async function lose(options: {
    lifetimeMs?: number;
    reconcile?: () => Promise<ProbeFinding>;
    disturb: "crash and interrupt" | "interrupt" | "wait and crash";
  }) {
    const sent: number[] = [];
    const plain = createTestTool({
      name: "send",
      replay: "keyed",
      run: async (intent) => {
        sent.push(intent.attempt);
        if (options.disturb === "interrupt") await post(portsOf(world), session, { type: "interrupt", by: "test" });
        throw new Error("connection reset");
      },
    });
    const tool = {
      ...plain,
      plan: async (...given: Parameters<typeof plain.plan>) => ({
        ...((await plain.plan(...given)) as CallPlan),
        ...(options.lifetimeMs === undefined ? {} : { keyLifetimeMs: options.lifetimeMs }),
      }),
      ...(options.reconcile === undefined ? {} : { reconcile: options.reconcile }),
    };
    const model = createTestModel((index) => (index < 1 ? { calls: [{ name: "send", input: {} }] } : {}));
    const world = createWorld({ model, tools: [tool] });
    const session = await newSession(portsOf(world));
    await post(portsOf(world), session, say("go"));
    const stops = async (stop: Stop): Promise<void> => {
      if (options.disturb !== "interrupt" && stop.what === "effect" && stop.when === "after" && stop.name.startsWith("call:"))
        throw new Crash("crash");
    };
    await drive(portsOf(world, 1), session, { waiting: "return", stops }).catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
    if (options.disturb === "crash and interrupt") await post(portsOf(world), session, { type: "interrupt", by: "test" });
    if (options.disturb === "wait and crash") world.clock.advance(60_000);
    await drive(portsOf(world, 2), session, { waiting: "return" });
    await expectLaw(world.log, session);
    const settled = (await readSession(world, session)).events.flatMap((event) =>
      event.type === "call.settled" ? [event.payload.outcome] : [],
    );
    return { sent, outcome: settled[0] };
  }

  test("is never called undone because the turn was interrupted before its target was asked again", async () => {
    expect((await lose({ disturb: "crash and interrupt" })).outcome?.status).toBe("in_doubt");
    expect((await lose({ disturb: "interrupt" })).outcome?.status).toBe("in_doubt");
  });

  test("is not sent again once its target has forgotten the key, unless the tool finds out that it did not happen", async () => {
    const forgotten = await lose({ lifetimeMs: 30_000, disturb: "wait and crash" });
    expect([forgotten.outcome?.status, forgotten.sent]).toEqual(["in_doubt", [1]]);
    const happened = async (): Promise<ProbeFinding> => ({ type: "happened", outcome: done("found in the target's list") });
    expect((await lose({ lifetimeMs: 30_000, disturb: "wait and crash", reconcile: happened })).outcome).toMatchObject({
      text: "found in the target's list",
    });
    const absent = await lose({ lifetimeMs: 30_000, disturb: "wait and crash", reconcile: async () => ({ type: "not_happened" }) });
    expect(absent.sent.slice(0, 2)).toEqual([1, 2]);
  });
});

test("a new call equal to one in doubt is named as such to the policy", async () => {
  const asked: boolean[] = [];
  const tool = createTestTool({
    name: "charge",
    replay: "never",
    run: async () => {
      throw new Error("connection reset");
    },
  });
  const model = createTestModel((index) => (index < 2 ? { calls: [{ name: "charge", input: { cents: 5 } }] } : {}));
  const world = createWorld({ model, tools: [tool] });
  const ports = portsOf(world);
  const policy = {
    decide: (request: Parameters<typeof ports.policy.decide>[0]) => (asked.push(request.repeatsDoubt), ports.policy.decide(request)),
  };
  const session = await newSession(ports);
  await post(ports, session, say("go"));
  await drive({ ...ports, policy }, session, { waiting: "return" });
  expect(asked).toEqual([false, true]);
  expect((await readSession(world, session)).inDoubt).toHaveLength(2);
});

test("a commit that can't be saved stops the driver before the effect, and the session goes on once there is room", async () => {
  const { tool, happened } = createTarget("never");
  const model = createTestModel((index) => (index < 1 ? { calls: [{ name: "act", input: {} }] } : { text: "done" }));
  const world = createWorld({ model, tools: [tool] });
  const session = await newSession(portsOf(world));
  await post(portsOf(world), session, say("go"));
  const ports = portsOf(world);
  let commits = 0;
  const full = {
    ...ports,
    log: {
      ...ports.log,
      commit: async (commit: Parameters<typeof ports.log.commit>[0]) => {
        commits += 1;
        if (commits === 2) throw Object.assign(new Error("disk full"), { code: "store_full" });
        await world.log.commit(commit);
      },
    },
  };
  await expect(drive(full, session, { waiting: "return" })).rejects.toThrow("disk full");
  expect(happened.size).toBe(0);
  expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
  expect([...happened.values()]).toEqual([1]);
});
