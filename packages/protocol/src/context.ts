import { z } from "zod";
import { trustLabel } from "./trust.ts";

/** What a part of a request is: one line of its budget each. `rules` are the project's, `values` the exact ones. */
export const contextKinds = [
  "instructions",
  "rules",
  "goal",
  "world",
  "notes",
  "values",
  "facts",
  "skills",
  "documents",
  "tools",
  "history",
  "attachments",
] as const;
export const contextKind = z.enum(contextKinds);
export type ContextKind = (typeof contextKinds)[number];

/**
 * Why the runtime put a text before the model: recorded with the notice or the section of the world that brings it, for the
 * ledger. `source`: where its words came from, such as a path. Nothing is sent of this.
 */
export const contextReason = z.object({ kind: contextKind, source: z.string(), reason: z.string() });
export type ContextReason = z.infer<typeof contextReason>;

/** One part of a request, as `holdfast context` tells it. */
export const contextPart = z.object({
  kind: contextKind,
  /** Of the item, the section or the tool. */
  id: z.string(),
  source: z.string(),
  trust: trustLabel,
  reason: z.string(),
  chars: z.number().int(),
  /** Estimated from its text, and scaled so that all parts sum up to what the provider counted, where it did. */
  tokens: z.number().int(),
});
export type ContextPart = z.infer<typeof contextPart>;

/** What was seen and not told, or told in part only, so that the request keeps within its budget. */
export const shedPart = z.object({ kind: contextKind, id: z.string(), tokens: z.number().int(), why: z.string() });
export type ShedPart = z.infer<typeof shedPart>;
