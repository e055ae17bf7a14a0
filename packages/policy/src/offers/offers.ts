import type { Json, Scope } from "@holdfast/protocol";
import { grantedSource, type PolicyDecision } from "@holdfast/runtime/ports/policy";
import { type ReadRules, readRules } from "../rules/read-rules.ts";
import { renderRule, type RuleData } from "../rules/rule-data.ts";
import type { Rule } from "../rules/rule.ts";

const mostOffers = 3;

/** Rules that a person allowed for a session, from their data. One that is no rule any more allows nothing. */
export function grantedRules(granted: readonly Json[]): readonly Rule[] {
  return granted.flatMap((data, index) => readGranted(data, index).rules);
}

function readGranted(data: unknown, index: number): ReadRules {
  return readRules({ rule: [data] }, { name: grantedSource, authority: "user", lineOf: () => index + 1 });
}

/**
 * Of the candidates, the rules that really allow the call, with just the scope that the review would grant: `decide` says
 * what the call comes to with one of them.
 */
export async function offersFrom(
  candidates: readonly RuleData[],
  reviewed: PolicyDecision,
  decide: (rule: Rule) => Promise<PolicyDecision>,
): Promise<NonNullable<PolicyDecision["offers"]>> {
  const offers: { rule: Json; text: string }[] = [];
  for (const data of candidates) {
    const { rules, problems } = readGranted(data, 0);
    const [rule] = rules;
    if (rule === undefined || problems.length > 0 || offers.length === mostOffers) continue;
    if (offers.some(({ text }) => text === renderRule(data))) continue;
    const { decision, scope } = await decide(rule);
    if (decision === "allow" && isSame(scope, reviewed.scope)) offers.push({ rule: data as unknown as Json, text: renderRule(data) });
  }
  return offers;
}

function isSame(a: Scope, b: Scope): boolean {
  const text = ({ network, writable = [], unsandboxed = false }: Scope): string =>
    JSON.stringify([network === "all" ? network : [...(network ?? [])].sort(), [...writable].sort(), unsandboxed]);
  return text(a) === text(b);
}
