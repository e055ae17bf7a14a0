import { type RuleExample, builtinRules } from "../src/index.ts";
import { factsOf } from "../src/policy.ts";
import { home, request, type Setting } from "./world.ts";

/** Ids of all built-in rules that match a call, not only of the one that decides. */
export async function ruleIds(example: RuleExample, setting: Setting = {}): Promise<string[]> {
  const { subjects } = await factsOf(request(example, setting), {
    home,
    temporary: ["/tmp"],
    holdfastHome: `${home}/.holdfast`,
    masked: [],
    guarded: [],
  });
  const kinds = new Set(subjects.flat().map((fact) => fact.kind));
  return builtinRules.filter((rule) => rule.when.facts?.some((kind) => kinds.has(kind)) === true).map((rule) => rule.id);
}
