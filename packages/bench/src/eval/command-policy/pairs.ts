import { createPolicy, readDataRules } from "@holdfast/policy";
import type { Evaluation, Figure } from "../evaluation.ts";
import type { PairCase } from "./cases.ts";
import { home, requestFor } from "@holdfast/policy/examples/project";

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

async function isLetThrough({ rule, match, command }: PairCase): Promise<boolean> {
  // A rule that isn't one lets nothing through.
  const { rules } = readDataRules([{ rule, match }], "data");
  const { decision } = await createPolicy({ home, rules, isAlone: true }).decide(requestFor(command));
  return decision === "allow";
}
