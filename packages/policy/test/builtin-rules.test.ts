import { describe, expect, test } from "vitest";
import { tryExamples } from "../src/examples/try-examples.ts";
import { allBuiltin } from "./matching.ts";

describe("every built-in rule", () => {
  for (const rule of allBuiltin) {
    test(`${rule.id} matches its examples and none of its counterexamples`, async () => {
      expect(await tryExamples(rule)).toEqual([]);
    });
  }

  test("has an id of its own", () => {
    const ids = allBuiltin.map((rule) => rule.id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
