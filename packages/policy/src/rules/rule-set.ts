import type { FactKind } from "../facts/fact.ts";
import type { Rule } from "./rule.ts";

/** Rules in their order, laid out so that a decision asks few of them. */
export interface RuleSet {
  readonly rules: readonly Rule[];
  /** Built-in rules, whose only condition is a fact. */
  readonly ofFact: ReadonlyMap<FactKind, readonly Rule[]>;
  readonly others: readonly Rule[];
  /** True where a rule names files. */
  readonly usesPaths: boolean;
  /** Where a rule stands: of equally strict answers, the first is named. */
  place(rule: Rule): number;
}

export function ruleSet(rules: readonly Rule[]): RuleSet {
  const ofFact = new Map<FactKind, Rule[]>();
  const others: Rule[] = [];
  const places = new Map(rules.map((rule, at) => [rule, at]));
  for (const rule of rules) {
    const conditions = Object.keys(rule.when);
    if (rule.authority !== "builtin" || rule.when.facts === undefined || conditions.length > 1) others.push(rule);
    else for (const kind of rule.when.facts) ofFact.set(kind, [...(ofFact.get(kind) ?? []), rule]);
  }
  return {
    rules,
    ofFact,
    others,
    usesPaths: others.some(({ when }) => when.read !== undefined || when.write !== undefined),
    place: (rule) => places.get(rule) ?? rules.length,
  };
}
