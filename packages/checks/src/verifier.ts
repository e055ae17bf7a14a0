import type { Verifier } from "@holdfast/runtime";
import { storedInputs, takeBaseline } from "./baseline.ts";
import { parseCounts } from "./counts.ts";
import { checkFinal } from "./final.ts";
import { beforeBuild } from "./builds.ts";
import { beforeInstall } from "./installs.ts";
import { checkInspected } from "./inspected.ts";
import { judge, staleChecks } from "./judge.ts";
import { subjectOf } from "./subject.ts";
import { createRounds, type VerifierInput } from "./rounds.ts";

/**
 * Runs `command` checks as docs/checks.md says. A check whose run changed the tree is run once more by `check` itself;
 * `stale` names the other checks of the round that must then run again.
 */
export function createVerifier(input: VerifierInput): Verifier {
  const rounds = createRounds(input);
  return {
    baseline: (checks, runs, context, signal) =>
      takeBaseline(
        input,
        rounds,
        checks.filter((check) => check.kind === "command"),
        runs,
        context,
        signal,
      ),
    check: (check, baseline, context, signal) =>
      check.kind === "inspected"
        ? checkInspected(input, check, baseline, context)
        : rounds.whilePaused(context, () => checkFinal(input, rounds, check, baseline, context, signal)),
    beforeRun: async (command, cwd, baseline) =>
      (await beforeInstall(input, command, cwd, baseline)) ?? (await beforeBuild(input, command, baseline)),
    testCounts: async (output) => parseCounts(output),
    // Few sessions have a schema.
    answerProblems: async (schema, text) => (await import("./output/answer.ts")).answerProblems(schema, text),
    stale: staleChecks,
    async subject({ manifest, inputs }) {
      return subjectOf(await input.observer.snapshot(manifest), storedInputs(inputs).outputs, input.observer);
    },
    judge,
  };
}
