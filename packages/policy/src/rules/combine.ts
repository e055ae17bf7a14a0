import type { Decision } from "@holdfast/protocol";
import type { Authority, Rule } from "./rule.ts";

const strictness: Readonly<Record<Decision, number>> = { allow: 0, review: 1, deny: 2 };

function isStricter(a: Decision, b: Decision): boolean {
  return strictness[a] > strictness[b];
}

/** The strictest; among equals the first, so that the order of rules decides which one is named. */
export function strictest<T extends { readonly decision: Decision }>(rules: readonly T[]): T | null {
  let found: T | null = null;
  for (const rule of rules) if (found === null || isStricter(rule.decision, found.decision)) found = rule;
  return found;
}

type Matching = Pick<Rule, "decision" | "authority" | "isFinal">;

/**
 * Which of the matching rules decides. Of organisation, user and built-in, the highest authority that has a matching rule;
 * within one, the strictest rule. A final deny of the built-in rules yields to the organisation alone. Rules of a trusted
 * project then count only where they are stricter; the caller leaves out those of an untrusted one. Null where nothing matches.
 */
export function combine<T extends Matching>(matching: readonly T[]): T | null {
  const of = (authority: Authority): T[] => matching.filter((rule) => rule.authority === authority);
  const organisation = strictest(of("organisation"));
  const final = of("builtin").find((rule) => rule.isFinal === true && rule.decision === "deny") ?? null;
  const base = organisation ?? final ?? strictest(of("user")) ?? strictest(of("builtin"));
  const project = strictest(of("project"));
  // A project alone allows nothing.
  if (base === null) return project?.decision === "allow" ? null : project;
  return project !== null && isStricter(project.decision, base.decision) ? project : base;
}
