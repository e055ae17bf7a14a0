import { type Authority, createPolicy, type Rule, type RuleData } from "../src/index.ts";
import { readRules } from "../src/rules/read-rules.ts";
import { machine, request, type Setting } from "../src/examples/machine.ts";
import type { RuleExample } from "../src/index.ts";

/** Rules as a file of an authority would hold them. Throws where one is wrong. */
export function rulesOf(authority: Authority, ...entries: readonly (Partial<RuleData> | Record<string, unknown>)[]): readonly Rule[] {
  const list = entries.map((entry, index) => ({ id: `${authority}-${index + 1}`, decision: "deny", ...entry }));
  const { rules, problems } = readRules({ rule: list }, { name: `${authority}.toml`, authority, lineOf: () => 1 });
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return rules;
}

export async function decideWith(rules: readonly Rule[], example: RuleExample, setting: Setting = {}): Promise<string> {
  const { decision, rule } = await createPolicy({ ...machine, rules }).decide(request(example, setting));
  return `${decision} ${rule.id}`;
}
