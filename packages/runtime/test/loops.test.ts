import { defaultLimits, type CallOutcome, type CallPlan, type Json, type Limits, type Usage } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { readSession, type CallIntent, type Model } from "../src/index.ts";
import { repeatsOf } from "../src/kernel/identity.ts";
import { repeated, repeatsAtStart } from "../src/kernel/repeats.ts";
import { expectLaw } from "./invariants.ts";
import { createTestModel, createTestTool, createWorld, done, portsOf, runPrompt, testCheck } from "./kit.ts";

interface Call {
  readonly name: string;
  readonly input: Json;
}
type Wanted = (n: number) => Call | readonly Call[];

/** A model that makes these calls one after the other, those of a list side by side, in 60 steps at most; the tools answer by `run`. */
async function loop(wanted: Wanted, run: (intent: CallIntent, n: number) => CallOutcome | Promise<CallOutcome>, last = 60) {
  let calls = 0;
  const names = ["read", "status", "commit"];
  const tools = names.map((name) => createTestTool({ name, run: async (intent) => run(intent, (calls += 1)) }));
  const model = createTestModel((n) => (n < last ? { calls: [wanted(n)].flat() } : { text: "done" }));
  const world = createWorld({ model, tools });
  const { session, end } = await runPrompt(portsOf(world));
  const { events } = await readSession(world, session);
  await expectLaw(world.log, session);
  return {
    end,
    calls: () => calls,
    reached: events.flatMap((event) => (event.type === "limit.reached" ? [event.payload] : [])),
    told: events.flatMap((event) => (event.type === "notice.added" ? [event.payload.notice.text] : [])),
  };
}

const same = () => done("the same");
const read: Wanted = () => ({ name: "read", input: { path: "a.txt" } });

describe("doom loop (C01)", () => {
  test("the same call with the same result: the model is told before the last round, then the turn ends as exhausted and says why", async () => {
    const { end, calls, told, reached } = await loop(read, same);
    expect(end).toMatchObject({ standing: "exhausted", exitStatus: 5 });
    expect(calls()).toBe(4);
    expect(told).toEqual([expect.stringContaining("the same result from read, 3 times in a row")]);
    expect(told[0]).toContain("At 4 the turn ends");
    expect(reached).toEqual([{ limit: "sameCallSameResult", value: 4, max: 4 }]);
    expect(end.report?.reasons.join("\n")).toMatch(/done: 4 steps and 4 tool calls/);
  });

  test.each([
    [2, 8],
    [3, 12],
  ])("a cycle of %i calls", async (length, most) => {
    const names = ["read", "status", "commit"].slice(0, length);
    const { end, calls, told, reached } = await loop((n) => ({ name: names[n % length]!, input: {} }), same);
    expect([end.standing, calls()]).toEqual(["exhausted", most]);
    expect(told).toHaveLength(1);
    expect(reached).toEqual([{ limit: "cycle", value: 4, max: 4 }]);
    expect(end.report?.heading).toContain(`4 times round: the same result from ${names.join(" → ")}`);
  });

  test("the same arguments in another order, and with other white space", async () => {
    const inputs = [
      { command: "git status", cwd: "." },
      { cwd: ".", command: "git  status " },
      { cwd: ".", command: "\tgit status" },
    ];
    const { end, calls } = await loop((n) => ({ name: "read", input: inputs[n % 3]! }), same);
    expect([end.standing, calls()]).toEqual(["exhausted", 4]);
  });

  test("the same call whose output grows is let through three times as often", async () => {
    const { end, calls, reached } = await loop(read, (_, n) => done("line\n".repeat(n)));
    expect([end.standing, calls()]).toEqual(["exhausted", 12]);
    expect(reached).toEqual([{ limit: "sameCallSameResult", value: 12, max: 12 }]);
  });

  test("two calls that take turns with ever new results", async () => {
    const { end, calls, reached } = await loop(
      (n) => ({ name: n % 2 === 0 ? "read" : "status", input: {} }),
      (_, n) => done(`${n}`),
    );
    expect([end.standing, calls(), reached[0]?.limit]).toEqual(["exhausted", 24, "cycle"]);
  });

  test("a call of no tool there is", async () => {
    const { end } = await loop(() => ({ name: "no_such_tool", input: {} }), same);
    expect(end.standing).toBe("exhausted");
  });

  test("polling a job ten times is no loop where each call waits, and none where it brings news", async () => {
    for (const text of ["pending", null]) {
      const polled = await loop(read, (_, n) => done(text ?? `${n} of 10`, text === null ? {} : { durationMs: 1_000 }), 10);
      expect([polled.end.standing, polled.calls()]).toEqual(["unverified", 10]);
    }
    const spaced = await loop(
      (n) => ({ name: n % 2 === 0 ? "read" : "status", input: {} }),
      ({ name }) => done("pending", name === "read" ? { durationMs: 5_000 } : {}),
      20,
    );
    expect([spaced.end.standing, spaced.calls(), spaced.told]).toEqual(["unverified", 20, []]);
  });

  test("polling without an end is one, after five times as many rounds", async () => {
    const { end, calls } = await loop(read, () => done("pending", { durationMs: 1_000 }));
    expect([end.standing, calls()]).toEqual(["exhausted", 20]);
  });

  const together = (...names: string[]): Call[] => names.map((name) => ({ name, input: {} }));
  /** Each step's calls settle in another order than those of the step before. */
  const shuffled = async ({ name }: CallIntent, n: number): Promise<CallOutcome> => {
    if (((n >> 1) + name.length) % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return done(`same of ${name}`);
  };

  test.each([
    ["two", [["read", "status"]], 8, "sameCallSameResult", "read + status"],
    ["four", [["read", "status", "commit", "read"]], 16, "sameCallSameResult", "commit + read + status"],
    ["two that turn with one", [["status", "read"], ["commit"]], 12, "cycle", "read + status → commit"],
  ])("calls side by side, %s, whichever settles first", async (_, steps, most, limit, named) => {
    const { end, calls, reached, told } = await loop((n) => together(...steps[n % steps.length]!), shuffled);
    expect([end.standing, calls()]).toEqual(["exhausted", most]);
    expect([reached, told.length]).toEqual([[{ limit, value: 4, max: 4 }], 1]);
    expect(end.report?.heading).toContain(named);
  });

  test("calls side by side of which one brings news are let through three times as often, the same one in one answer counts each time", async () => {
    const news = await loop(
      () => together("read", "status"),
      ({ name }, n) => done(name === "read" ? `${n}` : "same"),
    );
    expect([news.end.standing, news.calls()]).toEqual(["exhausted", 24]);
    expect((await loop(() => together("read", "read"), same)).calls()).toBe(4);
    expect(
      (
        await loop(
          () => together("read", "read"),
          (_, n) => done(`${n}`),
        )
      ).calls(),
    ).toBe(12);
  });

  test("a turn that an earlier version began goes on counting call by call, as its log is read", async () => {
    const fold = (repeatsBy?: "steps") =>
      ["a", "b", "b", "a"].reduce(
        (repeats, name, at) => repeated(repeats, name, null, done("same"), { runsOn: false, isLast: at % 2 === 1 }),
        repeatsAtStart(repeatsBy),
      );
    expect([fold().calls, fold().bySteps]).toEqual([[0, 0, 1], undefined]);
    expect(fold("steps").calls).toEqual([1, 0, 0]);
  });

  test("a command with another comment each time is the same command, and one without them another", () => {
    const plan = (command: string, line: string): CallPlan => ({
      input: { command },
      command,
      summary: command,
      reads: [],
      writes: [],
      workspace: "exclusive",
      replay: "probe",
      changesWorkspace: true,
      repeats: repeatsOf({ input: { command }, command }, line),
    });
    const fold = (...plans: readonly CallPlan[]) =>
      plans.reduce(
        (repeats, one) => repeated(repeats, "run_command", one, done("same"), { runsOn: false, isLast: true }),
        repeatsAtStart("steps"),
      ).calls[0];
    expect(fold(plan("cat a # 1", "cat a"), plan("cat  a # 2", "cat a"), plan("cat a", "cat a"))).toBe(2);
    // A line's end is no space.
    expect(fold(plan("cat; a", "cat\na"), plan("cat a", "cat a"))).toBe(0);
    // As it was decided before there was more than the input to go by.
    const { repeats: _, ...earlier } = plan("cat a # 1", "cat a");
    expect(fold(earlier, earlier)).toBe(1);
  });

  test("a change in between breaks a loop, and the next one is told anew", async () => {
    const inputs = [1, 1, 1, 2, 1, 1, 1, 3];
    const { end, told } = await loop((n) => ({ name: "read", input: inputs[n % 8]! }), same, 16);
    expect(end.standing).toBe("unverified");
    expect(told).toHaveLength(4);
  });
});

describe("retry storm (C01)", () => {
  const failing = (_: CallIntent, n: number) => done(`error ${n}`, { status: "failed" });

  test("the same call that fails each time, in ever new words", async () => {
    const { end, calls, reached } = await loop(read, failing);
    expect([end.standing, calls()]).toEqual(["exhausted", 8]);
    expect(reached).toEqual([{ limit: "retryStorm", value: 8, max: 8 }]);
    expect(end.report?.heading).toContain("a retry storm, 8 times in a row: read failed");
  });

  test("the same, where each takes its time to fail", async () => {
    const { end, calls } = await loop(read, (_, n) => done(`error ${n}`, { status: "failed", durationMs: 1_200 }));
    expect([end.standing, calls()]).toEqual(["exhausted", 8]);
  });

  test("polling by a call that fails until it is time: what takes ten seconds each time is let through twenty times", async () => {
    const waiting = (most: number) => loop(read, (_, n) => done(`${n} of 15 jobs`, { status: "failed", durationMs: 10_000 }), most);
    expect((await waiting(15)).end.standing).toBe("unverified");
    const { end, calls } = await waiting(60);
    expect([end.standing, calls()]).toEqual(["exhausted", 20]);
  });

  test("a call that takes its time to fail in turns with one that always says the same", async () => {
    const { end, calls, reached } = await loop(
      (n) => ({ name: n % 2 === 0 ? "read" : "status", input: {} }),
      ({ name }, n) => (name === "read" ? done(`error ${n}`, { status: "failed", durationMs: 2_000 }) : done("clean")),
    );
    expect([end.standing, calls(), reached[0]?.limit]).toEqual(["exhausted", 24, "cycle"]);
  });

  test("calls side by side that all fail count one by one, whichever settles first", async () => {
    const { end, calls } = await loop((n) => ["read", "status"].map((name) => ({ name, input: { n } })), failing);
    expect([end.standing, calls()]).toEqual(["exhausted", 20]);
  });

  test("calls of which none succeeds any more, whatever they are", async () => {
    const { end, calls, reached } = await loop((n) => ({ name: "read", input: { n } }), failing);
    expect([end.standing, calls(), reached[0]?.limit]).toEqual(["exhausted", 20, "retryStorm"]);
  });
});

describe("limits of a turn", () => {
  test("at four fifths the model and the person are told once of each limit", async () => {
    const model = createTestModel((n) => ({ calls: [{ name: "read", input: { n } }] }));
    const world = createWorld({ model, tools: [createTestTool({ name: "read" })] });
    const { session, end } = await runPrompt(portsOf(world), { limits: { ...defaultLimits, stepsPerTurn: 10, callsPerTurn: 20 } });
    expect(end.standing).toBe("exhausted");
    const { events } = await readSession(world, session);
    const warned = events.flatMap((event) => (event.type === "limit.warned" ? [event.payload] : []));
    expect(warned).toEqual([{ limit: "stepsPerTurn", value: 8, max: 10 }]);
    const told = events.flatMap((event) => (event.type === "notice.added" ? [event.payload.notice.text] : []));
    expect(told).toEqual([expect.stringContaining("the steps of this turn (8 of 10 used)")]);
    await expectLaw(world.log, session);
  });

  test("it is told of tokens once the next request's worst case no longer leaves a fifth of them", async () => {
    const tokens = { inputTokens: 10_000, cachedInputTokens: 5_000, outputTokens: 100, reasoningTokens: 0 };
    const plain = createTestModel((n) => (n < 3 ? { calls: [{ name: "read", input: { n } }] } : { text: "done" }));
    const model = {
      ...plain,
      sample: async function* (...given: Parameters<typeof plain.sample>) {
        for await (const part of plain.sample(...given)) yield part.type === "finished" ? { ...part, usage: tokens } : part;
      },
    };
    const world = createWorld({ model, tools: [createTestTool({ name: "read" })] });
    const { session } = await runPrompt(portsOf(world), { limits: { ...defaultLimits, tokensPerSession: 30_000 } });
    const { events } = await readSession(world, session);
    const warned = events.flatMap((event) => (event.type === "limit.warned" ? [event.payload] : []));
    expect(warned).toEqual([{ limit: "tokensPerSession", value: 15_300, max: 30_000 }]);
  });

  const usesAll = (model: Model, usage: (n: number) => Partial<Usage>): Model => {
    let n = 0;
    const all = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 100, reasoningTokens: 0 };
    return {
      ...model,
      sample: async function* (...given: Parameters<Model["sample"]>) {
        for await (const part of model.sample(...given))
          yield part.type === "finished" ? { ...part, usage: { ...all, ...usage((n += 1)) } } : part;
      },
    };
  };
  const warningsOf = async (model: Model, patch: Partial<Limits>) => {
    const world = createWorld({ model, tools: [createTestTool({ name: "read" })] });
    const { session, end } = await runPrompt(portsOf(world), { limits: { ...defaultLimits, ...patch } });
    const { events, items } = await readSession(world, session);
    await expectLaw(world.log, session);
    const limits = events.flatMap((event) =>
      event.type === "limit.warned" || event.type === "limit.reached" ? [[event.type.slice(6), event.payload.limit]] : [],
    );
    return { end, limits, items, told: events.flatMap((event) => (event.type === "notice.added" ? [event.payload.notice.text] : [])) };
  };
  const reads = (calls: (n: number) => number) =>
    createTestModel((n) => ({ calls: Array.from({ length: calls(n) }, (_, at) => ({ name: "read", input: { n, at } })) }));

  test.each([
    ["tokensPerSession", { tokensPerSession: 260_000 }, null],
    ["costPerSession", { costPerSession: 0.26 }, (usage: Usage) => (usage.inputTokens - usage.cachedInputTokens) / 1_000_000],
  ] as const)("it is told of %s before its end also where a request takes a great part of it", async (limit, patch, cost) => {
    const grown = usesAll(
      reads(() => 1),
      (n) => ({ inputTokens: 40_000 * n }),
    );
    const { end, limits, told } = await warningsOf(cost === null ? grown : { ...grown, cost }, patch);
    expect(end.standing).toBe("exhausted");
    expect(limits).toEqual([
      ["warned", limit],
      ["reached", limit],
    ]);
    expect(told.join()).toContain("; the next request may take ");
  });

  test("where one answer takes the last calls the next may still say what was done, without another", async () => {
    const counts = [4, 4, 3, 4];
    const speaks = await warningsOf(
      reads((n) => counts[n] ?? 0),
      { callsPerTurn: 15 },
    );
    expect([speaks.end.standing, speaks.limits]).toEqual(["unverified", [["warned", "callsPerTurn"]]]);
    expect(speaks.told.join()).toContain("Nothing is left of the tool calls of this turn (15 of 15 used)");
    const goesOn = await warningsOf(
      reads((n) => counts[n] ?? 1),
      { callsPerTurn: 15 },
    );
    expect([goesOn.end.standing, goesOn.limits]).toEqual([
      "exhausted",
      [
        ["warned", "callsPerTurn"],
        ["reached", "callsPerTurn"],
      ],
    ]);
    const ran = goesOn.items.filter((item) => item.kind === "tool_result" && item.status === "completed");
    expect(ran).toHaveLength(15);
  });

  test("the limit of cost that holds by itself goes on where the price is unknown; one that was set ends the turn", async () => {
    for (const [stops, standing] of [
      [false, "unverified"],
      [true, "exhausted"],
    ] as const) {
      const world = createWorld({
        model: createTestModel((n) => (n < 2 ? { calls: [{ name: "read", input: { n } }] } : { text: "done" })),
        tools: [createTestTool({ name: "read" })],
      });
      const limits = { ...defaultLimits, ...(stops ? { allowsUnknownCost: false } : {}) };
      expect(limits.costPerSession).toBe(20);
      expect((await runPrompt(portsOf(world), { limits })).end.standing).toBe(standing);
    }
  });

  test("retry budget shape (C06): twenty minutes of limited rate are waited through where the turn has two hours", async () => {
    const error = { class: "rate_limited", message: "slow down", status: 429, code: null, retryAfterMs: null } as const;
    let asked = 0;
    const model = createTestModel(() => {
      asked += 1;
      return world.clock.now() - 1_000_000 < 20 * 60_000 ? { fail: { type: "failed", error } } : { text: "done" };
    });
    const world = createWorld({ model });
    const { end } = await runPrompt(portsOf(world));
    expect(end).toMatchObject({ standing: "unverified", report: { message: "done" } });
    expect(asked).toBeGreaterThan(11);
  });

  test.each(["baseline", "check"] as const)("its time ends a %s that still runs, and what was not run is said", async (which) => {
    const limits = { ...defaultLimits, activeMsPerTurn: 3_000 };
    const world = createWorld({ model: createTestModel(() => ({ text: "done" })) });
    const ports = portsOf(world);
    let living = 0;
    const forAnHour = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
      living += 1;
      while (!signal.aborted && world.clock.now() < 4_600_000) await world.clock.sleep(1_000, signal);
      living -= 1;
      signal.throwIfAborted();
      return work();
    };
    const { baseline, check } = ports.verifier;
    Object.assign(ports.verifier, {
      [which]:
        which === "baseline"
          ? (...given: Parameters<typeof baseline>) => forAnHour(() => baseline(...given), given[3])
          : (...given: Parameters<typeof check>) => forAnHour(() => check(...given), given[3]),
    });
    const { session, end } = await runPrompt(ports, { limits }, {}, [testCheck]);
    expect(end).toMatchObject({ standing: "exhausted", exitStatus: 5, report: { heading: expect.stringContaining("active time") } });
    expect(end.report?.reasons).toContainEqual(expect.stringContaining("the checks were not run on what there is now (test)"));
    expect(world.clock.now() - 1_000_000).toBeLessThan(10_000);
    expect(living).toBe(0);
    await expectLaw(world.log, session);
  });

  test("retry budget shape (C06): it ends with the turn's time, and at once where the provider names a longer one", async () => {
    const limits = { ...defaultLimits, activeMsPerTurn: 30 * 60_000 };
    for (const [retryAfterMs, atLeast] of [
      [null, 29 * 60_000],
      [31 * 60_000, 0],
    ] as const) {
      const error = { class: "overloaded", message: "busy", status: 529, code: null, retryAfterMs } as const;
      const world = createWorld({ model: createTestModel(() => ({ fail: { type: "failed", error } })) });
      const { end } = await runPrompt(portsOf(world), { limits });
      expect(end).toMatchObject({ standing: "failed", error: { code: "model_overloaded" } });
      const took = world.clock.now() - 1_000_000;
      expect(took).toBeGreaterThanOrEqual(atLeast);
      expect(took).toBeLessThanOrEqual(limits.activeMsPerTurn);
    }
  });
});
