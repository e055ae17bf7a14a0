import type { NetworkAccess, Scope } from "@holdfast/protocol";
import type { PolicyDecision } from "@holdfast/runtime/ports/policy";
import type { Fact } from "../facts/fact.ts";
import { missingHosts } from "../programs/hosts.ts";
import { combine, isStricter, strictest } from "../rules/combine.ts";
import { mentions } from "../rules/command-words.ts";
import { covers } from "../rules/covers.ts";
import type { Rule } from "../rules/rule.ts";

interface Match {
  readonly rule: Rule;
  readonly fact: Fact;
  readonly decision: Rule["decision"];
  readonly authority: Rule["authority"];
  readonly isFinal: boolean;
}

/** The rules that match one subject, in the order of the rules. */
function matchesOf(facts: readonly Fact[], rules: readonly Rule[]): Match[] {
  const matches: Match[] = [];
  for (const rule of rules) {
    for (const fact of facts) {
      if (speaksOf(rule, fact, facts)) {
        matches.push({ rule, fact, decision: rule.decision, authority: rule.authority, isFinal: rule.isFinal === true });
      }
    }
  }
  return matches;
}

/** Words that allow are matched narrowly, words that ask or refuse widely. */
function speaksOf({ when, decision }: Rule, fact: Fact, facts: readonly Fact[]): boolean {
  const { run } = fact;
  if (when.commands === undefined || run === undefined) return when.facts?.includes(fact.kind) === true;
  return when.commands.some((pattern) => (decision === "allow" ? covers(pattern, run, facts) : mentions(pattern, run.command) !== "no"));
}

/** Drops what the session's network already allows. A change elsewhere stays one, whatever the network. */
export function withoutAllowedNetwork(facts: readonly Fact[], network: NetworkAccess): Fact[] {
  return facts.flatMap((fact) => {
    const needed = fact.scope.network;
    if (needed === undefined) return [fact];
    const missing = missingHosts(needed === "all" ? null : needed, network);
    if (missing !== null) return [{ ...fact, scope: { ...fact.scope, network: missing.network! } }];
    return fact.kind === "network" ? [] : [{ ...fact, scope: withoutNetwork(fact.scope) }];
  });
}

function withoutNetwork(scope: Scope): Scope {
  const { network: _, ...rest } = scope;
  return rest;
}

function widen(a: Scope, b: Scope): Scope {
  const network =
    a.network === "all" || b.network === "all" ? ("all" as const) : [...new Set([...(a.network ?? []), ...(b.network ?? [])])];
  const writable = [...new Set([...(a.writable ?? []), ...(b.writable ?? [])])];
  return {
    ...(network === "all" || network.length > 0 ? { network } : {}),
    ...(writable.length > 0 ? { writable } : {}),
    ...(a.unsandboxed === true || b.unsandboxed === true ? { unsandboxed: true } : {}),
  };
}

/**
 * Applies the rules to each subject alone; the strictest answer stands for the call. The scope of a review is what all
 * reviewed subjects need together, so that one approval is enough and nothing more than what was shown is granted.
 */
export function judgeSubjects(subjects: readonly (readonly Fact[])[], rules: readonly Rule[], provenRead: boolean): PolicyDecision {
  const answers: Match[] = [];
  const reviewed: Match[] = [];
  for (const facts of subjects) {
    const matches = matchesOf(facts, rules);
    const answer = combine(matches);
    // A subject without any rule isn't allowed by silence.
    if (answer === null) return unanswered;
    answers.push(answer);
    if (answer.decision === "review")
      reviewed.push(...matches.filter((match) => match.decision === "review" && match.authority === answer.authority));
  }
  const ordered = answers.toSorted((a, b) => rules.indexOf(a.rule) - rules.indexOf(b.rule));
  const answer = strictest(ordered);
  if (answer === null) return unanswered;
  const shown = answer.decision === "review" ? reviewed : [answer];
  const others = shown.filter((match) => match.rule.id !== answer.rule.id);
  const also = [...new Map(others.map((match) => [match.rule.id, match])).values()].slice(0, 3);
  return {
    decision: answer.decision,
    rule: { id: answer.rule.id, source: answer.rule.source },
    reason: [answer, ...also].map((match) => fill(match.rule.person, match.fact.what)).join(" "),
    forModel: fill(answer.rule.model, answer.fact.what),
    scope: answer.decision === "review" ? shown.reduce<Scope>((scope, match) => widen(scope, match.fact.scope), {}) : {},
    provenRead: provenRead && !isStricter(answer.decision, "allow"),
  };
}

/** The person sees the whole input beside it: here a beginning is enough, without what a terminal would obey. */
function fill(sentence: string, what: string): string {
  const safe = [...(what.length > 200 ? `${what.slice(0, 199)}…` : what)]
    .map((character) => (character < " " || (character >= "\u007f" && character < "\u00a0") ? " " : character))
    .join("");
  return sentence.replaceAll("{what}", () => safe);
}

export const unanswered: PolicyDecision = {
  decision: "review",
  rule: { id: "builtin:unknown-tool", source: "builtin" },
  reason: "No rule covers this call.",
  forModel: "Needs a person: no rule covers this call.",
  scope: {},
  provenRead: false,
};
