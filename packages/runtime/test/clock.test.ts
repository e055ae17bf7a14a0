import { expect, test } from "vitest";
import { expectLaw } from "./invariants.ts";
import { createTestModel, createTestTool, createWorld, done, portsOf, runPrompt } from "./kit.ts";

const hour = 3_600_000;
const overloaded = { class: "overloaded", message: "busy", status: 529, code: null, retryAfterMs: null } as const;

/** A world whose wall clock jumps by `step` during a command, then during the wait for a retry. */
function jumping(step: number) {
  const tool = createTestTool({
    name: "act",
    run: async () => {
      world.clock.advance(step);
      jumped += step;
      return done("acted");
    },
  });
  let failures = 0;
  const model = createTestModel((index) => {
    if (index === 0) return { calls: [{ name: "act", input: {} }] };
    return (failures += 1) > 1 ? {} : { fail: { type: "failed", error: overloaded } };
  });
  let jumped = 0;
  const world = createWorld({ model, tools: [tool] });
  const ports = portsOf(world);
  const slept: number[] = [];
  const clock = {
    ...world.clock,
    awake: () => world.clock.now() - jumped,
    sleep: (ms: number, signal: AbortSignal) => {
      if (ms < hour) slept.push(ms);
      // Once, while it waits for the retry.
      if (ms < hour && jumped === step) {
        world.clock.advance(step);
        jumped += step;
      }
      return world.clock.sleep(ms, signal);
    },
  };
  return { world, ports: { ...ports, clock }, slept };
}

test.each([
  ["forward by hours, as when the machine slept", 3 * hour],
  ["back by hours", -3 * hour],
])("a clock that jumps %s neither exhausts the turn nor makes it wait", async (_, step) => {
  const { world, ports, slept } = jumping(step);
  const { session, end } = await runPrompt(ports);
  expect(end.standing).toBe("unverified");
  expect(slept.length).toBeGreaterThan(0);
  expect(Math.max(...slept)).toBeLessThan(1_000);
  await expectLaw(world.log, session);
});
