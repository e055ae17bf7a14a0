import type { CheckRun, Weakness } from "@holdfast/protocol";
import type { Snapshot } from "@holdfast/runtime";
import type { BoundRun, Round, Rounds } from "./rounds.ts";

/** Sources that may be right by chance: runs in all, and ms that the repeated ones may take together. */
const mostRepeats = 12;
const repeatsUpToMs = 20_000;

/** What is new may be a matter of chance or of the hour: it must pass each time, as often as there is time for. */
export async function runAgain(rounds: Rounds, round: Round, repeats: CheckRun[]): Promise<Weakness[]> {
  let spent = 0;
  for (let last = repeats.at(-1); last !== undefined && repeats.length < mostRepeats; last = repeats.at(-1)) {
    spent += last.durationMs;
    if (spent > repeatsUpToMs) break;
    repeats.push((await rounds.inWorkspace(round)).run);
  }
  const passes = repeats.filter((run) => run.passed).length;
  return passes === repeats.length ? [] : [{ kind: "flaky", detail: `${passes} of ${repeats.length} runs passed` }];
}

/** A run that moves the tree is repeated once, and so is one that fails or whose baseline was flaky. */
export async function runUntilKnown(
  rounds: Rounds,
  round: Round,
  start: Snapshot,
  wasFlaky: boolean,
): Promise<{ readonly bound: BoundRun; readonly repeats: CheckRun[]; readonly hasFailedHere: boolean; readonly hasFailedOnTree: boolean }> {
  let bound = await rounds.inWorkspace(round, start);
  const { hasFailedHere, hasFailedOnTree } = bound;
  const repeats = [bound.run];
  const moved = bound.subjectBefore !== bound.subjectAfter;
  if (!bound.run.timedOut && (moved || !bound.run.passed || wasFlaky)) {
    bound = await rounds.inWorkspace(round);
    repeats.push(bound.run);
  }
  return { bound, repeats, hasFailedHere, hasFailedOnTree };
}
