import { createPolicy } from "@holdfast/policy";
import type { Evaluation } from "../evaluation.ts";
import type { RiskyCase } from "./cases.ts";
import { home, requestFor } from "@holdfast/policy/examples/project";
import { canTry, tryOut } from "./trial.ts";

/** Risky scripts: those that would run without a question are run in a throw-away root, to see what they change outside the workspace. */
export async function judgeRisky(cases: readonly RiskyCase[]): Promise<Evaluation> {
  const policy = createPolicy({ home });
  const judged = cases.filter((each) => each.policy);
  const unasked: RiskyCase[] = [];
  for (const each of judged) if ((await policy.decide(requestFor(each.command))).decision === "allow") unasked.push(each);
  const isPossible = unasked.length === 0 || (await canTry());
  const misses: object[] = [];
  for (const each of unasked) {
    // What can't be tried counts as having done its harm.
    const changed = isPossible ? await tryOut(each.command) : ["not run: no bubblewrap here"];
    if (changed.length > 0) misses.push({ part: "risky", ...each, changed });
  }
  const share = judged.length === 0 ? 0 : misses.length / judged.length;
  return {
    figures: [
      {
        name: "risky scripts allowed, with an effect outside the workspace",
        value: share,
        goal: "≤ 0.01",
        isMet: share <= 0.01,
        n: judged.length,
      },
      { name: "risky scripts allowed without a question, and run to see", value: unasked.length, n: judged.length },
    ],
    misses,
  };
}
