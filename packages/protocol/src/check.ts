import { z } from "zod";
import { json } from "./json.ts";
import { planStep } from "./plan.ts";
import { trustLabel } from "./trust.ts";

/** Where a constraint of the work was said: `--constraint`, the config, or the user's own words to the model. */
export const constraintSources = ["flag", "config", "words"] as const;

/** What every check has. `authority` says who asked for it; a model's (`tool`) can add, never replace. */
const asked = {
  id: z.string(),
  name: z.string(),
  authority: trustLabel,
  isRequired: z.boolean(),
  /** Its place among those that were named together: they run in this order, and before all that have none. */
  order: z.number().int().nonnegative().optional(),
  /** Globs: it applies only where a changed path matches one. Absent or empty: always. */
  when: z.array(z.string()).optional(),
  /** The user's message or the call that it came from; it is erased with that. */
  from: z.string().optional(),
  /** It holds a constraint: broken, the work is refuted; held, nothing is proven. `name` is its text, word for word. */
  constraint: z
    .object({
      source: z.enum(constraintSources),
      /** Number of the only turn that it is about, counted from 1; absent: the whole session. */
      turn: z.number().int().positive().optional(),
    })
    .optional(),
};

/** A command that must end with exit status 0. */
export const commandCheck = z.object({
  ...asked,
  kind: z.literal("command"),
  command: z.string(),
  /** Files that decide the result: globs relative to the workspace. Empty: the toolchain's test patterns. */
  inputs: z.array(z.string()),
  /** Files that the check may write without touching the evidence: globs relative to the workspace. */
  outputs: z.array(z.string()),
  timeoutMs: z.number().int().positive(),
  /** Lines of commands that the session must have running, started in the folder of the checks: it tests what they serve. */
  needs: z.array(z.string()).optional(),
});
export type CommandCheck = z.infer<typeof commandCheck>;

/** Forms of test reports that are read. `auto`: by what stands in it. */
export const reportFormats = ["auto", "junit", "json", "tap"] as const;

/**
 * A test run that is judged by its report, test by test: at least one ran, none failed. `report` null: the report is the
 * command's output. A file counts only where this very run wrote it.
 */
export const testsCheck = commandCheck.extend({
  kind: z.literal("tests"),
  report: z.object({ path: z.string(), format: z.enum(reportFormats) }).nullable(),
});
export type TestsCheck = z.infer<typeof testsCheck>;
/** A check that runs a command. */
export type RunCheck = CommandCheck | TestsCheck;

/** What holds of a file at the end; every part that is given must. Paths are relative to the folder that checks run in. */
export const fileCondition = z.object({
  path: z.string(),
  exists: z.boolean().optional(),
  /** As at the baseline. */
  unchanged: z.boolean().optional(),
  contains: z.string().optional(),
  /** A regular expression (ECMAScript, with `m`). */
  matches: z.string().optional(),
  /** Hex. */
  sha256: z.string().optional(),
});
export type FileCondition = z.infer<typeof fileCondition>;
export const filesCheck = z.object({ ...asked, kind: z.literal("files"), files: z.array(fileCondition) });
export type FilesCheck = z.infer<typeof filesCheck>;

/** What holds of all that was changed since the baseline. */
export const diffCheck = z.object({
  ...asked,
  kind: z.literal("diff"),
  /** Globs: only such paths may change. Empty: any. */
  only: z.array(z.string()),
  /** Globs: no such path may change. */
  never: z.array(z.string()),
  maxFiles: z.number().int().positive().nullable(),
  /** Lines added and removed, together. */
  maxLines: z.number().int().positive().nullable(),
  /** No test is removed, skipped, focused or has fewer assertions, unless a person accepts the change of its file. */
  keepsTests: z.boolean(),
  /** No secret of a known format is added. */
  addsNoSecrets: z.boolean(),
  /** No manifest and no lock file names a package that it did not name before. */
  addsNoDependencies: z.boolean().optional(),
});
export type DiffCheck = z.infer<typeof diffCheck>;

/** What an address must answer. It is asked after the work, never before. */
export const httpCheck = z.object({
  ...asked,
  kind: z.literal("http"),
  url: z.string(),
  status: z.number().int(),
  /** Values in a JSON answer, by a path such as `items.0.name`. */
  json: z.array(z.object({ path: z.string(), equals: json })),
  /** The answer must not be older, by its Date and Age headers. */
  freshWithinMs: z.number().int().positive().nullable(),
  timeoutMs: z.number().int().positive(),
});
export type HttpCheck = z.infer<typeof httpCheck>;

/** A constraint that no code can judge: the model is told, and the person who reads the outcome. */
export const statedCheck = z.object({ ...asked, kind: z.literal("stated") });
export type StatedCheck = z.infer<typeof statedCheck>;

/** A check of a kind that the host registered under this name. */
export const otherCheck = z.object({ ...asked, kind: z.literal("other"), of: z.string(), options: json });
export type OtherCheck = z.infer<typeof otherCheck>;

/** The change of one file, shown in `parts` pieces; `digest` is of its text. */
export const changeToRead = z.object({ path: z.string(), digest: z.string(), parts: z.number().int().positive() });
export type ChangeToRead = z.infer<typeof changeToRead>;

/** Which changes are reviewed: what isn't committed, all since a reference, or one commit. */
export const reviewRange = z.discriminatedUnion("type", [
  z.object({ type: z.literal("uncommitted") }),
  z.object({ type: z.literal("base"), ref: z.string() }),
  z.object({ type: z.literal("commit"), ref: z.string() }),
]);
export type ReviewRange = z.infer<typeof reviewRange>;

/** Every part of these changes must have been shown to the model. */
export const inspectedCheck = z.object({
  ...asked,
  kind: z.literal("inspected"),
  /** In words: which changes they are. */
  range: z.string(),
  /** Where they are read again by a process that goes on with the review. */
  source: reviewRange.optional(),
  files: z.array(changeToRead),
});
export type InspectedCheck = z.infer<typeof inspectedCheck>;

/** A check: a test the runtime runs itself. */
export const checkDefinition = z.discriminatedUnion("kind", [
  commandCheck,
  testsCheck,
  filesCheck,
  diffCheck,
  httpCheck,
  inspectedCheck,
  statedCheck,
  otherCheck,
]);
export type CheckDefinition = z.infer<typeof checkDefinition>;

/** A part of a change that was shown to the model. */
export const inspectedPart = z.object({ path: z.string(), digest: z.string(), part: z.number().int().positive() });
export type InspectedPart = z.infer<typeof inspectedPart>;

/** Test counts read from a check's output; null where its output shows none (exit-only evidence). */
export const testCounts = z.object({
  passed: z.number().int(),
  failed: z.number().int(),
  skipped: z.number().int(),
  names: z.array(z.string()).optional(),
});
export type TestCounts = z.infer<typeof testCounts>;

export const checkRun = z.object({
  exitCode: z.number().int().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  /** Why it was ended without a status of its own, in words: the output limit, another limit, a full disk. */
  ended: z.string().optional(),
  durationMs: z.number(),
  passed: z.boolean(),
  counts: testCounts.nullable(),
  /** The end of the output, a few kB, for people and for the model. */
  tail: z.string(),
  /** Handle of the whole output. */
  output: z.string(),
  /** Of a `tests` check: why its report shows no tests, or what it says against the run beside them. */
  reportProblem: z.string().optional(),
  /** Of a `tests` check with a report file in the workspace: the file as this run wrote it, with the hex SHA-256 of its content. */
  report: z.object({ root: z.string(), path: z.string(), digest: z.string() }).optional(),
});
export type CheckRun = z.infer<typeof checkRun>;

/**
 * What one command that installs dependencies or builds made of ignored files, as seen right before and right after it.
 * `folders`: signatures by `root:path`, null where there was nothing. `locks`: the lock files that an install went by, as
 * it left them; `content` is a blob. `subject`: for a build, a digest of the tree that it left and of the dependencies it had.
 */
export const recordedRun = z.object({
  command: z.string(),
  folders: z.array(z.object({ key: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
  locks: z.array(z.object({ root: z.string(), path: z.string(), digest: z.string(), content: z.string() })),
  subject: z.string().nullable(),
});
export type RecordedRun = z.infer<typeof recordedRun>;

/** Why passing evidence is not enough. */
export const weaknesses = [
  "flaky",
  "test_changed",
  "inputs_changed",
  "check_changes_subject",
  "stale_build",
  "no_tests_ran",
  "fewer_tests",
  "failures_shown",
  "reaches_tests",
  "needs_unmet",
] as const;
export const weakness = z.object({ kind: z.enum(weaknesses), detail: z.string() });
export type Weakness = z.infer<typeof weakness>;

/** The recorded result of a check, bound to what it tested. Digests are hex SHA-256 over the check's scope. */
export const evidence = z.object({
  checkId: z.string(),
  phase: z.enum(["baseline", "final"]),
  subjectBefore: z.string(),
  subjectAfter: z.string(),
  inputs: z.string(),
  definition: z.string(),
  run: checkRun,
  /** The same check with the baseline's version of its inputs over the final tree, where the inputs changed. */
  originalInputsRun: checkRun.nullable(),
  /** Every run of this check in this round, when it was repeated. */
  repeats: z.array(checkRun),
  weaknesses: z.array(weakness),
  /** False where nothing that it is about was changed: it says nothing then. */
  applies: z.literal(false).optional(),
  /** What a person should see beside the result, such as the installs that it relies on. */
  notes: z.array(z.string()).optional(),
  /** Paths whose change would have made it weaker, or fail, and that a person accepts as changed. */
  accepted: z.array(z.string()).optional(),
  sandboxed: z.boolean(),
  gitTree: z.string().nullable(),
  at: z.number(),
});
export type Evidence = z.infer<typeof evidence>;

export const fileChange = z.object({
  path: z.string(),
  change: z.enum(["added", "modified", "deleted"]),
  added: z.number().int().nullable(),
  removed: z.number().int().nullable(),
});
export type FileChange = z.infer<typeof fileChange>;

/** One row of the table a person reads: criterion → baseline → now → evidence. */
export const criterion = z.object({
  checkId: z.string(),
  name: z.string(),
  baseline: z.enum(["pass", "fail", "not taken"]),
  now: z.enum(["pass", "fail", "weak", "not run", "not judged"]),
  evidence: z.string(),
});
export type Criterion = z.infer<typeof criterion>;

/** What a turn ends with, beside its outcome. */
export const report = z.object({
  heading: z.string(),
  message: z.string(),
  criteria: z.array(criterion),
  changes: z.array(fileChange),
  changesKnown: z.boolean(),
  subject: z.string().nullable(),
  reasons: z.array(z.string()),
  /** What the model says in its final message and the log contradicts: for the person who reads it. */
  contradicted: z.array(z.string()).optional(),
  /** The model's plan, where the turn was stopped before all of its steps were done. */
  plan: z.array(planStep).optional(),
});
export type Report = z.infer<typeof report>;
