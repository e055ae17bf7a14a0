import { createPolicy, type Explanation } from "../policy.ts";
import { ruleSet } from "../rules/rule-set.ts";
import type { Mode, Rule, RuleExample } from "../rules/rule.ts";
import { machine, request, type Setting, workspace } from "./machine.ts";

/** An example that isn't what it should be. */
export interface FailedExample {
  readonly kind: "example" | "counterexample";
  readonly index: number;
  readonly example: RuleExample;
  /** Why, as it follows the example: `isn't matched`. */
  readonly why: string;
}

/**
 * Tries a rule with its examples, on the machine of examples and in the state that its own conditions name. Of an example of
 * an allow the rule and the built-in ones together must allow it; any other must be matched. A counterexample must not be.
 */
export async function tryExamples(rule: Rule): Promise<FailedExample[]> {
  const failed: FailedExample[] = [];
  for (const kind of ["example", "counterexample"] as const) {
    const list = kind === "example" ? rule.examples : rule.counterexamples;
    for (const [index, example] of list.entries()) {
      const why = kind === "example" ? await whyUnmatched(rule, example) : await whyMatched(rule, example);
      if (why !== null) failed.push({ kind, index, example, why });
    }
  }
  return failed;
}

async function whyUnmatched(rule: Rule, example: RuleExample): Promise<string | null> {
  const found = await explain(rule, example);
  if (!isMatched(rule, found)) return "isn't matched";
  const isLoose = rule.decision === "allow" && rule.authority !== "builtin" && found.decision.decision !== "allow";
  return isLoose ? `is matched, but not allowed: ${found.decision.reason}` : null;
}

async function whyMatched(rule: Rule, example: RuleExample): Promise<string | null> {
  return isMatched(rule, await explain(rule, example)) ? "is matched" : null;
}

function isMatched(rule: Rule, { parts }: Explanation): boolean {
  const named = ruleSet([rule]);
  return parts.some(({ answers }) =>
    answers.some(({ fact, matches }) => matches.some((match) => match.rule.id === rule.id) || named.ofFact.has(fact.kind)),
  );
}

function explain(rule: Rule, example: RuleExample): Promise<Explanation> {
  const rules = rule.authority === "builtin" ? [] : [rule];
  return createPolicy({ ...machine, rules }).explain(request(example, settingFor(rule)));
}

const sandboxOf: Readonly<Record<Mode, Setting>> = {
  "read-only": { mode: "read-only" },
  workspace: { mode: "workspace-write" },
  full: { mode: "off" },
  plan: { mode: "read-only", isPlanning: true },
};

function settingFor({ when }: Rule): Setting {
  return {
    ...sandboxOf[when.modes?.[0] ?? "workspace"],
    isTrusted: when.trustedProject ?? true,
    project: when.project ?? workspace,
    trust: { untrustedInWindow: when.untrustedContent ?? false, sources: [] },
  };
}
