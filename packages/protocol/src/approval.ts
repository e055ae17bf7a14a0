import { z } from "zod";
import { riskNote, ruleRef, scope } from "./decision.ts";
import { json } from "./json.ts";

/**
 * A rule that a person can allow instead of this one call. `rule` is its data, `text` the same as it is kept in a file: what
 * is shown is what is granted, for the session or for good.
 */
export const offer = z.object({ id: z.string(), rule: json, text: z.string() });
export type Offer = z.infer<typeof offer>;

/** For how long an offered rule holds: `session` until the session ends; `rule`: kept with the user's own rules. */
export const grantFor = z.enum(["session", "rule"]);
export type GrantFor = z.infer<typeof grantFor>;

/** What a call becomes that nobody answered for in time. */
export const deadlineAnswer = z.enum(["allow", "deny"]);
export type DeadlineAnswer = z.infer<typeof deadlineAnswer>;

export const approval = z.object({
  id: z.string(),
  callId: z.string(),
  /** Further calls of the same step that are the same in tool, input and decision: one answer is for all of them. */
  also: z.array(z.string()).optional(),
  /** Digest of the exact input shown and of the workspace files that the command executes. */
  digest: z.string(),
  shown: z.string(),
  reason: z.string(),
  rule: ruleRef,
  scope,
  risk: riskNote.optional(),
  deadline: z.number().nullable(),
  /** `deny` where nothing is said. */
  atDeadline: deadlineAnswer.optional(),
  /** The narrowest first. */
  offers: z.array(offer).optional(),
});
export type Approval = z.infer<typeof approval>;

/**
 * An offer that was taken. `files`: workspace files that the call executes, with their content's digest, null for one that
 * would be executed and isn't there: it holds while they stay so.
 */
export const grant = z.object({
  for: grantFor,
  offer,
  files: z.array(z.tuple([z.string(), z.string().nullable()])),
});
export type Grant = z.infer<typeof grant>;

/** Why an answer was not taken; the codes are those of errors. */
export const refusedAnswer = z.enum([
  "approval_not_found",
  "approval_elsewhere",
  "approval_closed",
  "approval_expired",
  "approval_changed",
  "approval_not_offered",
]);
export type RefusedAnswer = z.infer<typeof refusedAnswer>;
