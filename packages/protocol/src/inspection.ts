import { z } from "zod";
import { callStatus } from "./item.ts";
import { checkRun, constraintSources, criterion, fileChange, weakness } from "./check.ts";
import { decision, replayClass, ruleRef, scope } from "./decision.ts";
import { judgement } from "./expectation.ts";
import { hookRun } from "./hook.ts";
import { outcome } from "./outcome.ts";
import { trustLabel } from "./trust.ts";

/** Who let a call happen: the rule that decided, and the person where one was asked. */
export const permission = z.object({
  decision,
  rule: ruleRef,
  reason: z.string(),
  scope,
  /** Null where nobody was asked. `by` is empty while it is open, and where its deadline answered. */
  approval: z
    .object({
      approvalId: z.string(),
      answer: z.enum(["allow", "deny", "expired", "open"]),
      by: z.string(),
      at: z.number().nullable(),
      note: z.string(),
      /** Set where more than this call was allowed: for the session, or by a rule that was kept. */
      grant: z.enum(["session", "rule"]).nullable(),
    })
    .nullable(),
});
export type Permission = z.infer<typeof permission>;

/** One call of the model, from why to what came of it. `seq`: the event that proposed it. */
export const inspectedAction = z.object({
  callId: z.string(),
  seq: z.number().int(),
  at: z.number(),
  step: z.number().int(),
  tool: z.string(),
  summary: z.string(),
  command: z.string().nullable(),
  /** The model's own words before it, in the same answer; null where it said nothing. */
  why: z.string().nullable(),
  /** Null where it was never decided: its input was no input of that tool, or the tool is unknown. */
  permission: permission.nullable(),
  hooks: z.array(hookRun),
  /** False for a call that is proven to only read. */
  changesWorkspace: z.boolean(),
  /** True for one that may change any file, not only those that it names beforehand: a command, most tools of MCP servers. */
  mayChangeAnything: z.boolean(),
  replay: replayClass.nullable(),
  attempts: z.number().int(),
  /** What a driver found that took it over after a crash. */
  recovered: z.array(z.string()),
  expected: judgement.nullable(),
  /** `open` while it has not ended. */
  status: z.union([callStatus, z.literal("open")]),
  /** What came back, its beginning. */
  observed: z.string(),
  exitCode: z.number().int().nullable(),
  durationMs: z.number().nullable(),
  trust: trustLabel.nullable(),
  /** Files that it is known to have changed; digests are hex SHA-256, null where there is no file. */
  changed: z.array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
  /** Events of this turn with evidence that was taken after it: what verified it. */
  evidence: z.array(z.number().int()),
});
export type InspectedAction = z.infer<typeof inspectedAction>;

/** One run of a check, or one look. `seq`: the event that recorded it. */
export const inspectedEvidence = z.object({
  seq: z.number().int(),
  at: z.number(),
  checkId: z.string(),
  name: z.string(),
  phase: z.enum(["baseline", "final"]),
  /** 0 for a baseline. */
  round: z.number().int(),
  run: checkRun.omit({ tail: true }),
  subjectBefore: z.string(),
  subjectAfter: z.string(),
  definition: z.string(),
  inputs: z.string(),
  gitTree: z.string().nullable(),
  sandboxed: z.boolean(),
  applies: z.boolean(),
  weaknesses: z.array(weakness),
  /** Paths whose change counts for nothing in it, since a person accepted it. */
  accepted: z.array(z.string()),
  originalInputs: z.enum(["pass", "fail"]).nullable(),
});
export type InspectedEvidence = z.infer<typeof inspectedEvidence>;

export const inspectedTurn = z.object({
  number: z.number().int().positive(),
  turnId: z.string(),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  /** What was asked, and what was added meanwhile; `trust` says who speaks. */
  goal: z.array(z.object({ seq: z.number().int(), trust: trustLabel, text: z.string() })),
  /** Checks and constraints that were in force at the turn's end, each with who asked for it; `constraint`: where it was said. */
  criteria: z.array(
    z.object({
      checkId: z.string(),
      name: z.string(),
      kind: z.string(),
      authority: trustLabel,
      isRequired: z.boolean(),
      constraint: z.enum(constraintSources).nullable(),
    }),
  ),
  actions: z.array(inspectedAction),
  evidence: z.array(inspectedEvidence),
  rounds: z.array(z.object({ round: z.number().int(), verdict: z.enum(["pass", "weak", "fail", "none"]), heading: z.string() })),
  /** Null while the turn is open. */
  outcome: outcome.nullable(),
  report: z
    .object({
      heading: z.string(),
      message: z.string(),
      reasons: z.array(z.string()),
      contradicted: z.array(z.string()),
      criteria: z.array(criterion),
      changes: z.array(fileChange),
      changesKnown: z.boolean(),
      subject: z.string().nullable(),
    })
    .nullable(),
  /** Files of this turn's changes that another session changed at the same time; absolute paths. */
  meanwhile: z.array(z.object({ path: z.string(), session: z.string() })).optional(),
  /** The signed end of the log at the turn's end. */
  tip: z.object({ seq: z.number().int(), hash: z.string(), keyId: z.string() }).nullable(),
});
export type InspectedTurn = z.infer<typeof inspectedTurn>;

/** What `holdfast inspect --json` prints. Fields are only ever added; anything else is another version. */
export const inspection = z.object({
  format: z.literal("holdfast-inspection"),
  version: z.literal(1),
  session: z.string(),
  title: z.string(),
  folder: z.string().nullable(),
  model: z.string(),
  /** The first event at which the log doesn't hold together, or has lost content that nothing erased: what follows is not all. */
  damage: z.object({ seq: z.number().int(), fault: z.enum(["order", "prev", "hash", "payload", "missing", "end"]) }).nullable(),
  turns: z.array(inspectedTurn),
});
export type Inspection = z.infer<typeof inspection>;

/** What `holdfast inspect --why --json` prints. */
export const whyChanged = z.object({
  format: z.literal("holdfast-why"),
  version: z.literal(1),
  session: z.string(),
  path: z.string(),
  line: z.number().int().positive().nullable(),
  /**
   * `action`: exactly this one. `one_of`: one of these, or something else meanwhile: nothing that the log has tells more.
   * `outside`: none of the session's, since none ran meanwhile. `before_session`: it is as it was when the session began.
   * `unknown`: what the file was then is not kept.
   */
  by: z.enum(["action", "one_of", "outside", "undo", "before_session", "unknown"]),
  actions: z.array(z.object({ turn: z.number().int(), action: inspectedAction })),
  /** What is known of it, and what isn't, a sentence each. */
  says: z.array(z.string()),
  /** Evidence taken after the change; `sameFile`: whether the file was then as it is now, null where that isn't known. */
  verified: z.array(z.object({ turn: z.number().int(), evidence: inspectedEvidence, sameFile: z.boolean().nullable() })),
});
export type WhyChanged = z.infer<typeof whyChanged>;
