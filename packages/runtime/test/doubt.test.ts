import type { Json } from "@holdfast/protocol";
import { expect, test } from "vitest";
import { allow, createTestModel, createTestTool, createWorld, done, portsOf, runPrompt } from "./kit.ts";

test("a call in doubt is known again whatever it says of waiting, expecting and spaces, and no other one for it", async () => {
  const inputs: Json[] = [
    { to: "a b", timeout_s: 5 },
    { to: "a b", timeout_s: 6 },
    { to: " a  b", yield_s: 1, expect: { output_contains: "x" } },
    { to: "b", timeout_s: 5 },
  ];
  const seen: boolean[] = [];
  const pay = createTestTool({ name: "pay", replay: "never", run: async () => done("lost", { status: "in_doubt" }) });
  const world = createWorld({
    tools: [pay],
    model: createTestModel((n) => ({ calls: inputs[n] === undefined ? [] : [{ name: "pay", input: inputs[n] }] })),
    policy: (_, { repeatsDoubt }) => {
      seen.push(repeatsDoubt);
      return allow;
    },
  });
  await runPrompt(portsOf(world));
  expect(seen).toEqual([false, true, true, false]);
});
