import { builtinRules, type Mode, modes, type Rule, type RuleExample } from "../src/index.ts";
import { factsOf } from "../src/decide/facts-of.ts";
import { presetExamples } from "../src/presets/examples.ts";
import { home, request, type Setting } from "./world.ts";

const places = { home, temporary: ["/tmp"], holdfastHome: `${home}/.holdfast`, masked: [], guarded: [] };

/** All built-in rules with their examples, those of every mode. */
export const allBuiltin: readonly Rule[] = [
  ...new Map(modes.flatMap((mode: Mode) => builtinRules(mode)).map((rule) => [rule.id, rule])).values(),
].map((rule) => ({ ...rule, ...presetExamples[rule.id] }));

/** Ids of all built-in rules that match a call, not only of the one that decides. */
export async function ruleIds(example: RuleExample, setting: Setting = {}): Promise<string[]> {
  const { parts } = await factsOf(request(example, setting), { places, usesPaths: false });
  const kinds = new Set(parts.flatMap(({ facts }) => facts).map((fact) => fact.kind));
  return allBuiltin.filter((rule) => rule.when.facts?.some((kind) => kinds.has(kind)) === true).map((rule) => rule.id);
}
