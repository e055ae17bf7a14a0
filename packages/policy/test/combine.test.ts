import { expect, test } from "vitest";
import fc from "fast-check";
import { combine, type Authority, type Rule } from "../src/index.ts";

const rule = (authority: Authority, decision: Rule["decision"], isFinal = false) => ({ authority, decision, isFinal });

test("the highest authority with a matching rule decides", () => {
  expect(combine([rule("builtin", "deny"), rule("user", "allow")])).toMatchObject({ authority: "user", decision: "allow" });
  expect(combine([rule("user", "allow"), rule("organisation", "review")])).toMatchObject({ authority: "organisation", decision: "review" });
});

test("within one authority the strictest rule decides, and the first among equals", () => {
  const first = rule("user", "review");
  expect(combine([rule("user", "allow"), first, rule("user", "review")])).toBe(first);
});

test("a final deny yields to the organisation alone", () => {
  const final = rule("builtin", "deny", true);
  expect(combine([final, rule("user", "allow")])).toBe(final);
  expect(combine([final, rule("organisation", "allow")])).toMatchObject({ authority: "organisation", decision: "allow" });
});

test("a project's rule counts only where it is stricter", () => {
  expect(combine([rule("builtin", "review"), rule("project", "allow")])).toMatchObject({ authority: "builtin" });
  expect(combine([rule("user", "allow"), rule("project", "review")])).toMatchObject({ authority: "project" });
  expect(combine([rule("organisation", "allow"), rule("project", "deny")])).toMatchObject({ authority: "project", decision: "deny" });
});

test("nothing matches nothing, and a project alone allows nothing", () => {
  expect(combine([])).toBeNull();
  expect(combine([rule("project", "allow")])).toBeNull();
});

test("more rules of a project never loosen the answer", () => {
  const strictness = { allow: 0, review: 1, deny: 2 };
  const anyRule = (authorities: Authority[]) =>
    fc.record({
      authority: fc.constantFrom(...authorities),
      decision: fc.constantFrom("allow" as const, "review" as const, "deny" as const),
      isFinal: fc.boolean(),
    });
  fc.assert(
    fc.property(
      fc.array(anyRule(["organisation", "user", "builtin"]), { minLength: 1 }),
      fc.array(anyRule(["project"])),
      (rules, project) => {
        const before = combine(rules)!;
        const after = combine([...rules, ...project])!;
        expect(strictness[after.decision]).toBeGreaterThanOrEqual(strictness[before.decision]);
      },
    ),
  );
});
