import { z } from "zod";
import { approval, deadlineAnswer, grant, refusedAnswer } from "./approval.ts";
import { callOutcome, callPlan } from "./call.ts";
import { checkDefinition, evidence, recordedRun, report } from "./check.ts";
import { approvalMode, decision, replayClass, ruleRef, sandboxMode, scope, valueOrigin } from "./decision.ts";
import { judgement, recoveryRungs } from "./expectation.ts";
import { hookRun } from "./hook.ts";
import { item, assistantMessage, notice, reasoning, toolCall, toolResult, userMessage } from "./item.ts";
import { contextReason, shedPart } from "./context.ts";
import { compactedEntry, compactionReport, compactionStrategy, compactionTrigger, judging } from "./compaction.ts";
import { checkpoint, treeChange } from "./checkpoint.ts";
import { json } from "./json.ts";
import { limits } from "./limits.ts";
import { outcome } from "./outcome.ts";
import { answer, question } from "./question.ts";
import { requestRecord, toolSpec } from "./request.ts";
import { trustLabel } from "./trust.ts";
import { usage } from "./usage.ts";

export const root = z.object({ id: z.string(), path: z.string() });
export type Root = z.infer<typeof root>;

export const networkAccess = z.union([z.literal("none"), z.literal("all"), z.array(z.string())]);
export type NetworkAccess = z.infer<typeof networkAccess>;

/** The settings of a session that its log depends on. */
export const settings = z.object({
  model: z.string(),
  effort: z.string().nullable(),
  sandbox: sandboxMode,
  network: networkAccess,
  approvals: approvalMode,
  /** How long an approval waits for its answer, ms; seven days where nothing is said. And what it becomes then. */
  approvalMs: z.number().int().positive().optional(),
  approvalAtDeadline: deadlineAnswer.optional(),
  isTrusted: z.boolean(),
  limits,
  takesBaseline: z.boolean(),
  acceptCheckChanges: z.array(z.string()),
  /** The JSON Schema that the final answer is held to. Null: no more. */
  outputSchema: json.optional(),
  /** Tokens of a request above which the conversation is shortened; absent: most of what the model's window holds. */
  compactAtTokens: z.number().int().positive().optional(),
  /** Answers of the model in one window after which it is shortened; absent: any number. */
  compactAtSteps: z.number().int().positive().optional(),
  /** What a new window begins with; absent: the whole state. */
  compactStrategy: compactionStrategy.optional(),
  /** The model that is asked for its judgement when the conversation is shortened; absent: the session's own; null: none. */
  compactModel: z.string().nullable().optional(),
  /** True while the session only explores: its turns end in plans, and one that a person accepts is carried out. */
  isPlanning: z.boolean().optional(),
});
export type Settings = z.infer<typeof settings>;

/**
 * What the runtime saw of one part of the world and recorded, so that the same log gives the same request. `text` is what the
 * model reads of it, whole; `snapshot` the same as data, for clients.
 */
export const worldSection = z.object({
  id: z.string(),
  trust: trustLabel,
  text: z.string(),
  snapshot: json.optional(),
  context: contextReason.optional(),
});
export type WorldSection = z.infer<typeof worldSection>;

export const modelErrorClasses = [
  "rate_limited",
  "overloaded",
  "auth",
  "invalid_request",
  "context_overflow",
  "network",
  "cut",
  "refused",
  "script",
] as const;
export const modelError = z.object({
  class: z.enum(modelErrorClasses),
  message: z.string(),
  status: z.number().int().nullable(),
  code: z.string().nullable(),
  /** Set where the provider named a time: milliseconds to wait. */
  retryAfterMs: z.number().nullable(),
});
export type ModelError = z.infer<typeof modelError>;

export const modelItem = z.discriminatedUnion("kind", [assistantMessage, reasoning, toolCall]);

/** Stands in the place of an erased payload. */
const keptEvent = z.object({ seq: z.number().int(), version: z.number().int(), payload: json });

/** A call that may have happened. `identity`: digest of what makes another one the same. */
const doubt = z.object({ tool: z.string(), identity: z.string(), callId: z.string() });
export type Doubt = z.infer<typeof doubt>;

/** Every event's payload, by type. Past tense, dotted. A type's meaning never changes; a new shape is a new version. */
export const eventPayloads = {
  "session.created": z.object({
    behaviour: z.number().int(),
    roots: z.array(root),
    cwd: z.string().nullable(),
    settings,
    title: z.string(),
  }),
  /** A session of its own begins after event `seq` of another, whose events up to there are also its events. */
  "session.forked": z.object({
    from: z.string(),
    seq: z.number().int(),
    title: z.string(),
    /** What stays readable of shared events whose payloads are erased, where the other recorded that later than `seq`. */
    kept: z.array(keptEvent),
    /** Calls of the other that may have happened and aren't in the shared history as such. Absent where there are none. */
    doubts: z.array(doubt).optional(),
    /** The workspace before the other's first effect, where that comes after `seq`. `blobs`: what the store must keep for it. */
    tree: z.object({ subject: z.string(), manifest: z.string(), blobs: z.array(z.string()) }).optional(),
  }),
  "session.changed": z.object({ settings }),
  "session.renamed": z.object({ title: z.string() }),
  /** `sections`: those that are new or not as they were. `passing`: what holds for a moment only (budget, plan, tasks). */
  "world.observed": z.object({
    sections: z.array(worldSection),
    gone: z.array(z.string()).optional(),
    passing: z.array(worldSection).optional(),
    shed: z.array(shedPart).optional(),
  }),
  "checks.accepted": z.object({ checks: z.array(checkDefinition) }),
  /** `repeatsBy`: how repeats of its calls are counted; absent in older logs: call by call, as they settle. */
  "turn.started": z.object({ turnId: z.string(), message: userMessage, repeatsBy: z.literal("steps").optional() }),
  "input.taken": z.object({ message: userMessage }),
  "notice.added": z.object({ notice }),
  "sampling.intended": z.object({ samplingId: z.string(), step: z.number().int() }),
  "sampling.failed": z.object({
    samplingId: z.string(),
    attempt: z.number().int(),
    error: modelError,
    /** Text that had been streamed before the cut; shown as retracted, never sent back. */
    retracted: z.string(),
    usage: usage.nullable(),
    /** US dollars that the lost answer is taken to have cost, where its price is known. */
    cost: z.number().nullable().optional(),
    retryAt: z.number().nullable(),
  }),
  "sampling.settled": z.object({
    samplingId: z.string(),
    items: z.array(modelItem),
    usage,
    cost: z.number().nullable(),
    finish: z.enum(["stop", "calls", "length"]),
    request: requestRecord.optional(),
    /** The tools of the request, where they were not those of the sampling recorded before. */
    tools: z.array(toolSpec).optional(),
    /** The lowest label of what the model had before it, where that is untrusted: what it says is derived from it. */
    trust: trustLabel.optional(),
  }),
  /** A sampling whose answer is no longer wanted: the turn was interrupted. */
  "sampling.abandoned": z.object({
    samplingId: z.string(),
    retracted: z.string(),
    usage: usage.nullable(),
    cost: z.number().nullable().optional(),
  }),
  "call.decided": z.object({
    callId: z.string(),
    /** The tool that is meant, where the model called it through another (`use_tool`). */
    tool: z.string().optional(),
    plan: callPlan,
    decision,
    rule: ruleRef,
    reason: z.string(),
    forModel: z.string(),
    scope,
    inputDigest: z.string(),
    /** Words that its result brings along. */
    note: z.string().optional(),
    /** Where the values of its input that decide come from. */
    origins: z.array(valueOrigin).optional(),
  }),
  "approval.requested": z.object({ approval }),
  "approval.answered": z.object({
    approvalId: z.string(),
    callId: z.string(),
    also: z.array(z.string()).optional(),
    answer: z.enum(["allow", "deny"]),
    by: z.string(),
    note: z.string(),
    /** Set where more than this call was allowed. */
    grant: grant.optional(),
  }),
  /** An answer that doesn't count, and why. */
  "approval.refused": z.object({ approvalId: z.string(), by: z.string(), code: refusedAnswer, reason: z.string() }),
  /** `why`: nobody answered in time, or what would run is no longer what was shown, and it is asked again. Absent in older logs. */
  "approval.expired": z.object({ approvalId: z.string(), callId: z.string(), why: z.enum(["deadline", "asked_again"]).optional() }),
  "question.asked": z.object({ question }),
  "question.answered": z.object({ questionId: z.string(), callId: z.string(), answer, by: z.string() }),
  "question.expired": z.object({ questionId: z.string(), callId: z.string() }),
  "call.intended": z.object({
    callId: z.string(),
    attempt: z.number().int(),
    replay: replayClass,
    key: z.string(),
    inputDigest: z.string(),
    scope,
    prepared: json,
    /** The workspace before it, where it may change that in other ways than by an edit: of the first such call of a commit. */
    checkpoint: checkpoint.optional(),
  }),
  /** A new driver found an intent without a settlement, and what became of it. */
  "call.recovered": z.object({
    callId: z.string(),
    /** `unanswered`: it may have happened, and its target is asked again with the same key. */
    finding: z.enum(["not_happened", "happened", "running", "unanswered", "unknown"]),
    attempt: z.number().int(),
  }),
  "call.settled": z.object({ callId: z.string(), outcome: callOutcome, result: toolResult, judgement: judgement.nullable() }),
  "run.recorded": z.object({ callId: z.string(), run: recordedRun }),
  "task.ended": z.object({
    taskId: z.string(),
    exitCode: z.number().int().nullable(),
    signal: z.string().nullable(),
    why: z.enum(["exited", "ended", "lost"]),
  }),
  "baseline.started": z.object({ attempt: z.number().int() }),
  /** `blobs`: what the store must keep for the manifest. */
  "baseline.recorded": z.object({
    subject: z.string(),
    manifest: z.string().nullable(),
    blobs: z.array(z.string()),
    evidence: z.array(evidence),
    inputs: json,
    /** The event that has the same tree, where checks came after the session's first effect. */
    tree: z.number().int().optional(),
  }),
  "snapshot.recorded": z.object({ turnId: z.string(), subject: z.string(), manifest: z.string().nullable(), blobs: z.array(z.string()) }),
  "checks.started": z.object({ round: z.number().int(), attempt: z.number().int() }),
  "check.completed": z.object({ evidence }),
  /** A later check of the round changed files: these are run once more. */
  "checks.reopened": z.object({ checkIds: z.array(z.string()) }),
  "round.judged": z.object({ round: z.number().int(), verdict: z.enum(["pass", "weak", "fail", "none"]), report }),
  "compaction.started": z.object({ trigger: compactionTrigger, tokens: z.number().int() }),
  /** From event `start` (this one) on there is a new window. It begins with the entries, as one notice. */
  "window.compacted": z.object({
    start: z.number().int(),
    trigger: compactionTrigger,
    id: z.string(),
    trust: trustLabel,
    entries: z.array(compactedEntry),
    /** What the model has not answered yet, as it was: it follows the notice. */
    tail: z.array(item).optional(),
    /** Answers of the model before this window. */
    answers: z.number().int(),
    report: compactionReport,
    judging: judging.optional(),
  }),
  /** The old window stays. `isCancelled`: a person did not want it any more; it may well work later. */
  "compaction.failed": z.object({ reason: z.string(), isCancelled: z.boolean().optional() }),
  "hook.ran": hookRun,
  /** The place where commands run was made for this session. `expiresAt`: when it ends by itself, ms; null: never. */
  "sandbox.opened": z.object({ sandboxId: z.string(), expiresAt: z.number().nullable() }),
  /** It was found in order after a pause, or its end was moved away. */
  "sandbox.checked": z.object({ sandboxId: z.string(), expiresAt: z.number().nullable() }),
  /** Its end can't be moved away any more. */
  "sandbox.expiring": z.object({ sandboxId: z.string(), expiresAt: z.number() }),
  /** What it holds was kept outside of it; `subject` is the digest of the workspace's files. */
  "sandbox.saved": z.object({ sandboxId: z.string(), snapshot: z.string(), subject: z.string() }),
  "sandbox.lost": z.object({ sandboxId: z.string(), why: z.string() }),
  /** Another was made in its place, from what was saved last. `isSame`: its files are those. `changed` was told to the model. */
  "sandbox.reconstituted": z.object({
    sandboxId: z.string(),
    expiresAt: z.number().nullable(),
    snapshot: z.string().nullable(),
    isSame: z.boolean(),
    changed: z.array(z.string()),
  }),
  /** The model was told how to go on after calls that fell short: the rung of the recovery ladder that it has come to. */
  "recovery.advised": z.object({ rung: z.enum(recoveryRungs), callId: z.string(), falls: z.number().int().positive() }),
  "limit.reached": z.object({ limit: z.string(), value: z.number(), max: z.number() }),
  /** Four fifths of a limit are used; the model is told by a notice. */
  "limit.warned": z.object({ limit: z.string(), value: z.number(), max: z.number() }),
  /** The final answer was held to the schema; the item is what was judged, null where nothing was said. */
  "output.judged": z.object({ step: z.number().int(), itemId: z.string().nullable(), problems: z.array(z.string()) }),
  "interrupt.received": z.object({ by: z.string() }),
  /** A driver took the session over while a turn was open. Time before it does not count as active. */
  "driver.attached": z.object({ owner: z.string() }),
  /** The turn can't go on; what is in flight is ended first, then it ends with this outcome. */
  "turn.stopping": z.object({
    outcome: z.enum(["failed", "blocked", "interrupted", "exhausted"]),
    reason: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  }),
  "turn.ended": z.object({
    turnId: z.string(),
    outcome,
    isWeak: z.boolean(),
    report,
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    /** Of a verified turn: the digest of all rules of the policy that were in force at its end, hex SHA-256. */
    policy: z.string().optional(),
    /** The workspace after the turn's last call that may have changed it in other ways than by an edit. */
    checkpoint: checkpoint.optional(),
  }),
  "tip.signed": z.object({ seq: z.number().int(), hash: z.string(), keyId: z.string(), signature: z.string() }),
  /**
   * What calls changed was taken back by a person, as far as `changes` say (or the list in the blob `list`). Without them,
   * which is so in older logs: the edits of these calls.
   */
  "edits.undone": z.object({
    callIds: z.array(z.string()),
    /** All that the session had changed from this event on, as far as it was not undone before. */
    since: z.number().int().positive().optional(),
    /** The files are as they were before that event, also where an earlier undo had gone further back. */
    isPoint: z.boolean().optional(),
    changes: z.array(treeChange).optional(),
    list: z.string().optional(),
    /** What the store must keep for it. */
    blobs: z.array(z.string()).optional(),
  }),
  /** An item's content goes for good. Nothing here says what it was. */
  "item.erased": z.object({
    itemId: z.string(),
    /** The erased item's call, where it was a tool call. */
    callId: z.string().nullable(),
    /** What stays readable of the events whose payloads are erased: readers put it in their place. */
    kept: z.array(keptEvent),
    /** Characters by which the window shrinks. */
    windowChars: z.number().int(),
    /** The session's new title, where the old one came from the item. */
    title: z.string().nullable(),
    /** Positions of the recorded runs that the call made, oldest first. */
    runs: z.array(z.number().int()),
    /** Positions, among the sorted paths of files seen, of those that only the erased events had shown. */
    seen: z.array(z.number().int()),
    /** Blobs to which nothing else in the session refers. */
    blobs: z.array(z.string()),
    /** The call whose whole output goes, where its result is erased. */
    outputOf: z.string().nullable(),
  }),
  /** The store holds nothing of the item any more. */
  "erasure.finished": z.object({ itemId: z.string() }),
} as const;

export type EventType = keyof typeof eventPayloads;
export type EventPayload<T extends EventType> = z.infer<(typeof eventPayloads)[T]>;
export type SessionEvent = { [T in EventType]: { readonly type: T; readonly payload: EventPayload<T> } }[EventType];

/** The header that the hash chain covers; see `chain.ts` in the runtime for how it is hashed. */
export const eventHeader = z.object({
  session: z.string(),
  seq: z.number().int(),
  type: z.string(),
  version: z.number().int(),
  at: z.number(),
  prev: z.string(),
  digest: z.string(),
});
export type EventHeader = z.infer<typeof eventHeader>;

/** An event as stored. `payload` is the exact JSON text that `digest` covers, null once it was erased. */
export type StoredEvent = EventHeader & { readonly hash: string; readonly salt: string | null; readonly payload: string | null };

/** A streamed piece of an item: never in the log, superseded by the item. */
export type Delta =
  | { readonly type: "text.delta"; readonly itemId: string; readonly offset: number; readonly text: string }
  | { readonly type: "reasoning.delta"; readonly itemId: string; readonly offset: number; readonly text: string }
  | { readonly type: "call.delta"; readonly itemId: string; readonly offset: number; readonly text: string }
  | { readonly type: "output.delta"; readonly callId: string; readonly offset: number; readonly text: string }
  | { readonly type: "item.retracted"; readonly itemId: string };
