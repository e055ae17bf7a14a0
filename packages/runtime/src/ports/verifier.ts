import type { CheckDefinition, Evidence, InspectedPart, Json, RecordedRun, Report, TestCounts } from "@holdfast/protocol";
import type { Owner } from "./log.ts";

export interface Baseline {
  readonly subject: string;
  readonly manifest: string | null;
  readonly evidence: readonly Evidence[];
  /** Content of the checks' inputs at the baseline: what the verifier needs to run them again. */
  readonly inputs: Json;
}

/** A command of the session that a check needs. `subject`: digest of the tree that it began on; null where that isn't known. */
export interface NeededTask {
  readonly ref: string;
  readonly line: string;
  readonly callId: string;
  readonly attempt: number;
  readonly subject: string | null;
}

export interface VerifierContext {
  readonly session: string;
  /** Distinct for each attempt, so that the runs' records never collide. The id of each of its runs begins with it. */
  readonly runId: string;
  readonly isSandboxed: boolean;
  readonly acceptCheckChanges: readonly string[];
  /** The parts of changes that the model was shown. */
  readonly inspected: readonly InspectedPart[];
  /** What the session's commands installed and built, oldest first. */
  readonly runs: readonly RecordedRun[];
  /** Commands of the session that still run; they are paused while a check runs. */
  readonly runningTasks: readonly string[];
  /** Those of them that checks need, by the line that they were started with. */
  readonly needed?: readonly NeededTask[];
  /** The session's baseline so far, where checks are added later: it stays, and only what is new is taken. */
  readonly earlier: Baseline | null;
  /** As for calls: told of the process that a check's run hangs on. */
  readonly handOver: (owner: Owner) => Promise<void>;
  readonly onOutput: (checkId: string, text: string) => void;
}

export type Verdict = {
  /** `none`: nothing fails, and nothing that a person asked for was there to prove. */
  readonly verdict: "pass" | "weak" | "fail" | "none";
  readonly report: Report;
  /** What the model is told after a failed round, or where it can still bring what a check needs. */
  readonly forModel: string;
  /** Weak only for want of a running command that the model can start. */
  readonly isLacking?: boolean;
};

/** Runs checks and binds their results to what they tested. */
export interface Verifier {
  /** `runs` false only takes the subject and the inputs' content (`--no-baseline`). */
  baseline(checks: readonly CheckDefinition[], runs: boolean, context: VerifierContext, signal: AbortSignal): Promise<Baseline>;
  /**
   * Asked before a command that runs alone in the workspace. Where it is an install or a build whose result can be told, the
   * function returned is called once it has ended with exit status 0, before anything else runs.
   */
  beforeRun(command: string, cwd: string, baseline: Baseline): Promise<(() => Promise<RecordedRun | null>) | null>;
  check(check: CheckDefinition, baseline: Baseline, context: VerifierContext, signal: AbortSignal): Promise<Evidence>;
  /**
   * Pure: ids of checks whose evidence in this round is of another tree than the last check's, because a check that ran
   * after them changed files. They are to be run once more; what is stale then is weak.
   */
  stale(evidence: readonly Evidence[]): readonly string[];
  /** Pure: the test counts that an output shows; null where it shows none. */
  testCounts(output: string): Promise<TestCounts | null>;
  /** Pure: why a final answer is not valid under a JSON Schema, for the model; empty where it is. */
  answerProblems(schema: Json, text: string): Promise<readonly string[]>;
  /** Pure: claims of a final message that the log contradicts. One with a `path` holds only where that is a tracked file. */
  contradictions(
    message: string,
    done: {
      readonly calls: readonly { readonly name: string; readonly input: string }[];
      readonly isWhole: boolean;
      readonly changes: Report["changes"];
      readonly changesKnown: boolean;
    },
  ): Promise<readonly { readonly says: string; readonly path: string | null }[]>;
  /** Pure: what a person's words to the model limit, as checks: see docs/checks.md for the rules. */
  constraints?(words: string): Promise<readonly CheckDefinition[]>;
  /** `changes` up to `manifest` without the report files that the checks' own runs, in `evidence`, wrote last. */
  withoutReports?(changes: Report["changes"], manifest: string, evidence: readonly Evidence[]): Promise<Report["changes"]>;
  /** Digest of the workspace as it is, over what the baseline's checks are bound to; `without` one file, by its real path. */
  subject(baseline: Pick<Baseline, "manifest" | "inputs">, without?: string): Promise<string>;
  /** Pure: what the evidence of a round amounts to. */
  judge(input: {
    readonly checks: readonly CheckDefinition[];
    readonly baseline: Baseline | null;
    readonly evidence: readonly Evidence[];
    /** Digest of the workspace now that the round is over; null where that isn't known. */
    readonly subject: string | null;
    /** Manifest at the start of the turn, null where nothing was ever at risk of changing. */
    readonly changes: Report["changes"];
    readonly changesKnown: boolean;
    readonly message: string;
  }): Verdict;
}
