import { z } from "zod";
import { grantFor } from "./approval.ts";
import { part } from "./part.ts";
import { answer } from "./question.ts";

/** What a client asks of a session, through its inbox. Text input waits for the next sampling; the rest acts at once. */
export const op = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("input.send"),
    parts: z.array(part).min(1),
    /** `project` where the words come from a file of the project, and the person only chose it. */
    trust: z.enum(["user", "project"]).optional(),
  }),
  z.object({ type: z.literal("interrupt"), by: z.string() }),
  z.object({
    type: z.literal("approval.answer"),
    approvalId: z.string(),
    answer: z.enum(["allow", "deny"]),
    by: z.string(),
    note: z.string().default(""),
    /** Where given, the answer counts only for exactly this approval digest. */
    digest: z.string().optional(),
    /** With `allow`: take this offer of the approval, too. */
    grant: z.object({ for: grantFor, offer: z.string() }).optional(),
  }),
  /** Shorten the conversation at the next point between two steps. */
  z.object({ type: z.literal("compaction.request"), by: z.string() }),
  z.object({ type: z.literal("question.answer"), questionId: z.string(), answer, by: z.string() }),
]);
export type Op = z.infer<typeof op>;
