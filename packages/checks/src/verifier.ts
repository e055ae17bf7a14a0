import type { CheckDefinition, Evidence, OtherCheck, RunCheck } from "@holdfast/protocol";
import type { Baseline, Verifier, VerifierContext } from "@holdfast/runtime";
import { storedInputs, takeBaseline } from "./baseline.ts";
import { parseCounts } from "./counts.ts";
import { checkFinal } from "./final.ts";
import { beforeBuild } from "./builds.ts";
import { beforeInstall } from "./installs.ts";
import { checkInspected } from "./inspected.ts";
import { judge, staleChecks } from "./judge.ts";
import { matcher } from "./glob.ts";
import { placeOf } from "./inputs.ts";
import { withoutWritten } from "./own-report.ts";
import { evidenceOf } from "./kinds/kind.ts";
import { needsRunning } from "./definition.ts";
import { findNeeded, notesOf, unmetNeeds } from "./needs.ts";
import type { CheckKind } from "./verifier-input.ts";
import { movedFiles, subjectOf } from "./subject.ts";
import { createRounds, type Rounds } from "./rounds.ts";
import type { VerifierInput } from "./verifier-input.ts";

/**
 * Runs `command` checks as docs/checks.md says. A check whose run changed the tree is run once more by `check` itself;
 * `stale` names the other checks of the round that must then run again.
 */
export function createVerifier(input: VerifierInput): Verifier {
  const rounds = createRounds(input);
  return {
    baseline: (checks, runs, context, signal) => takeBaseline(input, rounds, checks, runs, context, signal),
    check: (check, baseline, context, signal) => checkOne(input, rounds, check, baseline, context, signal),
    beforeRun: async (command, cwd, baseline) =>
      (await beforeInstall(input, command, cwd, baseline)) ?? (await beforeBuild(input, command, baseline)),
    contradictions: async (message, done) => (await import("./claims.ts")).contradictions(message, done),
    constraints: async (words) => (mayLimit.test(words) ? (await import("./constraints.ts")).constraintsOf(words) : []),
    testCounts: async (output) => parseCounts(output),
    // Few sessions have a schema.
    answerProblems: async (schema, text) => (await import("./output/answer.ts")).answerProblems(schema, text, input.bounded),
    withoutReports: (changes, manifest, evidence) => withoutWritten(changes, manifest, evidence, input.observer),
    stale: staleChecks,
    async subject({ manifest, inputs }, without) {
      const left = without === undefined ? null : placeOf(input.files, without);
      return subjectOf(await input.observer.snapshot(manifest), storedInputs(inputs).outputs, input.observer, left);
    },
    judge,
  };
}

/** Most prompts limit nothing, and then nothing is loaded. */
const mayLimit = /\b(?:don['’]t|do not|never|must ?n|no (?:new|other|more|change)|only|without|leave|keep)\b/i;

/** A check that applies to nothing of what was changed is not run: its evidence says so, and says no more. */
async function checkOne(
  input: VerifierInput,
  rounds: Rounds,
  check: CheckDefinition,
  baseline: Baseline,
  context: VerifierContext,
  signal: AbortSignal,
): Promise<Evidence> {
  const look = <T extends CheckDefinition>(kind: CheckKind<T>, one: T): Promise<Evidence> =>
    evidenceOf(kind, input, one, baseline, context, signal);
  if (!(await applies(input, check, baseline))) {
    const nothing: CheckKind = async () => ({ passed: true, says: "nothing that it is about was changed" });
    return { ...(await look(nothing, check)), applies: false };
  }
  switch (check.kind) {
    case "command":
    case "tests":
      return checkRun(input, rounds, check, baseline, context, signal);
    case "files":
      return look((await import("./kinds/files.ts")).checkFiles, check);
    case "diff":
      return look((await import("./kinds/diff.ts")).checkDiff, check);
    case "http":
      return look((await import("./kinds/http.ts")).checkHttp, check);
    case "stated": {
      const told: CheckKind = async () => ({ passed: true, says: "no code can judge it" });
      return { ...(await look(told, check)), applies: false };
    }
    case "inspected":
      return checkInspected(input, check, baseline, context);
    case "other": {
      const kind = input.kinds?.[check.of];
      const unknown: CheckKind<OtherCheck> = async () => ({ passed: false, says: `this program has no kind of check named ${check.of}` });
      return look(kind ?? unknown, check);
    }
  }
}

/** The session's commands stand still meanwhile, but for those that it needs; where these are not there, nothing is run. */
async function checkRun(
  input: VerifierInput,
  rounds: Rounds,
  check: RunCheck,
  baseline: Baseline,
  context: VerifierContext,
  signal: AbortSignal,
): Promise<Evidence> {
  const { refs, unmet } = await findNeeded(input, check, baseline, context);
  if (unmet.length > 0) {
    const weakness = unmetNeeds(unmet);
    const nothing: CheckKind<RunCheck> = async () => ({ passed: false, says: "what it needs is not there" });
    return { ...(await evidenceOf(nothing, input, check, baseline, context, signal)), weaknesses: [weakness] };
  }
  const evidence = await rounds.whilePaused(context, () => checkFinal(input, rounds, check, baseline, context, signal), refs);
  return needsRunning(check) ? { ...evidence, notes: [...(evidence.notes ?? []), ...notesOf(check)] } : evidence;
}

async function applies({ observer }: VerifierInput, { when = [] }: CheckDefinition, { manifest }: Baseline): Promise<boolean> {
  if (when.length === 0 || manifest === null) return true;
  const { manifest: now } = await observer.snapshot(manifest);
  const isAbout = matcher(when);
  return (await movedFiles(manifest, now, [], observer)).some(isAbout);
}
