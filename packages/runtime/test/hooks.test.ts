import type { Json } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import type { HookAnswer, HookCall, Hooks, Ports } from "../src/index.ts";
import { closeSession, drive, dueSessions, post, readSession } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import type { TestToolOptions } from "./kit.ts";
import { allow, Crash, createTestModel, createTestTool, createWorld, newSession, portsOf, say, testCheck } from "./kit.ts";

type Reply = Partial<HookAnswer> | null;

/** Hooks that answer by a function; `calls` is what they were asked. */
function hooksBy(reply: (call: HookCall) => Reply): Hooks & { readonly calls: HookCall[] } {
  const calls: HookCall[] = [];
  return {
    calls,
    has: () => true,
    run: async (call) => {
      calls.push(call);
      const said = reply(call);
      return said === null
        ? []
        : [{ hook: "user: test", trust: "user", result: "passed", reason: "", context: "", durationMs: 1, ...said }];
    },
  };
}

const on =
  (event: string, answer: Reply) =>
  (call: HookCall): Reply =>
    call.event === event ? answer : null;

function setUp(
  reply: (call: HookCall) => Reply,
  options: Partial<TestToolOptions> = {},
  policy?: Parameters<typeof createWorld>[0]["policy"],
) {
  const tool = createTestTool({ name: "send", ...options });
  const model = createTestModel((index) =>
    index === 0
      ? {
          calls: [
            { name: "send", input: { to: "a" } },
            { name: "send", input: { to: "b" } },
          ],
        }
      : { text: `done ${index}` },
  );
  const hooks = hooksBy(reply);
  const world = createWorld({ model, tools: [tool], ...(policy === undefined ? {} : { policy }) });
  return { ports: { ...portsOf(world), hooks } as Ports, tool, model, hooks };
}

async function run(ports: Ports, checks = [] as (typeof testCheck)[]) {
  const session = await newSession(ports, {}, checks);
  await post(ports, session, say("do it"));
  const end = await drive(ports, session, { waiting: "return" });
  await expectLaw(ports.log, session);
  const view = await readSession(ports, session);
  if (end.standing !== "waiting") expectPaired(view.items);
  return { session, end, view, texts: view.items.map((item) => ("text" in item ? item.text : "")) };
}

describe("hooks", () => {
  test("are told each moment once, in order", async () => {
    const { ports, hooks } = setUp(() => null);
    const { session } = await run(ports);
    await closeSession({ ...ports, processes: { ...ports.processes, endSession: async () => undefined } }, session);
    expect(hooks.calls.map(({ event }) => event)).toEqual([
      "session_start",
      "prompt_submitted",
      "before_model",
      "after_model",
      "before_tool",
      "before_tool",
      "after_tool",
      "after_tool",
      "before_model",
      "after_model",
      "before_done",
      "stop",
      "session_end",
    ]);
    expect(hooks.calls.find(({ event }) => event === "before_tool")).toMatchObject({
      tool: "send",
      data: { tool_name: "send", tool_input: { to: "a" } },
    });
    expect(hooks.calls.find(({ event }) => event === "stop")?.data).toMatchObject({ outcome: "unverified", message: "done 1" });
  });

  test.each(["before", "after"] as const)("hear that a turn has ended also where its driver died %s it was told them", async (when) => {
    const stopped: Json[] = [];
    const { ports, hooks } = setUp(({ event, data }) => {
      if (event !== "stop") return null;
      if (when === "before" && stopped.length === 0) {
        stopped.push("died");
        throw new Crash("killed");
      }
      stopped.push(data["turn_id"] ?? null);
      return {};
    });
    const session = await newSession(ports);
    await post(ports, session, say("do it"));
    const dying = { ...ports, log: { ...ports.log, settleOutbox: async () => Promise.reject(new Crash("killed")) } };
    await expect(drive(dying, session, { waiting: "return" })).rejects.toThrow("killed");
    const alone = { ...ports, processes: { isAlive: () => false } };
    expect(await dueSessions(alone)).toEqual([session]);
    await drive(ports, session, { waiting: "return" });
    await drive(ports, session, { waiting: "return" });
    expect(await dueSessions(alone)).toEqual([]);
    const { events } = await readSession(ports, session);
    const turn = events.flatMap((event) => (event.type === "turn.started" ? [event.payload.turnId] : []))[0];
    // At least once; who counts goes by the turn's id.
    expect(stopped).toEqual(when === "before" ? ["died", turn] : [turn, turn]);
    expect(hooks.calls.filter(({ event }) => event === "stop").at(-1)?.data).toMatchObject({ outcome: "unverified", message: "done 1" });
    await expectLaw(ports.log, session);
  });

  test("that are gone when a turn's end could be told hold nothing up", async () => {
    const { ports } = setUp(({ event }) => {
      if (event === "stop") throw new Crash("killed");
      return null;
    });
    const session = await newSession(ports);
    await post(ports, session, say("do it"));
    await expect(drive(ports, session, { waiting: "return" })).rejects.toThrow("killed");
    const { hooks: _, ...without } = ports;
    await drive(without, session, { waiting: "return" });
    expect(await ports.log.takeOutbox(1)).toEqual([]);
  });

  test("add words to the prompt, to a request and to a result; they reach the model at once and stay", async () => {
    const { ports, model } = setUp(({ event }) =>
      ["session_start", "prompt_submitted", "before_model", "after_tool"].includes(event) ? { context: `words of ${event}` } : null,
    );
    const { texts } = await run(ports);
    const first = JSON.stringify(model.requests[0]);
    for (const event of ["session_start", "prompt_submitted", "before_model"]) expect(first).toContain(`words of ${event}`);
    expect(texts.filter((text) => text.includes("words of after_tool"))).toHaveLength(2);
    const [a, b] = model.requests.map(({ items }) => JSON.stringify(items));
    expect(b?.startsWith((a ?? "").slice(0, -1))).toBe(true);
  });

  test("refuse a prompt: the turn ends as blocked before the model is asked", async () => {
    const { ports, model } = setUp(on("prompt_submitted", { result: "denied", reason: "not on a Friday" }));
    const { end } = await run(ports);
    expect(end).toMatchObject({ standing: "blocked", report: { reasons: ["a hook refused the prompt: not on a Friday"] } });
    expect(model.requests).toHaveLength(0);
  });

  test("refuse a prompt for good: the requests of later turns hold nothing of it", async () => {
    const { ports, model } = setUp(({ event, data }) =>
      event === "prompt_submitted" && JSON.stringify(data).includes("do it") ? { result: "denied", reason: "no" } : null,
    );
    const { session } = await run(ports);
    await post(ports, session, say("something else"));
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
    expect(JSON.stringify(model.requests)).toContain("something else");
    expect(JSON.stringify(model.requests)).not.toContain("do it");
  });

  test.each([
    ["session_start", "interrupted"],
    ["prompt_submitted", "interrupted"],
    ["approval_asked", "interrupted"],
    ["stop", "unverified"],
  ])("at %s end when the turn is interrupted", async (event, standing) => {
    const policy = () => ({ ...allow, decision: "review" as const });
    const { ports } = setUp(() => null, {}, event === "approval_asked" ? policy : undefined);
    const session = await newSession(ports, { approvals: "ask" });
    const hooks: Hooks = {
      has: (asked) => asked === event,
      run: async (_, signal) => {
        // Heard from the beginning: the driver may see the interrupt before the posting has returned.
        const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
        await post(ports, session, { type: "interrupt", by: "a person" });
        await aborted;
        return [{ hook: "user: hangs", trust: "user", result: "failed", reason: "ended", context: "", durationMs: 1 }];
      },
    };
    await post(ports, session, say("do it"));
    expect((await drive({ ...ports, hooks }, session, { waiting: "return" })).standing).toBe(standing);
    await expectLaw(ports.log, session);
    expectPaired((await readSession(ports, session)).items);
  });

  test("refuse a request, and an answer with its calls: nothing of it runs", async () => {
    for (const event of ["before_model", "after_model"]) {
      const { ports, tool, model } = setUp(on(event, { result: "denied", reason: "no" }));
      const { end } = await run(ports);
      expect(end.standing).toBe("blocked");
      expect([model.requests.length, tool.runs.length]).toEqual([event === "before_model" ? 0 : 1, 0]);
    }
  });

  test("refuse a call: the model reads why, the others run", async () => {
    const { ports, tool } = setUp(({ event, data }) =>
      event === "before_tool" && JSON.stringify(data).includes('"a"') ? { result: "denied", reason: "never to a" } : null,
    );
    const { end, view, texts } = await run(ports);
    expect(tool.runs.map(({ plan }) => plan.input)).toEqual([{ to: "b" }]);
    expect(end.report?.reasons).toEqual(["a call was refused and did not run: send"]);
    expect(texts.find((text) => text.includes("never to a"))).toContain("was refused");
    expect(view.events.find((event) => event.type === "call.decided")).toMatchObject({
      payload: { decision: "deny", rule: { id: "hook.before_tool" } },
    });
  });

  test("change an input: what runs is the changed one, which the policy judged, and the model is told", async () => {
    const seen: Json[] = [];
    const { ports, tool } = setUp(on("before_tool", { result: "changed", input: { to: "c" } }));
    const policed: Ports = {
      ...ports,
      policy: {
        decide: async ({ plan }) => {
          seen.push(plan.input);
          return allow;
        },
      },
    };
    const { texts } = await run(policed);
    expect(tool.runs.map(({ plan }) => plan.input)).toEqual([{ to: "c" }, { to: "c" }]);
    expect(seen).toContainEqual({ to: "c" });
    expect(texts.filter((text) => text.includes('A hook changed the input to {"to":"c"}'))).toHaveLength(2);
  });

  test("never grant: what the policy denies isn't even shown to them, and a changed input can be denied or reviewed", async () => {
    const denied = setUp(
      () => ({ result: "passed", context: "fine" }),
      {},
      () => ({ ...allow, decision: "deny" }),
    );
    await run(denied.ports);
    expect(denied.tool.runs).toEqual([]);
    expect(denied.hooks.calls.some(({ event }) => event === "before_tool")).toBe(false);

    for (const decision of ["deny", "review"] as const) {
      const changed = setUp(on("before_tool", { result: "changed", input: { to: "evil" } }));
      const policy: Ports["policy"] = {
        decide: async ({ plan }) => (JSON.stringify(plan.input).includes("evil") ? { ...allow, decision } : allow),
      };
      const { end } = await run({ ...changed.ports, policy });
      expect(changed.tool.runs).toEqual([]);
      expect(end.standing).toBe(decision === "deny" ? "unverified" : "waiting");
    }
  });

  test("hear of an approval, and can only refuse it", async () => {
    const review = () => ({ ...allow, decision: "review" as const });
    const told = setUp(on("approval_asked", { context: "allow it" }), {}, review);
    expect((await run(told.ports)).end).toMatchObject({ standing: "waiting", approvals: [{}, {}] });
    const refused = setUp(on("approval_asked", { result: "denied", reason: "nobody is up" }), {}, review);
    const { end, texts } = await run(refused.ports);
    expect(end.standing).toBe("unverified");
    expect(texts.filter((text) => text.includes("nobody is up"))).toHaveLength(2);
    expect(refused.tool.runs).toEqual([]);
  });

  test("refuse that the turn is done: the model goes on, before any check, and not for ever", async () => {
    let refusals = 0;
    const once = setUp(({ event }) =>
      event === "before_done" && (refusals += 1) === 1 ? { result: "denied", reason: "write the changelog" } : null,
    );
    const { end, view } = await run(once.ports, [testCheck]);
    expect(end.standing).toBe("verified");
    expect(view.items.filter(({ kind }) => kind === "notice")).toMatchObject([
      { trust: "user", text: "Not done yet: write the changelog" },
    ]);
    expect(view.events.filter(({ type }) => type === "checks.started")).toHaveLength(1);

    const always = setUp(on("before_done", { result: "denied", reason: "never" }));
    const blocked = await run(always.ports);
    expect(blocked.end).toMatchObject({ standing: "blocked", report: { reasons: [expect.stringContaining("never")] } });
    expect(always.model.requests.length).toBeLessThan(8);
  });

  test("that fail refuse where they may have been there to prevent something, and are told elsewhere", async () => {
    const broken = setUp(on("before_tool", { result: "failed", reason: "exit status 1" }));
    await run(broken.ports);
    expect(broken.tool.runs).toEqual([]);
    const harmless = setUp(on("after_tool", { result: "failed", reason: "exit status 1" }));
    const { end, view } = await run(harmless.ports);
    expect([end.standing, harmless.tool.runs.length]).toEqual(["unverified", 2]);
    expect(view.events.filter(({ type }) => type === "hook.ran")).toHaveLength(2);
  });

  test("what is typed into an open turn is asked about once", async () => {
    const { ports, hooks, model } = setUp(({ event, data }) =>
      event === "prompt_submitted" && data["prompt"] === "bad" ? { result: "denied", reason: "no" } : null,
    );
    const session = await newSession(ports);
    await post(ports, session, say("do it"));
    await drive(ports, session, {
      waiting: "return",
      onEvent: (event) => {
        if (event.type !== "sampling.intended" || event.payload.step !== 1) return;
        void post(ports, session, say("bad"));
        void post(ports, session, say("good"));
      },
    });
    const asked = hooks.calls.filter(({ event }) => event === "prompt_submitted").map(({ data }) => data["prompt"]);
    expect(asked).toEqual(["do it", "bad", "good"]);
    const last = JSON.stringify(model.requests.at(-1));
    expect([last.includes('"good"'), last.includes('"bad"')]).toEqual([true, false]);
    await expectLaw(ports.log, session);
    expect(await ports.log.inbox(session)).toEqual([]);
  });
});
