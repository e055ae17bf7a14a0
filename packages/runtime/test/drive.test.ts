import { noUsage } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { acceptChecks, closeSession, drive, post, readSession, type Model } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, createTestModel, createTestTool, createWorld, done, newSession, portsOf, runPrompt, say, testCheck } from "./kit.ts";

describe("a turn", () => {
  test("without a call ends unverified with nothing to verify", async () => {
    const world = createWorld({ model: createTestModel(() => ({ text: "hello" })) });
    const ports = portsOf(world);
    const { session, end } = await runPrompt(ports);
    expect(end).toMatchObject({ standing: "unverified", exitStatus: 0, report: { heading: "nothing to verify", message: "hello" } });
    await expectLaw(world.log, session);
  });

  test("commits twice a step with one call, and once more for each parallel call", async () => {
    const tool = createTestTool({
      name: "read",
      run: async (intent) => {
        await new Promise((resolve) => setTimeout(resolve, 8 * ((intent.plan.input as { i?: number }).i ?? 0)));
        return done("ok");
      },
    });
    const counts: string[] = [];
    const model = createTestModel((n) =>
      n === 0
        ? { calls: [{ name: "read", input: { n } }] }
        : n === 1
          ? { calls: [1, 2, 3].map((i) => ({ name: "read", input: { n, i } })) }
          : {},
    );
    const world = createWorld({ model, tools: [tool] });
    await runPrompt(
      portsOf(world),
      {},
      { stops: async (stop) => void (stop.what === "commit" && stop.when === "before" && counts.push(stop.name)) },
    );
    expect(counts).toEqual([
      "world.observed+turn.started+sampling.intended",
      "sampling.settled+call.decided+call.intended",
      "call.settled+sampling.intended",
      "sampling.settled+call.decided+call.decided+call.decided+call.intended+call.intended+call.intended",
      "call.settled",
      "call.settled",
      "call.settled+sampling.intended",
      "sampling.settled",
      "turn.ended+tip.signed",
    ]);
  });

  test("places results in call order however they come in", async () => {
    const gates = new Map<number, () => void>();
    const tool = createTestTool({
      name: "slow",
      run: (intent) =>
        new Promise((resolve) => {
          const { i } = intent.plan.input as { i: number };
          gates.set(i, () => resolve(done(`result ${i}`)));
          if (gates.size === 3) for (const key of [3, 1, 2]) setTimeout(() => gates.get(key)?.(), 5 * key === 15 ? 0 : 10 * key);
        }),
    });
    const model = createTestModel((n) => (n === 0 ? { calls: [1, 2, 3].map((i) => ({ name: "slow", input: { i } })) } : {}));
    const world = createWorld({ model, tools: [tool] });
    await runPrompt(portsOf(world));
    const last = model.requests.at(-1)?.items ?? [];
    expectPaired(last);
    expect(last.flatMap((item) => (item.kind === "tool_result" ? [item.text] : []))).toEqual(["result 1", "result 2", "result 3"]);
  });

  test("tells the model of unknown tools, broken input and refusals, and goes on", async () => {
    const world = createWorld({
      model: createTestModel((n) =>
        n === 0
          ? {
              calls: [
                { name: "nope", input: {} },
                { name: "bad", input: {} },
              ],
            }
          : {},
      ),
      tools: [createTestTool({ name: "bad" })],
      policy: () => ({ ...allow, decision: "deny", forModel: "no such thing is allowed" }),
    });
    const { session, end } = await runPrompt(portsOf(world));
    const view = await readSession(world, session);
    expect(view.items.flatMap((item) => (item.kind === "tool_result" ? [item.status] : []))).toEqual(["failed", "denied"]);
    expect(end.standing).toBe("unverified");
    await expectLaw(world.log, session);
  });

  test("takes secrets out of what a tool brings back before anything else reads it", async () => {
    const tool = createTestTool({ name: "read", run: async () => done("token=very-secret-value;") });
    const model = createTestModel((n) => (n === 0 ? { calls: [{ name: "read", input: {} }] } : {}));
    const world = createWorld({ model, tools: [tool] });
    const { session } = await runPrompt(portsOf(world));
    expect(JSON.stringify(await world.log.read(session, 1))).not.toContain("very-secret-value");
  });

  test("takes typing during a turn in at the next sampling", async () => {
    const tool = createTestTool({
      name: "read",
      run: async (_, __, context) => {
        await post(ports, context.session, say("and also this"));
        return done("ok");
      },
    });
    const model = createTestModel((n) => (n === 0 ? { calls: [{ name: "read", input: {} }] } : {}));
    const world = createWorld({ model, tools: [tool] });
    const ports = portsOf(world);
    const { session } = await runPrompt(ports);
    const kinds = model.requests.at(-1)?.items.map((item) => item.kind);
    expect(kinds).toEqual(["user_message", "assistant_message", "tool_call", "tool_result", "user_message"]);
    await expectLaw(world.log, session);
  });
});

test("a long session has snapshots from which the rest folds to the same head and registers", async () => {
  const { defaultLimits } = await import("@holdfast/protocol");
  const tool = createTestTool({
    name: "read",
    run: async (intent) => done("ok", { seen: [{ path: `/w/${intent.callId}`, digest: "d" }] }),
  });
  const model = createTestModel((n) => (n < 330 ? { calls: [{ name: "read", input: { n } }] } : {}));
  const world = createWorld({ model, tools: [tool] });
  const { session } = await runPrompt(portsOf(world), { limits: { ...defaultLimits, stepsPerTurn: 400 } });
  const snapshot = await world.log.snapshot(session, Number.MAX_SAFE_INTEGER);
  expect(snapshot?.seq).toBeGreaterThanOrEqual(1000);
  await expectLaw(world.log, session);
});

describe("checks", () => {
  test("a passing check makes the turn verified", async () => {
    const world = createWorld({ model: createTestModel(() => ({})), check: () => true });
    const { end } = await runPrompt(portsOf(world), {}, {}, [testCheck]);
    expect(end).toMatchObject({ standing: "verified", exitStatus: 0 });
  });

  test("a failing check goes back to the model three times and then refutes", async () => {
    const model = createTestModel(() => ({}));
    const world = createWorld({ model, check: () => false });
    const { session, end } = await runPrompt(portsOf(world), {}, {}, [testCheck]);
    expect(end).toMatchObject({ standing: "refuted", exitStatus: 3 });
    expect(model.requests.length).toBe(4);
    await expectLaw(world.log, session);
  });

  test("an effect on the workspace waits for the baseline", async () => {
    const order: string[] = [];
    const tool = createTestTool({ name: "write", exclusive: true, changesWorkspace: true, replay: "never" });
    const world = createWorld({ model: createTestModel((n) => (n === 0 ? { calls: [{ name: "write", input: {} }] } : {})), tools: [tool] });
    await runPrompt(portsOf(world), {}, { onEvent: (event) => order.push(event.type) }, [testCheck]);
    expect(order.indexOf("baseline.recorded")).toBeGreaterThan(0);
    expect(order.indexOf("baseline.recorded")).toBeLessThan(order.indexOf("call.intended"));
  });
});

describe("approvals", () => {
  const review = {
    ...allow,
    decision: "review" as const,
    reason: "it reaches out",
    forModel: "ask first",
    scope: { network: ["example.org"] },
  };
  const twice = () =>
    createTestModel((n) =>
      n === 0
        ? {
            calls: [
              { name: "send", input: { n: 1 } },
              { name: "send", input: { n: 2 } },
            ],
          }
        : {},
    );

  test("an open approval gives the session back as waiting, and the answer lets it go on, in another process too", async () => {
    const tool = createTestTool({ name: "send", replay: "never" });
    const world = createWorld({ model: twice(), tools: [tool], policy: () => review });
    const { session, end } = await runPrompt(portsOf(world, 1));
    expect(end).toMatchObject({ standing: "waiting", exitStatus: 4 });
    expect((await world.log.list({ status: "waiting" })).map((row) => row.session)).toEqual([session]);
    const [first, second] = end.approvals;
    const other = portsOf(world, 2);
    // Answered by id and out of order, after a restart.
    await post(other, session, { type: "approval.answer", approvalId: second?.id ?? "", answer: "allow", by: "test", note: "" });
    await post(other, session, { type: "approval.answer", approvalId: first?.id ?? "", answer: "deny", by: "test", note: "no" });
    await post(other, session, { type: "approval.answer", approvalId: first?.id ?? "", answer: "allow", by: "late", note: "" });
    const after = await drive(other, session, { waiting: "return" });
    expect(after.standing).toBe("unverified");
    expect(tool.runs.map((intent) => [intent.plan.input, intent.scope])).toEqual([[{ n: 2 }, { network: ["example.org"] }]]);
    await expectLaw(world.log, session);
  });

  test("a passed deadline refuses the call", async () => {
    const tool = createTestTool({ name: "send", replay: "never" });
    const world = createWorld({ model: twice(), tools: [tool], policy: () => review });
    const { session } = await runPrompt(portsOf(world));
    world.clock.advance(8 * 24 * 3600 * 1000);
    expect((await drive(portsOf(world), session, { waiting: "return" })).standing).toBe("unverified");
    expect(tool.runs).toEqual([]);
  });

  test("headless deny refuses and the model works around it; allow runs with the scope shown", async () => {
    const tool = createTestTool({ name: "send", replay: "never" });
    const world = createWorld({ model: twice(), tools: [tool], policy: () => review });
    expect((await runPrompt(portsOf(world), { approvals: "deny" })).end.standing).toBe("unverified");
    expect(tool.runs).toEqual([]);
    await runPrompt(portsOf(world), { approvals: "allow" });
    expect(tool.runs.map((intent) => intent.scope)).toEqual([review.scope, review.scope]);
  });
});

describe("endings", () => {
  const giveUp = (blockedBy: string | null) =>
    createTestTool({ name: "give_up", run: async () => done("", { gaveUp: { reason: "can't", blockedBy } }) });

  test("give_up ends the turn as failed", async () => {
    const world = createWorld({ model: createTestModel(() => ({ calls: [{ name: "give_up", input: {} }] })), tools: [giveUp(null)] });
    expect((await runPrompt(portsOf(world))).end).toMatchObject({ standing: "failed", exitStatus: 1 });
  });

  test("give_up because of a refused call ends it as blocked", async () => {
    let denied = "";
    const tool = createTestTool({ name: "give_up", run: async () => done("", { gaveUp: { reason: "can't", blockedBy: denied } }) });
    const model = createTestModel((n, request) => {
      const call = request.items.find((item) => item.kind === "tool_call");
      if (call?.kind === "tool_call") denied = call.callId;
      return n === 0 ? { calls: [{ name: "send", input: {} }] } : { calls: [{ name: "give_up", input: {} }] };
    });
    const world = createWorld({
      model,
      tools: [tool, createTestTool({ name: "send" })],
      policy: (name) => (name === "send" ? { ...allow, decision: "deny" } : allow),
    });
    expect((await runPrompt(portsOf(world))).end).toMatchObject({ standing: "blocked", exitStatus: 7 });
  });

  test("the same call with the same result four times in a row exhausts the turn, after the model was told", async () => {
    const model = createTestModel(() => ({ calls: [{ name: "read", input: { a: 1 } }] }));
    const world = createWorld({ model, tools: [createTestTool({ name: "read" })] });
    const { end } = await runPrompt(portsOf(world));
    expect(end).toMatchObject({ standing: "exhausted", exitStatus: 5 });
    expect(model.requests.length).toBe(4);
    expect(model.requests.at(-1)?.items.at(-1)).toMatchObject({ kind: "notice" });
  });

  test.each([
    ["stepsPerTurn", { stepsPerTurn: 3 }],
    ["callsPerTurn", { callsPerTurn: 3 }],
    ["tokensPerSession", { tokensPerSession: 3300 }],
  ] as const)("reaching %s exhausts the turn loudly", async (limit, patch) => {
    const model = createTestModel((n) => ({ calls: [{ name: "read", input: { n } }] }));
    const world = createWorld({ model, tools: [createTestTool({ name: "read" })] });
    const ports = portsOf(world);
    const { defaultLimits } = await import("@holdfast/protocol");
    const { session, end } = await runPrompt(ports, { limits: { ...defaultLimits, ...patch } });
    expect(end).toMatchObject({ standing: "exhausted", exitStatus: 5 });
    const view = await readSession(world, session);
    expect(view.events.some((event) => event.type === "limit.reached" && event.payload.limit === limit)).toBe(true);
    await expectLaw(world.log, session);
  });

  test("a limit of cost that can't be held ends the turn instead of being ignored", async () => {
    const { defaultLimits } = await import("@holdfast/protocol");
    const model = createTestModel((n) => ({ calls: [{ name: "read", input: { n } }] }));
    const world = createWorld({ model, tools: [createTestTool({ name: "read" })] });
    const { end } = await runPrompt(portsOf(world), { limits: { ...defaultLimits, costPerSession: 1, allowsUnknownCost: false } });
    expect(end).toMatchObject({ standing: "exhausted", exitStatus: 5 });
    expect(end.report?.heading).toContain("cost is unknown");
    expect(model.requests).toHaveLength(1);
  });

  test("a model error that waiting can't mend fails the turn with its class", async () => {
    const error = { class: "auth", message: "key refused", status: 401, code: null, retryAfterMs: null } as const;
    const world = createWorld({ model: createTestModel(() => ({ fail: { type: "failed", error } })) });
    expect((await runPrompt(portsOf(world))).end).toMatchObject({ standing: "failed", error: { code: "model_auth" } });
  });

  test("a cut answer is retracted, never committed as complete, and sampled again as a new item", async () => {
    const error = { class: "cut", message: "cut", status: null, code: null, retryAfterMs: null } as const;
    let tries = 0;
    const deltas: string[] = [];
    const model = createTestModel(() => ((tries += 1) < 3 ? { fail: { type: "failed", error } } : { text: "whole" }));
    const world = createWorld({ model });
    const { session, end } = await runPrompt(
      portsOf(world),
      {},
      { onDelta: (delta) => deltas.push(`${delta.type} ${"itemId" in delta ? delta.itemId : ""}`) },
    );
    expect(end.report?.message).toBe("whole");
    const view = await readSession(world, session);
    expect(view.events.flatMap((event) => (event.type === "sampling.failed" ? [event.payload.retracted] : []))).toEqual([
      "half an ans",
      "half an ans",
    ]);
    expect(view.items.filter((item) => item.kind === "assistant_message")).toHaveLength(1);
    expect(deltas.filter((delta) => delta.startsWith("item.retracted"))).toHaveLength(2);
  });

  test("an answer's length is bound by the room left in a window that is known, not in one that is assumed", async () => {
    const capOf = async (window: Partial<Model>): Promise<number | null | undefined> => {
      const model = createTestModel(() => ({}));
      await runPrompt(portsOf(createWorld({ model: { ...model, ...window } })));
      return model.requests[0]?.maxOutputTokens;
    };
    expect(await capOf({ contextWindow: 8_192 })).toBeLessThan(8_192 - 2_600);
    expect(await capOf({ contextWindow: 2_000 })).toBe(1_024);
    expect(await capOf({ contextWindow: 8_192, assumesWindow: true })).toBeNull();
    expect(await capOf({ contextWindow: null })).toBeNull();
  });

  test("an empty answer is asked about once, and the second fails the turn: nothing is no success", async () => {
    const empty = createTestModel(() => ({}));
    const silent = {
      ...empty,
      async *sample(request: Parameters<typeof empty.sample>[0]) {
        empty.requests.push(request);
        yield { type: "finished" as const, finish: "stop" as const, usage: noUsage, cost: null };
      },
    };
    const world = createWorld({ model: silent });
    expect((await runPrompt(portsOf(world))).end).toMatchObject({ standing: "failed", exitStatus: 1 });
    expect(empty.requests).toHaveLength(2);
  });

  test("a time that the provider names is kept", async () => {
    const error = { class: "rate_limited", message: "slow down", status: 429, code: null, retryAfterMs: 7000 } as const;
    let tries = 0;
    const world = createWorld({ model: createTestModel(() => ((tries += 1) === 1 ? { fail: { type: "failed", error } } : {})) });
    const before = world.clock.now();
    await runPrompt(portsOf(world));
    expect(world.clock.now() - before).toBeGreaterThanOrEqual(7000);
  });

  test("a failed request is tried again for as long as the caller says", async () => {
    const error = { class: "overloaded", message: "busy", status: 529, code: null, retryAfterMs: 4000 } as const;
    for (const [retryForMs, requests] of [
      [3000, 1],
      [9000, 3],
    ] as const) {
      const model = createTestModel(() => ({ fail: { type: "failed", error } }));
      const { end } = await runPrompt(portsOf(createWorld({ model })), {}, { retryForMs });
      expect(end).toMatchObject({ standing: "failed", error: { code: "model_overloaded" } });
      expect(model.requests).toHaveLength(requests);
    }
  });
});

describe("one session, one driver", () => {
  test("a session driven by a living process is busy, by a dead one it is free", async () => {
    const world = createWorld({ model: createTestModel(() => ({})) });
    const session = await newSession(portsOf(world));
    await post(portsOf(world), session, say("go"));
    const owner = { pid: 7, startTime: "0", bootId: "boot", label: "other" };
    await world.log.lock(`session:${session}`, owner, () => true);
    await expect(drive(portsOf(world, 1, new Set([1, 7])), session, { waiting: "return" })).rejects.toMatchObject({ code: "session_busy" });
    expect((await drive(portsOf(world, 1, new Set([1])), session, { waiting: "return" })).standing).toBe("unverified");
  });

  test.each(["session", "open"])("closing a session that another process has (%s) leaves its commands alone", async (lock) => {
    const world = createWorld({ model: createTestModel(() => ({})) });
    const session = await newSession(portsOf(world));
    const ended: string[] = [];
    const close = async (...living: number[]) => {
      const ports = portsOf(world, 1, new Set(living));
      await closeSession({ ...ports, processes: { ...ports.processes, endSession: async (id) => void ended.push(id) } }, session);
    };
    await world.log.lock(`${lock}:${session}`, { pid: 7, startTime: "0", bootId: "boot", label: "other" }, () => true);
    await close(1, 7);
    expect(ended).toEqual([]);
    await close(1);
    expect(ended).toEqual([session]);
  });

  test("a second driver in the same process is told that the session is busy", async () => {
    const busy: unknown[] = [];
    const tool = createTestTool({
      name: "read",
      run: async (_, __, context) => {
        await drive(ports, context.session, { waiting: "return" }).catch((error: unknown) => busy.push(error));
        await acceptChecks(ports, context.session, [testCheck]).catch((error: unknown) => busy.push(error));
        return done("ok");
      },
    });
    const world = createWorld({ model: createTestModel((n) => (n === 0 ? { calls: [{ name: "read", input: {} }] } : {})), tools: [tool] });
    const ports = portsOf(world);
    expect((await runPrompt(ports)).end.standing).toBe("unverified");
    expect(busy).toMatchObject([{ code: "session_busy" }, { code: "session_busy" }]);
  });

  test("a drive that was let go before it began does nothing", async () => {
    const world = createWorld({ model: createTestModel(() => ({})) });
    const ports = portsOf(world);
    const session = await newSession(ports);
    await post(ports, session, say("go"));
    await expect(drive(ports, session, { waiting: "return", signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "stale_driver" });
    expect((await readSession(world, session)).turns).toEqual([]);
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
  });

  test("a driver whose log moved on under it loses its next commit and stops", async () => {
    const tool = createTestTool({
      name: "read",
      run: async (intent, __, context) => {
        if (intent.attempt > 1) return done("by the second");
        const second = portsOf(world, 2, new Set([2]));
        await drive(second, context.session, { waiting: "return" }).catch(() => undefined);
        return done("late");
      },
    });
    const model = createTestModel((n) => (n === 0 ? { calls: [{ name: "read", input: {} }] } : {}));
    const world = createWorld({ model, tools: [tool] });
    await expect(runPrompt(portsOf(world, 1))).rejects.toMatchObject({ code: "stale_driver" });
  });
});
