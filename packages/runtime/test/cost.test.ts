import { defaultLimits, type Usage } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changeSettings, drive, post, readSession, type Model, type SamplingRequest, type StreamPart } from "../src/index.ts";
import { expectLaw } from "./invariants.ts";
import { createTestModel, createTestTool, createWorld, done, newSession, portsOf, runPrompt, say } from "./kit.ts";

/** US dollars per million tokens. */
interface Price {
  readonly input: number;
  readonly output: number;
}

const costAt =
  ({ input, output }: Price) =>
  (usage: Usage): number =>
    (usage.inputTokens * input + usage.outputTokens * output) / 1_000_000;

const readTool = () => createTestTool({ name: "read" });
const limited = (costPerSession: number) => ({ limits: { ...defaultLimits, costPerSession, allowsUnknownCost: false } });

/** What a tokenizer makes of a request: `each` token a character of its texts, beside its fixed parts. */
function inputTokens({ items }: SamplingRequest, each: number): number {
  const texts = items.map((item) => ("text" in item ? item.text : "input" in item ? item.input : "do it"));
  return Math.ceil(texts.reduce((sum, text) => sum + text.length * each, 3_000));
}

/** Always goes on, and says as much as it may. */
function greedy(price: Price, maxOutput: number, each = 0.25): Model & { readonly caps: (number | null)[] } {
  const caps: (number | null)[] = [];
  return {
    id: "test/greedy",
    contextWindow: null,
    maxOutput,
    cost: costAt(price),
    caps,
    async *sample(request): AsyncGenerator<StreamPart> {
      caps.push(request.maxOutputTokens);
      yield { type: "started" };
      yield { type: "item", index: 0, item: { kind: "tool_call", name: "read", input: JSON.stringify({ n: caps.length }) } };
      const outputTokens = request.maxOutputTokens ?? maxOutput;
      const usage = { inputTokens: inputTokens(request, each), cachedInputTokens: 0, outputTokens, reasoningTokens: 0 };
      yield { type: "finished", finish: "calls", usage, cost: null };
    },
  };
}

test("what a sampling cost is reckoned from its usage, and is the session's", async () => {
  const model = {
    ...createTestModel((n) => (n === 0 ? { calls: [{ name: "read", input: {} }] } : { text: "done" })),
    cost: costAt({ input: 2, output: 10 }),
  };
  const world = createWorld({ model, tools: [readTool()] });
  const { session } = await runPrompt(portsOf(world), limited(1));
  const view = await readSession(world, session);
  const each = (100 * 2 + 10 * 10) / 1_000_000;
  expect(view.events.flatMap((event) => (event.type === "sampling.settled" ? [event.payload.cost] : []))).toEqual([each, each]);
  expect(view.cost).toBeCloseTo(2 * each, 12);
});

test("a limit of cost is never passed by a model that says as much as it may, whatever its price, its tokenizer and its results", async () => {
  const price = fc.record({
    input: fc.double({ min: 0.01, max: 60, noNaN: true }),
    output: fc.double({ min: 0.01, max: 300, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(
      price,
      fc.double({ min: 0.001, max: 3, noNaN: true }),
      fc.integer({ min: 1_000, max: 128_000 }),
      fc.double({ min: 0.1, max: 1, noNaN: true }),
      fc.integer({ min: 0, max: 40_000 }),
      async (at, cap, most, each, size) => {
        const model = greedy(at, most, each);
        const tool = createTestTool({ name: "read", run: async ({ callId }) => done(callId + "x".repeat(size)) });
        const world = createWorld({ model, tools: [tool] });
        const { session, end } = await runPrompt(portsOf(world), { limits: { ...defaultLimits, costPerSession: cap, stepsPerTurn: 30 } });
        expect(end.standing).toBe("exhausted");
        expect((await readSession(world, session)).cost ?? 0).toBeLessThanOrEqual(cap);
      },
    ),
    { numRuns: 40 },
  );
});

/** Makes a token of each byte of all that it is asked, as no tokenizer does worse, and says as much as it may. */
function bytewise(): Model & { readonly spent: number[] } {
  const spent: number[] = [];
  const bytes = (value: unknown): number => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value)).length;
  return {
    id: "test/bytes",
    contextWindow: null,
    maxOutput: 2_000,
    spent,
    async *sample({ instructions, tools, items, maxOutputTokens }): AsyncGenerator<StreamPart> {
      yield { type: "started" };
      yield { type: "item", index: 0, item: { kind: "tool_call", name: "read", input: JSON.stringify({ n: spent.length }) } };
      const texts = items.flatMap((item) =>
        item.kind === "user_message"
          ? item.parts.map((part) => ("text" in part ? part.text : ""))
          : [item.kind === "tool_call" ? item.input : "text" in item ? item.text : ""],
      );
      const inputTokens = texts.reduce((sum, text) => sum + bytes(text), bytes(instructions) + bytes(tools));
      const outputTokens = maxOutputTokens ?? 2_000;
      spent.push(inputTokens + outputTokens);
      yield {
        type: "finished",
        finish: "calls",
        usage: { inputTokens, cachedInputTokens: 0, outputTokens, reasoningTokens: 0 },
        cost: null,
      };
    },
  };
}

test.each(["at the start", "after another model", "after a compaction"])(
  "a limit of tokens is not passed by the first request that nobody has counted, %s, whatever its script and its tools",
  async (when) => {
    for (const [text, size] of [
      ["字", 30_000],
      ["7", 90_000],
      ["𓀀", 20_000],
    ] as const) {
      for (const cap of [95_000, 150_000, 400_000]) {
        const model = bytewise();
        const spec = { name: "read", description: "読む".repeat(2_000), schema: { type: "object" } };
        const tool = { ...createTestTool({ name: "read", run: async () => done(text.repeat(500)) }), spec };
        const world = createWorld({ model, tools: [tool] });
        const ports = portsOf(world);
        const session = await newSession(ports, { limits: { ...defaultLimits, tokensPerSession: cap, stepsPerTurn: 3 } });
        await post(ports, session, say(text.repeat(size)));
        if (when === "at the start") await drive(ports, session, { waiting: "return" });
        else {
          await drive(ports, session, { waiting: "return" });
          if (when === "after another model") await changeSettings(ports, session, { model: "test/other" });
          else await post(ports, session, { type: "compaction.request", by: "test" });
          await post(ports, session, say(text.repeat(500)));
          await drive(ports, session, { waiting: "return" });
        }
        expect(model.spent.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(cap);
        // What surely fits is asked.
        expect(model.spent.length > 0).toBe(cap > 115_000);
      }
    }
  },
);

test("where the money comes near its end the answer's length is capped, and the turn ends before it is passed", async () => {
  const model = greedy({ input: 1, output: 10 }, 64_000);
  const world = createWorld({ model, tools: [readTool()] });
  const { session, end } = await runPrompt(portsOf(world), limited(1));
  expect(end).toMatchObject({ standing: "exhausted", exitStatus: 5 });
  expect(end.report?.heading).toContain("limit of cost");
  expect(model.caps[0]).toBeNull();
  expect(model.caps.at(-1)).toBeLessThan(64_000);
  const view = await readSession(world, session);
  expect(view.events.find((event) => event.type === "limit.reached")?.payload).toMatchObject({ limit: "costPerSession", max: 1 });
  await expectLaw(world.log, session);
});

test("a request whose worst case can't be paid is not sent at all", async () => {
  const model = greedy({ input: 100, output: 100 }, 64_000);
  const world = createWorld({ model, tools: [readTool()] });
  const { session, end } = await runPrompt(portsOf(world), limited(0.01));
  expect([end.standing, model.caps]).toEqual(["exhausted", []]);
  expect((await readSession(world, session)).cost).toBeNull();
});

test("an answer that was cut is booked at its estimated cost, and a retry that can't be paid is not made", async () => {
  const error = { class: "cut", message: "cut", status: null, code: null, retryAfterMs: null } as const;
  let requests = 0;
  const model: Model = {
    id: "test/cut",
    contextWindow: null,
    cost: costAt({ input: 10, output: 1_000 }),
    async *sample() {
      requests += 1;
      yield { type: "started" };
      yield { type: "text.delta", index: 0, text: "x".repeat(4_000) };
      yield { type: "failed", error };
    },
  };
  const world = createWorld({ model });
  const { session, end } = await runPrompt(portsOf(world), limited(2.2));
  const view = await readSession(world, session);
  const lost = view.events.flatMap((event) => (event.type === "sampling.failed" ? [event.payload] : []));
  expect(lost.map(({ usage, cost }) => [usage?.estimated, usage?.outputTokens, (cost ?? 0) > 1])).toEqual([
    [true, 1_000, true],
    [true, 1_000, true],
  ]);
  expect([requests, end.standing]).toEqual([2, "exhausted"]);
  expect(view.cost).toBeLessThanOrEqual(2.2);
  await expectLaw(world.log, session);
});

test("an answer whose line broke is booked with what was asked and said; one that never began costs nothing", async () => {
  for (const [begins, booked] of [
    [true, true],
    [false, false],
  ] as const) {
    const error = { class: "network" as const, code: "idle_timeout", message: "nothing new", status: null, retryAfterMs: null };
    let asked = 0;
    const model: Model = {
      id: "test/breaking",
      contextWindow: null,
      cost: costAt({ input: 2, output: 10 }),
      async *sample(): AsyncGenerator<StreamPart> {
        asked += 1;
        if (begins || asked > 1) yield { type: "started" };
        if (begins) yield { type: "text.delta", index: 0, text: "x".repeat(4_000) };
        if (asked === 1) return yield { type: "failed", error };
        yield { type: "item", index: 0, item: { kind: "assistant_message", text: "done" } };
        const usage = { inputTokens: 100, cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0 };
        yield { type: "finished", finish: "stop", usage, cost: null };
      },
    };
    const world = createWorld({ model });
    const { session } = await runPrompt(portsOf(world), limited(1));
    const { events } = await readSession(world, session);
    const [failed] = events.flatMap((event) => (event.type === "sampling.failed" ? [event.payload] : []));
    // The fixed parts of a request count from the first one on.
    expect([(failed?.usage?.inputTokens ?? 0) >= 2_000, failed?.usage?.outputTokens === 1_000, (failed?.cost ?? 0) > 0]).toEqual([
      booked,
      booked,
      booked,
    ]);
  }
});

test("once the cost of a request is unknown the limit can't be held, also where earlier ones had a price", async () => {
  const bare = createTestModel(() => ({ text: "done" }));
  let model: Model = { ...bare, cost: costAt({ input: 1, output: 1 }) };
  const world = createWorld({ model: { ...bare, sample: (request, signal) => model.sample(request, signal) } });
  const ports = { ...portsOf(world), model: async () => model };
  const { session, end } = await runPrompt(ports, limited(1));
  expect(end.standing).toBe("unverified");
  model = bare;
  await changeSettings(ports, session, { model: "test/unpriced" });
  for (const standing of ["unverified", "exhausted"]) {
    await post(ports, session, say("more"));
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe(standing);
  }
  const view = await readSession(world, session);
  expect(view.cost).toBeCloseTo(110 / 1_000_000, 12);
  expect(view.turns.at(-1)?.report?.heading).toContain("cost is unknown");
});

test("what the provider itself says a request cost wins over the price list", async () => {
  const model: Model = {
    id: "test/told",
    contextWindow: null,
    cost: costAt({ input: 1, output: 1 }),
    async *sample() {
      yield { type: "item", index: 0, item: { kind: "assistant_message", text: "done" } };
      yield {
        type: "finished",
        finish: "stop",
        usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0 },
        cost: 0.25,
      };
    },
  };
  const world = createWorld({ model });
  const { session } = await runPrompt(portsOf(world), limited(1));
  expect((await readSession(world, session)).cost).toBe(0.25);
});
