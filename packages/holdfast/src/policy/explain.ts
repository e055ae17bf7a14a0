import { type Explanation, parseCommand } from "@holdfast/policy";
import type { CallPlan, Decision, RiskNote, Scope } from "@holdfast/protocol";
import { describeScope } from "../render/describe.ts";
import { wrap } from "../render/layout.ts";
import { renderRisk } from "../render/risk.ts";
import { sanitizeLine } from "../render/sanitize.ts";
import type { Style } from "../render/style.ts";

interface ExplainedRule {
  readonly rule: string;
  readonly source: string;
  readonly authority: string;
  readonly decision: Decision;
  readonly decides: boolean;
}

interface ExplainedPart {
  /** The simple command, or the call. */
  readonly text: string;
  /** What its name stands for; null for what is no command. */
  readonly program: string | null;
  readonly via: readonly string[];
  readonly facts: readonly { readonly fact: string; readonly what: string; readonly rules: readonly ExplainedRule[] }[];
}

/** A decision with its steps, as plain data. */
export interface ExplainedDecision {
  readonly decision: Decision;
  readonly rule: string;
  readonly source: string;
  readonly reason: string;
  readonly forModel: string;
  readonly scope: Scope;
  readonly provenRead: boolean;
  readonly mode: string;
  /** Why a command line can't be read; empty where it can. */
  readonly problems: readonly string[];
  readonly parts: readonly ExplainedPart[];
  readonly risk?: RiskNote;
}

export async function explained(
  { decision, mode, parts }: Explanation,
  plan: CallPlan,
  programOf: (name: string) => Promise<string>,
): Promise<ExplainedDecision> {
  const { rule, reason, forModel, scope, provenRead, risk } = decision;
  return {
    decision: decision.decision,
    rule: rule.id,
    source: rule.source,
    reason,
    forModel,
    scope,
    provenRead,
    mode,
    problems: plan.command === undefined ? [] : parseCommand(plan.command).problems.map(({ kind, what }) => `${kind}: ${what}`),
    parts: await Promise.all(
      parts.map(async ({ part: { command, run }, answers }): Promise<ExplainedPart> => {
        const name = run?.command.words[0]?.literal ?? null;
        return {
          text: command === null ? plan.summary : textOf(command, run === null),
          program: run === null ? null : name === null ? "known only when it runs" : await programOf(name),
          via: command?.via ?? [],
          facts: answers
            .filter(({ matches }) => matches.length > 0)
            .map(({ fact, matches, answer }) => ({
              fact: fact.kind,
              what: fact.kind === "call" ? "" : fact.what,
              rules: matches.map((match) => ({
                rule: match.rule.id,
                source: match.rule.source,
                authority: match.authority,
                decision: match.decision,
                decides: match === answer,
              })),
            })),
        };
      }),
    ),
    ...(risk === undefined ? {} : { risk }),
  };
}

type Command = NonNullable<Explanation["parts"][number]["part"]["command"]>;

/** What of a command is judged here: its words, or what its redirections and assignments do. */
function textOf({ words, assignments, redirects }: Command, isBeside: boolean): string {
  if (!isBeside) return words.map((word) => word.text).join(" ");
  const beside = [
    ...assignments.map(({ name, value }) => `${name}=${value?.text ?? "…"}`),
    ...redirects.map(({ operator, target }) => `${operator} ${target?.text ?? ""}`.trim()),
  ];
  return beside.join(" ") || words.map((word) => word.text).join(" ");
}

/** The decision first, then how it came about. */
export function renderExplanation(
  explanation: ExplainedDecision,
  { style, width }: { readonly style: Style; readonly width: number },
): string[] {
  const paint = { allow: style.good, review: style.care, deny: style.bad };
  const sentence = (text: string) => wrap(sanitizeLine(text), width);
  const below = (text: string, indent: string) =>
    wrap(sanitizeLine(text), Math.max(20, width - indent.length)).map((line) => indent + line);
  const lines = [
    `${paint[explanation.decision](explanation.decision)}  ${sanitizeLine(`${explanation.rule} (${explanation.source})`)}`,
    ...sentence(explanation.reason),
    ...(explanation.decision === "allow" ? [] : sentence(`to the model: ${explanation.forModel}`)),
    ...(Object.keys(explanation.scope).length === 0
      ? []
      : [
          explanation.decision === "allow" ? "the rule grants:" : "allowing it would grant:",
          ...describeScope(explanation.scope).flatMap((one) => below(one, "  ")),
        ]),
    ...(explanation.risk === undefined ? [] : renderRisk(explanation.risk, width)),
    "",
    style.dim(`mode ${explanation.mode}; ${explanation.provenRead ? "every part is proven to only read" : "not proven to only read"}`),
    ...explanation.problems.flatMap((problem) => below(`can't be read: ${problem}`, "")),
  ];
  for (const [index, part] of explanation.parts.entries()) {
    lines.push("", ...below(`${index + 1}. ${part.text}`, ""));
    if (part.program !== null)
      lines.push(...below(`program: ${part.program}${part.via.length === 0 ? "" : `, run by ${part.via.join(" → ")}`}`, "   "));
    for (const { fact, what, rules } of part.facts) {
      lines.push(...below(what === "" ? fact : `${fact}: ${what}`, "   "));
      for (const one of rules) {
        const mark = one.decides ? "→" : " ";
        lines.push(...below(`${mark} ${one.decision} ${one.rule} (${one.authority}, ${one.source})`, "     "));
      }
    }
  }
  return lines;
}
