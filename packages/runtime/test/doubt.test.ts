import type { Json } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { drive, post } from "../src/index.ts";
import { identityOf } from "../src/kernel/identity.ts";
import { allow, createTestModel, createTestTool, createWorld, done, portsOf, runPrompt, say } from "./kit.ts";

/** Calls the tool with each input in turn, and says which of the calls repeated one in doubt. */
async function repeatsAmong(pay: ReturnType<typeof createTestTool>, inputs: readonly Json[]): Promise<boolean[]> {
  const seen: boolean[] = [];
  const world = createWorld({
    tools: [pay],
    model: createTestModel((n) => ({ calls: inputs[n] === undefined ? [] : [{ name: "pay", input: inputs[n] }] })),
    policy: (_, { repeatsDoubt }) => {
      seen.push(repeatsDoubt);
      return allow;
    },
  });
  await runPrompt(portsOf(world));
  return seen;
}

test("a call in doubt is known again whatever it says of waiting, expecting and spaces, and no other one for it", async () => {
  const inputs: Json[] = [
    { to: "a b", timeout_s: 5 },
    { to: "a b", timeout_s: 6 },
    { to: " a  b", yield_s: 1, expect: { output_contains: "x" } },
    { to: "b", timeout_s: 5 },
  ];
  const pay = createTestTool({ name: "pay", replay: "never", run: async () => done("lost", { status: "in_doubt" }) });
  expect(await repeatsAmong(pay, inputs)).toEqual([false, true, true, false]);
});

test("a call in doubt is known again with its tool's defaults and with empty values, and no other one for it", async () => {
  const inputs: Json[] = [
    { to: "a" },
    { to: "a", currency: "EUR", note: "", tags: [], more: {}, urgent: false, at: null },
    { to: "a", notify: true },
    { to: "a", currency: "USD" },
    { to: "a", notify: false },
    { to: "a", urgent: true },
    { to: "a", amount: 0 },
  ];
  const properties = { currency: { default: "EUR" }, notify: { default: true } };
  const made = createTestTool({ name: "pay", replay: "never", run: async () => done("lost", { status: "in_doubt" }) });
  const pay = { ...made, spec: { ...made.spec, schema: { type: "object", properties } } };
  expect(await repeatsAmong(pay, inputs)).toEqual([false, true, true, false, false, false, false]);
});

test("a call that an earlier version knew by its input as it was written is known again", async () => {
  const input = { to: "a", note: "" };
  const seen: boolean[] = [];
  const pay = createTestTool({ name: "pay", replay: "never", run: async () => done("lost", { status: "in_doubt" }) });
  const planned = {
    ...pay,
    plan: async (...given: Parameters<typeof pay.plan>) => ({ ...(await pay.plan(...given)), identity: identityOf(input) }),
  };
  const world = (tools: readonly (typeof pay)[]) =>
    createWorld({
      tools,
      model: createTestModel((n) => ({ calls: n < 1 || (n === 2 && tools[0] === pay) ? [{ name: "pay", input }] : [] })),
      policy: (_, { repeatsDoubt }) => {
        seen.push(repeatsDoubt);
        return allow;
      },
    });
  const before = portsOf(world([planned as typeof pay]));
  const { session } = await runPrompt(before);
  const now = { ...portsOf(world([pay])), log: before.log, blobs: before.blobs, ids: before.ids };
  await post(now, session, say("again"));
  await drive(now, session, { waiting: "return" });
  expect(seen).toEqual([false, true]);
});
