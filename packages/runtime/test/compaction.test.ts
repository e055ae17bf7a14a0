import type { CallPlan, Item } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { drive, post, readSession } from "../src/index.ts";
import { replaySession } from "../src/session/replay.ts";
import { requestsOf } from "../src/session/requests.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, createTestModel, createTestTool, createWorld, done, newSession, portsOf, runPrompt, say } from "./kit.ts";

const long = "x".repeat(20_000);

/** Counts as a provider would: about four characters a token. */
function counting(model: ReturnType<typeof createTestModel>): typeof model {
  return {
    ...model,
    async *sample(request, signal) {
      const inputTokens = Math.ceil(JSON.stringify(request.items).length / 4);
      for await (const part of model.sample(request, signal)) {
        yield part.type === "finished" ? { ...part, usage: { ...part.usage, inputTokens } } : part;
      }
    },
  };
}

/** A model that calls a tool with a long result again and again, and ends after `steps` answers, whatever its window shows. */
function longSession(steps: number, answerBytes = long) {
  const tool = createTestTool({ name: "read", run: async () => done(answerBytes) });
  let asked = 0;
  const model = counting(
    createTestModel(() => {
      asked += 1;
      return asked < steps ? { calls: [{ name: "read", input: { asked } }] } : { text: "all read" };
    }),
  );
  return { world: createWorld({ model, tools: [tool] }), model };
}

const compactions = async (world: ReturnType<typeof createWorld>, session: string) =>
  (await world.log.read(session, 1)).filter(({ type }) => type === "window.compacted");

describe("a conversation that grows over its mark", () => {
  test("is shortened between two steps, as often as it takes, and the turn goes on to its end", async () => {
    const { world, model } = longSession(12);
    const { session, end } = await runPrompt(portsOf(world), { compactAtTokens: 12_000 });
    expect(end.standing).toBe("unverified");
    expect((await compactions(world, session)).length).toBeGreaterThan(2);
    const sizes = model.requests.map(({ items }) => JSON.stringify(items).length);
    expect(Math.max(...sizes)).toBeLessThan(90_000);
    for (const { items } of model.requests) expectPaired(items);
    expect(model.requests.at(-1)!.items[0]).toMatchObject({ kind: "notice", text: expect.stringContaining("do it") });
    expect(model.requests.at(-1)!.answersBefore).toBeGreaterThan(5);
    await expectLaw(world.log, session);
    const replayed = await replaySession(
      { log: world.log, blobs: world.blobs, director: portsOf(world).director, bodyDigest: async () => null },
      session,
    );
    expect(replayed.departure).toBeNull();
  });

  test("goes on in another process from its new window", async () => {
    const { world, model } = longSession(6);
    const { session } = await runPrompt(portsOf(world), { compactAtTokens: 12_000 });
    await post(portsOf(world, 2), session, say("and now?"));
    const end = await drive(portsOf(world, 2), session, { waiting: "return" });
    expect(end.standing).toBe("unverified");
    expect(model.requests.at(-1)!.items[0]!.kind).toBe("notice");
    expect((await readSession(world, session)).items.length).toBeGreaterThan(12);
  });

  test("keeps for the policy what stood in earlier windows, once each, where a server's tool is judged", async () => {
    const { world, model } = longSession(8);
    const read = world.tools[0]!;
    const server = { server: "s", tool: "read", definition: "d" };
    const judged: Item[][] = [];
    const tools = [
      { ...read, plan: async (...args: Parameters<typeof read.plan>) => ({ ...(await read.plan(...args)), mcp: server }) as CallPlan },
    ];
    const watched = createWorld({
      model,
      tools,
      policy: (_, { flow }) => {
        judged.push([...(flow?.items ?? [])]);
        return allow;
      },
    });
    const { session } = await runPrompt(portsOf(watched), { compactAtTokens: 12_000 });
    const count = (await compactions(watched, session)).length;
    expect(count).toBeGreaterThan(1);
    await post(portsOf(watched), session, say("and now?"));
    await drive(portsOf(watched), session, { waiting: "return" });
    const last = judged.at(-1)!;
    expect(last[0]).toMatchObject({ kind: "user_message", parts: [{ text: "do it" }] });
    expect(last.filter(({ kind }) => kind === "tool_result")).toHaveLength(judged.length - 1);
    expect(new Set(last.map(({ id }) => id)).size).toBe(last.length);
    expect(last.some(({ kind }) => kind === "notice")).toBe(false);
  });

  test("that can't be shortened is told once, and the turn goes on without a loop", async () => {
    const { world } = longSession(20, "short");
    const session = await newSession(portsOf(world), { compactAtTokens: 5_000 });
    await post(portsOf(world), session, say("y".repeat(60_000)));
    const end = await drive(portsOf(world), session, { waiting: "return" });
    expect(end.standing).toBe("unverified");
    const failures = (await world.log.read(session, 1)).filter(({ type }) => type === "compaction.failed");
    expect(failures).toHaveLength(1);
  });

  test("keeps what the model has not seen yet, whole", async () => {
    const { world, model } = longSession(12);
    await runPrompt(portsOf(world), { compactAtTokens: 12_000 });
    for (const { items } of model.requests.slice(1)) expect(items.at(-1)).toMatchObject({ kind: "tool_result", text: long });
  });

  test("says of what it keeps where that came from: the answer to which request, and the event it was first told in", async () => {
    const { world, model } = longSession(12);
    const { session } = await runPrompt(portsOf(world), { compactAtTokens: 12_000 });
    const events = await world.log.read(session, 1);
    const numbers = model.requests.map((_, index) => index + 1);
    const { found } = await requestsOf(portsOf(world), session, numbers);
    expect(found.filter(({ state }) => state !== null).length).toBeGreaterThan(2);
    for (const { items, origins, number } of found) {
      const calls = items.filter(({ kind }) => kind === "tool_call");
      const answers = calls.map(({ id }) => origins.get(id)!);
      // One call an answer: the last is of the request before, and so on back to the window's first.
      expect(answers.map(({ request }) => request)).toEqual(calls.map((_, at) => number - calls.length + at));
      for (const { seq } of answers) expect(events.find((event) => event.seq === seq)?.type).toBe("sampling.settled");
    }
  });
});

describe("by hand", () => {
  test("an idle session is shortened, and what is typed meanwhile is not lost", async () => {
    const { world, model } = longSession(4);
    const { session } = await runPrompt(portsOf(world));
    await post(portsOf(world), session, { type: "compaction.request", by: "me" });
    await post(portsOf(world), session, say("next, please"));
    await drive(portsOf(world), session, { waiting: "return" });
    const [first, second] = model.requests.at(-1)!.items;
    expect(first).toMatchObject({ kind: "notice" });
    expect(second).toMatchObject({ kind: "user_message", parts: [{ text: "next, please" }] });
    expect(await compactions(world, session)).toHaveLength(1);
    await expectLaw(world.log, session);
  });

  test("nothing is shortened while a call is pending", async () => {
    const tool = createTestTool({
      name: "read",
      run: async () => {
        await post(portsOf(world), sessionId, { type: "compaction.request", by: "me" });
        return done(long);
      },
    });
    let sessionId = "";
    let asked = 0;
    const model = createTestModel(() => ((asked += 1) < 3 ? { calls: [{ name: "read", input: { asked } }] } : {}));
    const world = createWorld({ model, tools: [tool] });
    sessionId = await newSession(portsOf(world));
    await post(portsOf(world), sessionId, say("do it"));
    await drive(portsOf(world), sessionId, { waiting: "return" });
    const types = (await world.log.read(sessionId, 1)).map(({ type }) => type);
    const at = types.indexOf("window.compacted");
    expect(at).toBeGreaterThan(types.indexOf("call.settled"));
    for (const { items } of model.requests) expectPaired(items);
  });
});

test("a request that the provider finds too long leads to a shorter one", async () => {
  const tool = createTestTool({ name: "read", run: async () => done(long) });
  let asked = 0;
  const model = createTestModel((_, { items }) => {
    if (JSON.stringify(items).length > 50_000) {
      const error = { class: "context_overflow" as const, message: "too long", status: 400, code: null, retryAfterMs: null };
      return { fail: { type: "failed", error } };
    }
    return (asked += 1) < 6 ? { calls: [{ name: "read", input: { asked } }] } : { text: "done" };
  });
  const world = createWorld({ model, tools: [tool] });
  const { session, end } = await runPrompt(portsOf(world));
  expect(end.standing).toBe("unverified");
  expect((await compactions(world, session)).length).toBeGreaterThan(0);
});

test("where nothing can be made shorter, a refused request ends the turn with a way out", async () => {
  const error = { class: "context_overflow" as const, message: "too long", status: 400, code: null, retryAfterMs: null };
  let asked = 0;
  const model = createTestModel(() =>
    (asked += 1) < 3 ? { calls: [{ name: "read", input: { asked } }] } : { fail: { type: "failed", error } },
  );
  const world = createWorld({ model, tools: [createTestTool({ name: "read", run: async () => done(long) })] });
  const { session, end } = await runPrompt(portsOf(world));
  expect(end.standing).toBe("exhausted");
  const stopping = (await world.log.read(session, 1)).find(({ type }) => type === "turn.stopping");
  expect(JSON.stringify(stopping?.payload)).toContain("trigger_tokens");
});

test("a compaction that is broken off leaves the old window, and is done by the next driver", async () => {
  const { world: here, model } = longSession(6);
  const session = await newSession(portsOf(here), { compactAtTokens: 12_000 });
  await post(portsOf(here), session, say("do it"));
  const stops = async ({ when, name }: { when: string; name: string }): Promise<void> => {
    if (when === "before" && name.includes("window.compacted")) throw new Error("killed");
  };
  await expect(drive(portsOf(here), session, { waiting: "return", stops })).rejects.toThrow("killed");
  expect(await compactions(here, session)).toHaveLength(0);
  const end = await drive(portsOf(here, 2), session, { waiting: "return" });
  expect(end.standing).toBe("unverified");
  expect((await compactions(here, session)).length).toBeGreaterThan(0);
  for (const { items } of model.requests) expectPaired(items);
  await expectLaw(here.log, session);
});
