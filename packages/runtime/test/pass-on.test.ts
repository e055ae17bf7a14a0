import type { Json, SessionEvent } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { drive, post, readSession, type RecordedEvent, type Tool } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { allow, createTestModel, createTestTool, createWorld, newSession, portsOf, runPrompt, say, testSettings } from "./kit.ts";

const passOn: Tool = {
  ...createTestTool({ name: "use_tool" }),
  unwrap: (input) => input as { name: string; input: Json },
};

const decided = (events: readonly SessionEvent[]) => events.flatMap((event) => (event.type === "call.decided" ? [event.payload] : []));

test("policy, approval, doubt and audit see the call that is meant, not the tool that passes it on", async () => {
  const inner = createTestTool({
    name: "charge",
    replay: "never",
    run: async () => {
      throw new Error("the line broke");
    },
  });
  const call = { name: "use_tool", input: { name: "charge", input: { amount: 3 } } };
  const asked: string[] = [];
  const model = createTestModel((n) => (n < 2 ? { calls: [call] } : {}));
  const world = createWorld({
    model,
    tools: [passOn, inner],
    policy: (tool) => {
      asked.push(tool);
      return { ...allow, decision: "review" };
    },
  });
  const events: RecordedEvent[] = [];
  const ports = portsOf(world);
  const { session } = await runPrompt(ports, { approvals: "allow" }, { onEvent: (event) => events.push(event) });
  expect(asked).toEqual(["charge", "charge"]);
  expect(decided(events).map(({ tool, plan }) => [tool, plan.input])).toEqual([
    ["charge", { amount: 3 }],
    ["charge", { amount: 3 }],
  ]);
  const shown = events.flatMap((event) => (event.type === "approval.requested" ? [event.payload.approval.shown] : []));
  expect(shown[0]).toBe('charge {"amount":3}');
  expect(inner.runs.map(({ name, plan }) => [name, plan.input])).toEqual([
    ["charge", { amount: 3 }],
    ["charge", { amount: 3 }],
  ]);
  expect((await readSession(ports, session)).inDoubt.map(({ tool }) => tool)).toEqual(["charge", "charge"]);
  await expectLaw(world.log, session);
  expectPaired((await readSession(ports, session)).items);
});

test("a call that names an unknown tool, or one that passes on again, is told so", async () => {
  const calls = ["nothing", "use_tool"].map((name) => ({ name: "use_tool", input: { name, input: {} } }));
  const world = createWorld({ model: createTestModel((n) => (n === 0 ? { calls } : {})), tools: [passOn] });
  const ports = portsOf(world);
  const { session } = await runPrompt(ports);
  const results = (await readSession(ports, session)).items.flatMap((item) => (item.kind === "tool_result" ? [item.text] : []));
  expect(results).toEqual([
    'There is no tool "nothing". The tools are: use_tool.',
    'There is no tool "use_tool". The tools are: use_tool.',
  ]);
});

test("a plan that waits for its target ends with an interrupt", async () => {
  const slow: Tool = {
    ...createTestTool({ name: "slow" }),
    plan: (_, __, signal) =>
      new Promise((resolve) => {
        signal?.addEventListener("abort", () => resolve({ type: "refused", text: "it was not there in time" }));
        void post(ports, session, { type: "interrupt", by: "test" });
      }),
  };
  const world = createWorld({ model: createTestModel(() => ({ calls: [{ name: "slow", input: {} }] })), tools: [slow] });
  const ports = portsOf(world);
  const session = await newSession(ports, testSettings);
  await post(ports, session, say("go"));
  const end = await drive(ports, session, { waiting: "return" });
  expect(end.standing).toBe("interrupted");
  expectPaired((await readSession(ports, session)).items);
});
