import { describe, expect, test } from "vitest";
import { allBuiltin, ruleIds } from "./matching.ts";

describe("every built-in rule", () => {
  for (const rule of allBuiltin) {
    test(`${rule.id} matches its examples and none of its counterexamples`, async () => {
      const missed: unknown[] = [];
      for (const example of rule.examples) if (!(await ruleIds(example)).includes(rule.id)) missed.push(example);
      const wrong: unknown[] = [];
      for (const example of rule.counterexamples) if ((await ruleIds(example)).includes(rule.id)) wrong.push(example);
      expect({ missed, wrong }).toEqual({ missed: [], wrong: [] });
    });
  }

  test("has an id of its own", () => {
    const ids = allBuiltin.map((rule) => rule.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
