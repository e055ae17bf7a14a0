import { expect, test } from "vitest";
import { drive, post, readSession } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, Crash, createTestModel, createTestTool, createWorld, done, newSession, portsOf, runPrompt, say } from "./kit.ts";

test("of hundreds of calls in one answer as many run as may be open, the rest are told so, and the session goes on", async () => {
  const tool = createTestTool({ name: "act", replay: "never" });
  const calls = Array.from({ length: 400 }, (_, n) => ({ name: "act", input: { n } }));
  const world = createWorld({ model: createTestModel((index) => (index < 1 ? { calls } : {})), tools: [tool] });
  const { session, end } = await runPrompt(portsOf(world));
  expect(end.standing).toBe("unverified");
  await expectLaw(world.log, session);
  const { items } = await readSession(world, session);
  expectPaired(items);
  const results = items.flatMap((item) => (item.kind === "tool_result" ? [item.status] : []));
  expect(results.filter((status) => status === "completed")).toHaveLength(tool.runs.length);
  expect(results.slice(0, 100).every((status) => status === "completed")).toBe(true);
  expect(results.slice(100).every((status) => status === "failed")).toBe(true);
});

test.each([
  ["giving up", { calls: [{ name: "give_up", input: {} }] }],
  [
    "a model's failure",
    {
      fail: {
        type: "failed" as const,
        error: { class: "invalid_request" as const, message: "\u0000".repeat(50_000), status: 400, code: null, retryAfterMs: null },
      },
    },
  ],
])("a reason for %s that is longer than the head may be ends the turn, and the session goes on", async (_, answer) => {
  const reason = "why ".repeat(20_000);
  const tool = createTestTool({ name: "give_up", run: async () => done("", { gaveUp: { reason, blockedBy: null } }) });
  const world = createWorld({
    model: createTestModel((index, { items }) => (items.length < 2 ? answer : { text: `done ${index}` })),
    tools: [tool],
  });
  const { session, end } = await runPrompt(portsOf(world));
  expect(end.standing).toBe("failed");
  await expectLaw(world.log, session);
  await post(portsOf(world), session, say("go on"));
  expect((await drive(portsOf(world), session, { waiting: "return" })).standing).toBe("unverified");
});

test("a call that can't be decided or prepared is one result among others", async () => {
  const broken = createTestTool({ name: "broken" });
  const tools = [
    { ...broken, prepare: async () => Promise.reject(new Error("no such thing")) },
    createTestTool({ name: "odd" }),
    createTestTool({ name: "fine" }),
  ];
  const calls = ["odd", "broken", "fine"].map((name) => ({ name, input: {} }));
  const world = createWorld({ model: createTestModel((index) => (index < 1 ? { calls } : {})), tools });
  const policy = (tool: string) => {
    if (tool === "odd") throw new Error("what is this");
    return allow;
  };
  const { session, end } = await runPrompt(portsOf({ ...world, policy }));
  expect(end.standing).toBe("unverified");
  const { items } = await readSession(world, session);
  const results = items.flatMap((item) => (item.kind === "tool_result" ? [[item.status, item.text]] : []));
  expect(results).toEqual([
    ["failed", expect.stringContaining("what is this")],
    ["failed", expect.stringContaining("no such thing")],
    ["completed", "ran {}"],
  ]);
});

test("an open call whose tool is gone is in doubt, one that never began is not run, and the session goes on", async () => {
  const begun = createTestTool({ name: "begun", run: async () => Promise.reject(new Crash("killed")) });
  const later = createTestTool({ name: "later", exclusive: true });
  const calls = ["begun", "later"].map((name) => ({ name, input: {} }));
  const model = createTestModel((index) => (index < 1 ? { calls } : {}));
  const world = createWorld({ model, tools: [begun, later] });
  const session = await newSession(portsOf(world));
  await post(portsOf(world), session, say("go"));
  const stops = async ({ name, when }: { name: string; when: string }) => {
    if (when === "before" && name.startsWith("call:")) throw new Crash("killed");
  };
  await expect(drive(portsOf(world, 1), session, { waiting: "return", stops })).rejects.toThrow("killed");
  const end = await drive(portsOf({ ...world, tools: [] }, 2), session, { waiting: "return" });
  expect(end.standing).toBe("unverified");
  const { items } = await readSession(world, session);
  expect(items.flatMap((item) => (item.kind === "tool_result" ? [item.status] : []))).toEqual(["in_doubt", "failed"]);
});
