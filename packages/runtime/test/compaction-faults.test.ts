import type { Item } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { drive, post } from "../src/index.ts";
import { compactionsOf } from "../src/session/compactions.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, createTestModel, createTestTool, createWorld, done, newSession, portsOf, runPrompt, say } from "./kit.ts";

// Faults of other harnesses, area 7 (compaction), by their ids. K01, K06 and K10 stand with the judgement and the state that
// they are about, K08 with the images.

const long = "x".repeat(20_000);
const wish = { type: "compaction.request", by: "me" } as const;

/** Calls `read` until it has been asked so many times. */
function reader(calls: number, more: Parameters<typeof createTestTool>[0]["run"] = async () => done(long)) {
  let asked = 0;
  const model = createTestModel(() => ((asked += 1) <= calls ? { calls: [{ name: "read", input: { asked } }] } : { text: "done" }));
  return { model, tool: createTestTool({ name: "read", run: more }), more: (n: number) => (asked = -n) };
}

const states = (items: readonly Item[]): number => items.filter(({ kind }) => kind === "notice").length;

test("chained compaction orphan (K04): five compactions with tool turns between leave every call with its result, and one state", async () => {
  const { model, tool, more } = reader(3);
  const world = createWorld({ model, tools: [tool] });
  const ports = portsOf(world);
  const { session } = await runPrompt(ports);
  for (let round = 0; round < 5; round += 1) {
    more(2);
    for (const op of [wish, say(`round ${round}`)]) {
      await post(ports, session, op);
      await drive(ports, session, { waiting: "return" });
    }
  }
  expect((await compactionsOf(world, session)).filter(({ report }) => report !== null)).toHaveLength(5);
  for (const { items } of model.requests) {
    expectPaired(items);
    expect(states(items)).toBeLessThanOrEqual(1);
  }
  const last = JSON.stringify(model.requests.at(-1)!.items[0]);
  for (let round = 0; round < 4; round += 1) expect(last).toContain(`round ${round}`);
  await expectLaw(world.log, session);
});

describe("compaction with pending calls (K05)", () => {
  test.each([
    ["by a person", {}, true],
    ["by a full window", { compactAtTokens: 2_000 }, false],
  ])("%s it waits for the call that runs, whose result comes paired", async (_, settings, isAsked) => {
    let session = "";
    const { model, tool } = reader(4, async () => {
      if (isAsked) await post(ports, session, wish);
      await new Promise((resolve) => setTimeout(resolve, 60));
      return done(long);
    });
    const world = createWorld({ model, tools: [tool] });
    const ports = portsOf(world);
    session = await newSession(ports, settings);
    await post(ports, session, say("do it"));
    const end = await drive(ports, session, { waiting: "return" });
    expect(end.standing).toBe("unverified");
    expect((await compactionsOf(world, session)).some(({ report }) => report !== null)).toBe(true);
    for (const { items } of model.requests) expectPaired(items);
    expect(tool.runs).toHaveLength(4);
    await expectLaw(world.log, session);
  });

  test("while an approval is open it waits, and the approval can still be answered", async () => {
    const { model, tool } = reader(3);
    const world = createWorld({
      model,
      tools: [tool],
      policy: () => ({ ...allow, decision: tool.runs.length === 2 ? "review" : "allow" }),
    });
    const ports = portsOf(world);
    const { session, end } = await runPrompt(ports);
    expect(end.approvals).toHaveLength(1);
    await post(ports, session, wish);
    expect((await drive(ports, session, { waiting: "return" })).approvals).toHaveLength(1);
    expect(await compactionsOf(world, session)).toEqual([]);
    await post(ports, session, { type: "approval.answer", approvalId: end.approvals[0]!.id, answer: "allow", by: "me", note: "" });
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
    expect(tool.runs).toHaveLength(3);
    expect(await compactionsOf(world, session)).toHaveLength(1);
    for (const { items } of model.requests) expectPaired(items);
  });
});

describe("compaction race (K11)", () => {
  test("a person's wish while the model answers, twice, near the mark: exactly one compaction", async () => {
    let session = "";
    let asked = 0;
    const model = createTestModel(async () => {
      asked += 1;
      if (asked === 4) for (let n = 0; n < 2; n += 1) await post(ports, session, wish);
      return asked < 5 ? { calls: [{ name: "read", input: { asked } }] } : { text: "done" };
    });
    const world = createWorld({ model, tools: [createTestTool({ name: "read", run: async () => done(long) })] });
    const ports = portsOf(world);
    session = await newSession(ports, { compactAtTokens: 19_000 });
    await post(ports, session, say("do it"));
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
    expect(await compactionsOf(world, session)).toHaveLength(1);
  });

  test("an interrupt while it is under way ends it, between turns and within one, and the old window stands", async () => {
    const { model, tool, more } = reader(3);
    const world = createWorld({ model, tools: [tool] });
    const ports = portsOf(world);
    let session = "";
    const holding = {
      ...ports,
      director: {
        ...ports.director,
        compact: async (input: Parameters<typeof ports.director.compact>[0]) => {
          await post(ports, session, { type: "interrupt", by: "me" });
          await new Promise((resolve) => setTimeout(resolve, 100));
          return ports.director.compact(input);
        },
      },
    };
    session = (await runPrompt(ports)).session;
    await post(holding, session, wish);
    await drive(holding, session, { waiting: "return" });
    expect(await compactionsOf(world, session)).toMatchObject([{ report: null, reason: "it was interrupted by me" }]);
    more(3);
    await post(holding, session, say("again"));
    const between = await drive({ ...holding, director: ports.director }, session, { waiting: "return" });
    expect(between.standing).toBe("unverified");
    expect(states(model.requests.at(-1)!.items)).toBe(0);
    // What a person took back stands in nobody's way.
    await post(ports, session, wish);
    await drive(ports, session, { waiting: "return" });
    expect((await compactionsOf(world, session)).at(-1)!.report).not.toBeNull();
    await expectLaw(world.log, session);
  });

  test("what is said meanwhile is answered after it", async () => {
    const { model, tool } = reader(3);
    const world = createWorld({ model, tools: [tool] });
    const ports = portsOf(world);
    const { session } = await runPrompt(ports);
    const saying = {
      ...ports,
      director: {
        ...ports.director,
        compact: async (input: Parameters<typeof ports.director.compact>[0]) => {
          await post(ports, session, say("and this?"));
          return ports.director.compact(input);
        },
      },
    };
    await post(saying, session, wish);
    await drive(saying, session, { waiting: "return" });
    await drive(ports, session, { waiting: "return" });
    const { items } = model.requests.at(-1)!;
    expect(items.map(({ kind }) => kind)).toEqual(["notice", "user_message"]);
    expect(JSON.stringify(items[1])).toContain("and this?");
  });
});

describe("turn lost after compaction (K12)", () => {
  test("a turn in the midst of its calls goes on after it, once", async () => {
    let session = "";
    let runs = 0;
    const { model, tool } = reader(4, async () => {
      if ((runs += 1) === 3) await post(ports, session, wish);
      return done(long);
    });
    const world = createWorld({ model, tools: [tool] });
    const ports = portsOf(world);
    session = await newSession(ports);
    await post(ports, session, say("do it"));
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("unverified");
    const types = (await world.log.read(session, 1)).map(({ type }) => type);
    expect(types.filter((type) => type === "turn.started")).toHaveLength(1);
    expect(types.filter((type) => type === "turn.ended")).toHaveLength(1);
    expect(types.indexOf("window.compacted")).toBeLessThan(types.lastIndexOf("call.settled"));
    expect(tool.runs).toHaveLength(4);
    expect(model.requests).toHaveLength(5);
  });

  test("between turns it starts none", async () => {
    const { model, tool } = reader(3);
    const world = createWorld({ model, tools: [tool] });
    const ports = portsOf(world);
    const { session } = await runPrompt(ports);
    const before = model.requests.length;
    await post(ports, session, wish);
    expect((await drive(ports, session, { waiting: "return" })).standing).toBe("idle");
    expect(model.requests).toHaveLength(before);
    expect(await compactionsOf(world, session)).toHaveLength(1);
  });
});

test("a window of ten thousand tokens is shortened before its provider has to refuse, with the longest answer's place kept", async () => {
  const { model, tool } = reader(12, async () => done("y".repeat(6_000)));
  const small: typeof model = {
    ...model,
    contextWindow: 10_000,
    maxOutput: 2_000,
    async *sample(request, signal) {
      const inputTokens = Math.ceil(JSON.stringify(request.items).length / 4);
      for await (const part of model.sample(request, signal))
        yield part.type === "finished" ? { ...part, usage: { ...part.usage, inputTokens } } : part;
    },
  };
  const world = createWorld({ model: small, tools: [tool] });
  const { session, end } = await runPrompt(portsOf(world));
  expect(end.standing).toBe("unverified");
  expect((await compactionsOf(world, session)).filter(({ report }) => report !== null).length).toBeGreaterThan(1);
  for (const { items } of model.requests) expect(JSON.stringify(items).length / 4).toBeLessThan(8_000);
});

test("a server that counts no tokens is not believed: the window is shortened all the same", async () => {
  const { model, tool } = reader(8);
  const silent: typeof model = {
    ...model,
    async *sample(request, signal) {
      for await (const part of model.sample(request, signal))
        yield part.type === "finished" ? { ...part, usage: { ...part.usage, inputTokens: 0, outputTokens: 0 } } : part;
    },
  };
  const world = createWorld({ model: silent, tools: [tool] });
  const { session, end } = await runPrompt(portsOf(world), { compactAtTokens: 9_000 });
  expect(end.standing).toBe("unverified");
  expect((await compactionsOf(world, session)).length).toBeGreaterThan(0);
});

test("a result that alone fills the next window keeps both ends there, and says how the rest is got back", async () => {
  const { model, tool } = reader(3, async () => done(`begin ${"z".repeat(60_000)} end`, { output: "out_1" }));
  const world = createWorld({ model, tools: [tool] });
  const { end } = await runPrompt(portsOf(world), { compactAtTokens: 10_000 });
  expect(end.standing).toBe("unverified");
  const result = model.requests.at(-1)!.items.at(-1)!;
  expect(result).toMatchObject({
    kind: "tool_result",
    text: expect.stringMatching(/^begin z+\n… \[\d+ characters left out.*read_output reads out_1\] …\nz+ end$/),
  });
});
