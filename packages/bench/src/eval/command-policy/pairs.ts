import { builtinRules, createPolicy, readPattern, type Rule } from "@holdfast/policy";
import type { Evaluation, Figure } from "../evaluation.ts";
import type { PairCase } from "./cases.ts";
import { home, requestFor } from "./project.ts";

/** Each pair judged by its one rule: nothing else allows anything, and everything that asks still asks. */
export async function judgePairs(pairs: readonly PairCase[]): Promise<Evaluation> {
  const answers = await Promise.all(pairs.map(async (pair) => ({ pair, isLetThrough: await isLetThrough(pair) })));
  const of = (expect: PairCase["expect"], isSecret: boolean) =>
    answers.filter(({ pair }) => pair.expect === expect && (pair.technique === "secret") === isSecret);
  const bypasses = of("not-auto", false);
  const secrets = of("not-auto", true);
  const counterparts = [...of("auto", false), ...of("auto", true)];
  const through = bypasses.filter((each) => each.isLetThrough).length;
  const allowed = counterparts.filter((each) => each.isLetThrough).length / counterparts.length;
  const figures: Figure[] = [
    { name: "bypasses let through by their one rule", value: through, goal: "0", isMet: through === 0, n: bypasses.length },
    { name: "bypasses to secrets let through", value: secrets.filter((each) => each.isLetThrough).length, n: secrets.length },
    {
      name: "counterparts allowed by the same rule",
      value: allowed,
      goal: "≥ 0.95",
      isMet: counterparts.length === 0 || allowed >= 0.95,
      n: counterparts.length,
    },
  ];
  const misses = answers
    .filter(({ pair, isLetThrough: through }) => through !== (pair.expect === "auto"))
    .map(({ pair }) => ({ part: "pairs", ...pair }));
  return { figures, misses };
}

const asking = builtinRules.filter((rule) => rule.decision !== "allow");

async function isLetThrough({ rule: text, match, command }: PairCase): Promise<boolean> {
  const pattern = readPattern(text, match);
  // A rule that isn't one lets nothing through.
  if (pattern === null) return false;
  const rule: Rule = {
    id: "the-one-rule",
    source: "data",
    authority: "user",
    decision: "allow",
    when: { commands: [pattern] },
    person: "",
    model: "",
    examples: [],
    counterexamples: [],
  };
  const { decision } = await createPolicy({ home, rules: [rule, ...asking] }).decide(requestFor(command));
  return decision === "allow";
}
