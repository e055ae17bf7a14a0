import { createPolicy } from "@holdfast/policy";
import type { PolicyRequest } from "@holdfast/runtime/ports/policy";
import { median, quantile } from "../suite/statistics.ts";
import { judgeEveryday } from "./command-policy/everyday.ts";
import { judgePairs } from "./command-policy/pairs.ts";
import { judgeRisky } from "./command-policy/risky.ts";
import { home, requestFor } from "@holdfast/policy/examples/project";
import type { EverydayCase, PairCase, RiskyCase } from "./command-policy/cases.ts";
import { findData, readCases } from "./data.ts";
import type { Evaluation, EvaluationOptions, Figure } from "./evaluation.ts";

/**
 * The command policy held against commands that were marked beforehand: pairs of one rule and one command that must, or must
 * not, be let through by it; everyday commands; and risky scripts, of which those that need no question are run in a
 * throw-away root (`command-policy/trial.ts`) to see what they change. Nothing else is ever run.
 */
export async function evaluate({ data, count }: EvaluationOptions): Promise<Evaluation> {
  const folder = findData("command-policy", data);
  const pairs = readCases<PairCase>(folder, "bypass").slice(0, count);
  const everyday = readCases<EverydayCase>(folder, "benign").slice(0, count);
  const risky = readCases<RiskyCase>(folder, "redcode-bash").slice(0, count);
  const parts = [await judgePairs(pairs), await judgeEveryday(everyday), await judgeRisky(risky)];
  const time = await measure([...everyday, ...pairs].map((each) => requestFor(each.command)));
  return { figures: [...parts.flatMap((part) => part.figures), ...time], misses: parts.flatMap((part) => part.misses) };
}

const rounds = 5;

/** Milliseconds from a command's text to its decision, in a process that has decided before. */
async function measure(requests: readonly PolicyRequest[]): Promise<Figure[]> {
  const policy = createPolicy({ home });
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const request of requests) {
      const start = performance.now();
      await policy.decide(request);
      if (round > 0) times.push(performance.now() - start);
    }
  }
  const middle = median(times);
  return [
    { name: "decision, median ms", value: middle, goal: "≤ 0.1", isMet: middle <= 0.1, n: times.length },
    { name: "decision, 99th percentile ms", value: quantile(times, 0.99), n: times.length },
  ];
}
