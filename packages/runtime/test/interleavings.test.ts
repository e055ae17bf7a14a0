import fc from "fast-check";
import { expect, test } from "vitest";
import { readSession } from "../src/index.ts";
import { expectLaw, expectPaired } from "./invariants.ts";
import { playSession, randomSession } from "./random-session.ts";

test("every request ever built pairs each call with exactly one result, and the law holds at every commit", async () => {
  await fc.assert(
    fc.asyncProperty(randomSession, async (input) => {
      const { world, session, model, end } = await playSession(input, (now, id) => expectLaw(now.log, id));
      expect(end?.standing).toBe("idle");
      await expectLaw(world.log, session);
      const view = await readSession(world, session);
      expectPaired(view.items);
      for (const request of model.requests) expectPaired(request.items);
      expect(view.turns.every((turn) => turn.outcome !== null)).toBe(true);
    }),
    { numRuns: 150 },
  );
});
