import { defaultLimits, type Limits, type Usage } from "@holdfast/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { carve, giveBack, nothingDelegated, type Delegated } from "../src/kernel/delegation.ts";
import { outputAllowance, reachedBudget } from "../src/kernel/limits.ts";
import { usesOf } from "../src/kernel/near.ts";
import { emptyHead, type Head } from "../src/kernel/state.ts";

interface Node {
  head: Head;
  delegated: Delegated;
  readonly limits: Limits;
  readonly depth: number;
  readonly parent: Node | null;
  isOver: boolean;
  descendants: number;
}

const node = (limits: Limits, parent: Node | null): Node => ({
  head: emptyHead,
  delegated: nothingDelegated,
  limits,
  depth: parent === null ? 0 : parent.depth + 1,
  parent,
  isOver: false,
  descendants: 0,
});

/** As a sampling does: no longer an answer than what is left once its worst case is set aside. */
function spend(one: Node, tokens: number, cost: number): void {
  const rate = cost / Math.max(1, tokens);
  const { head, limits, delegated } = one;
  const left = outputAllowance({ head, limits, costOf: (usage) => usage.outputTokens * rate, worstInput: 0, delegated });
  const said = Math.max(0, Math.min(tokens, left));
  one.head = {
    ...head,
    usage: { ...head.usage, outputTokens: head.usage.outputTokens + said },
    cost: (head.cost ?? 0) + said * rate,
  };
}

test("recursion (C03): what a session has given away is no longer its own to spend, and warns and ends its turn as if it were spent", () => {
  const limits = { ...defaultLimits, tokensPerSession: 100_000, costPerSession: 10 };
  const carved = carve(emptyHead, limits, nothingDelegated, { tokens: 90_000, cost: 9, descendants: 0 });
  const { delegated } = carved as Extract<typeof carved, { type: "child" }>;
  const costOf = ({ inputTokens, outputTokens }: Usage): number => (inputTokens + outputTokens) / 10_000;
  const at = (worstInput: number) => ({ head: emptyHead, limits, costOf, worstInput, delegated });
  expect(outputAllowance({ ...at(4_000), costOf: null })).toBe(6_000);
  expect(outputAllowance(at(4_000))).toBeLessThanOrEqual(6_000);
  expect([reachedBudget(at(4_000))?.limit, reachedBudget({ ...at(9_900), costOf: null })?.limit]).toEqual([undefined, "tokensPerSession"]);
  expect(reachedBudget(at(9_900))?.limit).toBe("costPerSession");
  expect(usesOf(emptyHead, null, limits, delegated).map(({ value }) => value)).toEqual([90_000, 9]);
});

test("recursion (C03): sessions that always start three more end at the limits of depth and number, each refusal a text", () => {
  const root = node({ ...defaultLimits, childrenAtOnce: 3 }, null);
  const all = [root];
  const refusals: string[] = [];
  for (const one of all) {
    for (let child = 0; child < 3; child += 1) {
      const carved = carve(one.head, one.limits, one.delegated, { tokens: 200_000, cost: 1, descendants: 16 });
      if (carved.type === "refused") refusals.push(carved.text);
      else {
        one.delegated = carved.delegated;
        all.push(node(carved.limits, one));
      }
    }
  }
  expect(all.length - 1).toBeLessThanOrEqual(16);
  expect(Math.max(...all.map(({ depth }) => depth))).toBe(2);
  expect(refusals.length).toBeGreaterThan(0);
  for (const text of refusals) expect(text).toMatch(/^No session was started: /);
});

test("recursion (C03): whatever a tree does, it spends no more than its root was given, and holds depth and number throughout", () => {
  const step = fc.record({
    at: fc.nat(30),
    do: fc.constantFrom("start", "spend", "end"),
    tokens: fc.nat(400),
    cost: fc.double({ min: 0, max: 3, noNaN: true }),
    below: fc.nat(6),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const limits = { ...defaultLimits, tokensPerSession: 1_000, costPerSession: 5, descendants: 6, childrenAtOnce: 3 };
      const all = [node(limits, null)];
      const end = (one: Node): void => {
        for (const child of all) if (child.parent === one && !child.isOver) end(child);
        one.isOver = true;
        if (one.parent === null) return;
        const used = {
          tokens: one.head.usage.outputTokens + one.delegated.tokens,
          cost: (one.head.cost ?? 0) + one.delegated.cost,
          descendants: one.descendants,
        };
        one.parent.delegated = giveBack(one.parent.delegated, one.limits, used);
        one.parent.descendants += 1 + one.descendants;
      };
      for (const { at, do: what, tokens, cost, below } of steps) {
        const one = all[at % all.length]!;
        if (one.isOver) continue;
        if (what === "spend") spend(one, tokens, cost);
        else if (what === "end" && one.parent !== null) end(one);
        else if (what === "start") {
          const carved = carve(one.head, one.limits, one.delegated, { tokens, cost, descendants: below });
          if (carved.type === "refused") continue;
          one.delegated = carved.delegated;
          all.push(node(carved.limits, one));
        }
        expect(all.reduce((sum, { head }) => sum + head.usage.outputTokens, 0)).toBeLessThanOrEqual(1_000);
        expect(all.reduce((sum, { head }) => sum + (head.cost ?? 0), 0)).toBeLessThanOrEqual(5 + 1e-9);
        expect(all.length - 1).toBeLessThanOrEqual(6);
        for (const parent of all) expect(all.filter((child) => child.parent === parent && !child.isOver).length).toBeLessThanOrEqual(3);
        expect(Math.max(...all.map(({ depth }) => depth))).toBeLessThanOrEqual(2);
      }
    }),
    { numRuns: 200 },
  );
});
