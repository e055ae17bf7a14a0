import type { Decision, Scope } from "@holdfast/protocol";
import type { PolicyDecision } from "@holdfast/runtime/ports/policy";
import { type Fact, isGround } from "../facts/fact.ts";
import { provenReads } from "../reads/prove.ts";
import { combine, strictest } from "../rules/combine.ts";
import { covers } from "../rules/covers.ts";
import { holds, speaksOf } from "../rules/matches.ts";
import type { Rule } from "../rules/rule.ts";
import type { RuleSet } from "../rules/rule-set.ts";
import { grantedScope, widen } from "./scope.ts";
import type { JudgedRequest, Part } from "./part.ts";
import { riskOf } from "./risk.ts";

/** A rule that speaks of a fact, and what it says to it. */
export interface Match {
  readonly rule: Rule;
  readonly fact: Fact;
  /** `review` where a rule that denies may be meant, but need not. */
  readonly decision: Decision;
  readonly authority: Rule["authority"];
  readonly isFinal: boolean;
  /** What an allow of it grants. */
  readonly scope: Scope;
}

/** Facts that the words of a rule alone would have, of those that a part begins with; null for a rule without words. */
export type AloneFacts = (rule: Rule, part: Part) => readonly Fact[] | null;

export interface FactAnswer {
  readonly fact: Fact;
  readonly matches: readonly Match[];
  readonly answer: Match | null;
}

const call: Fact = { kind: "call", what: "the call", scope: {} };

/** For each fact of a part, the rules that speak of it and the one that decides. */
export function judgePart(part: Part, judged: JudgedRequest, rules: RuleSet, alone: AloneFacts): FactAnswer[] {
  const found = new Map<Fact, Match[]>([...part.facts, call].map((fact) => [fact, []]));
  const add = (fact: Fact, rule: Rule, decision: Decision, scope: Scope = {}): void => {
    found.get(fact)?.push({ rule, fact, decision, authority: rule.authority, isFinal: rule.isFinal === true, scope });
  };
  for (const fact of part.facts) for (const rule of rules.ofFact.get(fact.kind) ?? []) add(fact, rule, rule.decision);
  for (const rule of rules.others) {
    const isAllow = rule.decision === "allow";
    const surely = holds(rule, part, judged, "surely");
    if (surely === "yes") {
      for (const fact of part.facts) {
        const isCovered = isGround(fact.kind) && rule.when.facts === undefined && coversGround(rule, part);
        if (!isCovered && !speaksOf(rule, fact, part, judged, alone(rule, part))) continue;
        const scope = isAllow ? grantedScope(rule, fact, part, judged.home) : {};
        if (scope !== null) add(fact, rule, rule.decision, scope);
      }
    }
    if (isAllow) {
      if (surely === "yes" && rule.when.facts === undefined) add(call, rule, "allow");
      continue;
    }
    if (rule.when.facts !== undefined && !part.facts.some(({ kind }) => rule.when.facts?.includes(kind))) continue;
    const perhaps = holds(rule, part, judged, "perhaps");
    if (perhaps !== "no") add(call, rule, perhaps === "yes" ? rule.decision : "review");
  }
  return [...found].map(([fact, matches]) => ({ fact, matches, answer: combine(matches) }));
}

/** An allow of single words allows a whole command only where the rest of it does nothing. */
function coversGround(rule: Rule, part: Part): boolean {
  const { commands, tools, read, write, hosts, mcp } = rule.when;
  const { run } = part;
  if (commands !== undefined) return run !== null && commands.some((pattern) => covers(pattern, run, part.facts));
  return (
    part.command === null && read === undefined && write === undefined && hosts === undefined && (tools !== undefined || mcp !== undefined)
  );
}

/**
 * Applies the rules to each part alone, and there to each fact; the strictest answer stands for the call. The scope of a
 * review is what all reviewed facts need together, so that one approval is enough and nothing more than what was shown is
 * granted.
 */
export function judge(judged: JudgedRequest, rules: RuleSet, alone: AloneFacts): PolicyDecision {
  const answers: Match[] = [];
  const reviewed: Match[] = [];
  let isOpen = false;
  const parts: { readonly part: Part; readonly granted: Scope }[] = [];
  for (const part of judged.parts) {
    let isAnswered = false;
    let hasOpenFact = false;
    let granted: Scope = {};
    for (const { fact, matches, answer } of judgePart(part, judged, rules, alone)) {
      if (answer === null) {
        hasOpenFact ||= fact.kind !== "call";
        continue;
      }
      isAnswered = true;
      answers.push(answer);
      if (answer.decision === "allow") granted = widen(granted, answer.scope);
      if (answer.decision === "review")
        reviewed.push(...matches.filter((match) => match.decision === "review" && match.authority === answer.authority));
    }
    // A fact that nobody speaks of isn't allowed by silence, nor is a part.
    isOpen ||= hasOpenFact || !isAnswered;
    parts.push({ part, granted });
  }
  const ordered = answers.toSorted((a, b) => rules.place(a.rule) - rules.place(b.rule));
  const answer = strictest(ordered);
  if (answer === null || (isOpen && answer.decision === "allow")) return { ...unanswered, risk: riskOf(judged) };
  if (answer.decision === "allow") return allowed(answer, parts, judged);
  const shown = answer.decision === "review" ? reviewed : [answer];
  const others = shown.filter((match) => match.rule.id !== answer.rule.id);
  const also = [...new Map(others.map((match) => [match.rule.id, match])).values()].slice(0, 3);
  // What a rule grants to a part of it, the call has after an approval as well: it is shown with the rest.
  const granted = parts.reduce<Scope>((sum, part) => widen(sum, part.granted), {});
  return {
    decision: answer.decision,
    rule: { id: answer.rule.id, source: answer.rule.source },
    reason: [answer, ...also].map((match) => toPerson(match, judged)).join(" "),
    forModel: `${answer.decision === answer.rule.decision ? "" : "Needs a person, as it may be what a rule refuses. "}${fill(answer.rule.model, whatOf(answer.fact, judged))}`,
    scope: answer.decision === "review" ? shown.reduce<Scope>((scope, match) => widen(scope, match.fact.scope), granted) : {},
    provenRead: false,
    ...(answer.decision === "review" ? { risk: riskOf(judged) } : {}),
  };
}

function toPerson({ rule, fact, decision }: Match, judged: JudgedRequest): string {
  const byName = fact.isByName === true ? "What it does isn't known before it runs; its name says that it may be this: " : "";
  return `${decision === rule.decision ? "" : "May be what a rule refuses: "}${byName}${fill(rule.person, whatOf(fact, judged))}`;
}

/** What an allow adds holds for a whole line, so everything on it must be allowed it, or do nothing but read. */
function allowed(answer: Match, parts: readonly { readonly part: Part; readonly granted: Scope }[], judged: JudgedRequest): PolicyDecision {
  const scope = parts.reduce<Scope>((sum, { granted }) => widen(sum, granted), {});
  const base = {
    rule: { id: answer.rule.id, source: answer.rule.source },
    reason: fill(answer.rule.person, whatOf(answer.fact, judged)),
    forModel: fill(answer.rule.model, whatOf(answer.fact, judged)),
    scope,
  };
  const isShared = parts.some(({ part, granted }) => isMore(scope, granted) && !isRead(part));
  if (!isShared) return { ...base, decision: "allow", provenRead: judged.provenRead };
  return {
    ...base,
    decision: "review",
    reason: `${base.reason} But other commands on the same line would get what it grants, too.`,
    forModel: "Needs a person: a rule allows a part of this line to reach further. Run that part as a call of its own.",
    provenRead: false,
    risk: riskOf(judged),
  };
}

/** It does nothing but read, or is there for what it runs, which is judged apart. */
function isRead({ command, facts }: Part): boolean {
  return command !== null ? command.isWrapper || provenReads(command) !== null : facts.every(({ kind }) => isGround(kind));
}

function isMore(scope: Scope, granted: Scope): boolean {
  return JSON.stringify(widen(granted, scope)) !== JSON.stringify(widen(granted, {}));
}

function whatOf(fact: Fact, { request }: JudgedRequest): string {
  return fact.kind === "call" ? request.plan.summary || request.tool : fact.what;
}

const longestWhat = 400;

/** The person sees the whole input beside it: here a beginning is enough, without what a terminal would obey. */
function fill(sentence: string, what: string): string {
  const safe = [...(what.length > longestWhat ? `${what.slice(0, longestWhat - 1)}…` : what)]
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
