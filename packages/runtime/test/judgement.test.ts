import { expect, test } from "vitest";
import { drive, post } from "../src/index.ts";
import { compactionsOf } from "../src/session/compactions.ts";
import type { Answer } from "./kit.ts";
import { createTestModel, createTestTool, createWorld, done, newSession, portsOf, say } from "./kit.ts";
import { expectLaw } from "./invariants.ts";

const isAsked = (instructions: string): boolean => instructions === "judge";

/** A session with three long results whose windows end by steps; `judge` answers where the model is asked for its judgement. */
async function shorten(judge: (tries: number) => Answer | Promise<Answer>, settings: object = {}) {
  let tries = 0;
  let steps = 0;
  const model = createTestModel(async (_, { instructions }) => {
    if (isAsked(instructions)) return judge((tries += 1));
    return (steps += 1) < 4 ? { calls: [{ name: "read", input: { steps } }] } : { text: "done" };
  });
  const tool = createTestTool({ name: "read", run: async () => done("x".repeat(20_000)) });
  const world = createWorld({ model, tools: [tool] });
  const ports = portsOf(world);
  const given: (string | null)[] = [];
  const director = {
    ...ports.director,
    askJudgement: async () => ({ instructions: "judge", text: "what do you make of it?", schema: {} }),
    compact: async (input: Parameters<typeof ports.director.compact>[0]) => {
      given.push(input.judgement);
      return ports.director.compact(input);
    },
  };
  const own = { ...ports, director };
  const session = await newSession(own, { compactAtSteps: 3, ...settings });
  await post(own, session, say("do it"));
  const end = await drive(own, session, { waiting: "return" });
  const [compaction] = await compactionsOf(world, session);
  return { world, ports: own, model, session, end, compaction, given, asked: () => tries };
}

test("a window that has had its steps ends, with what a model made of it, and the next one counts anew", async () => {
  const { world, session, end, compaction, given, model } = await shorten(() => ({ text: '{"intent":"read all"}' }));
  expect(end.standing).toBe("unverified");
  expect(compaction).toMatchObject({ trigger: "steps", reason: null });
  expect(given).toEqual([null, '{"intent":"read all"}']);
  const request = model.requests.find(({ instructions }) => isAsked(instructions))!;
  expect(request).toMatchObject({ tools: [], items: [{ kind: "user_message" }] });
  expect(await compactionsOf(world, session)).toHaveLength(1);
  await expectLaw(world.log, session);
});

test("what the judgement cost counts as the session's", async () => {
  const { world, session } = await shorten(() => ({ text: "{}" }));
  const head = JSON.parse((await world.log.load(session))!.head) as { usage: { inputTokens: number } };
  expect(head.usage.inputTokens).toBe(500);
});

test.each([
  ["nothing", (): Answer => ({ text: " " }), "empty"],
  ["an error", (): Answer => ({ fail: { type: "failed", error: failure("the server is down") } }), "the server is down"],
  ["a text longer than the window", (): Answer => ({ text: "y".repeat(90_000) }), "too long"],
  ["calls", (): Answer => ({ calls: [{ name: "read", input: {} }] }), "proposed calls"],
])("compaction loop (K01): a model that answers with %s is asked once, and the window ends without it", async (_, judge, why) => {
  const { end, compaction, asked, given } = await shorten(judge);
  expect(end.standing).toBe("unverified");
  expect(asked()).toBe(1);
  expect(given).toEqual([null]);
  expect(compaction?.report?.flags).toEqual([expect.stringContaining(why)]);
});

test("a model that never answers is given up after a while", async () => {
  const { end, compaction } = await shorten(() => new Promise<Answer>((resolve) => setTimeout(() => resolve({}), 200)));
  expect(end.standing).toBe("unverified");
  expect(compaction?.report?.flags).toEqual([expect.stringContaining("no answer in 120 s")]);
});

test.each([
  ["the session wants none", { compactModel: null }],
  ["too little is left of its tokens", { limits: { tokensPerSession: 6_000 } }],
])("no model is asked where %s", async (_, settings) => {
  const { testSettings } = await import("./kit.ts");
  const { limits, ...rest } = settings as { limits?: object };
  const { asked } = await shorten(() => ({ text: "{}" }), limits === undefined ? rest : { limits: { ...testSettings.limits, ...limits } });
  expect(asked()).toBe(0);
});

test("no model is asked for a window that can't become shorter", async () => {
  let asked = 0;
  const model = createTestModel((_, { instructions }) => {
    if (isAsked(instructions)) asked += 1;
    return { text: "done" };
  });
  const world = createWorld({ model });
  const ports = portsOf(world);
  const director = { ...ports.director, askJudgement: async () => ({ instructions: "judge", text: "", schema: {} }) };
  const session = await newSession(ports);
  for (const op of [say("y".repeat(60_000)), { type: "compaction.request", by: "me" } as const]) {
    await post(ports, session, op);
    await drive({ ...ports, director }, session, { waiting: "return" });
  }
  const [failed] = await compactionsOf(world, session);
  expect(failed?.reason).toContain("start a new session");
  expect(asked).toBe(0);
});

function failure(message: string) {
  return { class: "network" as const, message, status: null, code: null, retryAfterMs: null };
}
