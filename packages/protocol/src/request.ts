import { z } from "zod";
import { json } from "./json.ts";

/** A tool as the request shows it. `schema`: of the input object, keys in a fixed order, as the request must not change between steps. */
export const toolSpec = z.object({ name: z.string(), description: z.string(), schema: json });
export type ToolSpec = Readonly<z.infer<typeof toolSpec>>;

/** The body of a request: how it was written, and its digest. */
export const sentBody = z.object({
  wire: z.string(),
  /** The most tokens of one answer that the wire was set to name, where it must name a number. */
  mostOutput: z.number().int().optional(),
  /** Where its fields stand; bodies of another layout can't be compared byte for byte. */
  layout: z.number().int().optional(),
  /** The provider may keep it, and a later one may follow on its answer. `isWhole`: this one follows on none, though it could. */
  isStored: z.boolean().optional(),
  /** Tools are found and loaded in the provider's own way. */
  loadsTools: z.boolean().optional(),
  isWhole: z.boolean().optional(),
  digest: z.string(),
});
export type SentBody = Readonly<z.infer<typeof sentBody>>;

/**
 * What a sampling was asked, as digests (hex, the first half of a SHA-256). `holdfast replay` builds the request again from
 * the log and compares. Those of items and body are keyed with the salts of the events that brought the items: once one is
 * erased, no digest tells what it was.
 */
export const requestRecord = z.object({
  instructions: z.string(),
  tools: z.string(),
  items: z.string(),
  maxOutputTokens: z.number().nullable(),
  body: sentBody.optional(),
});
export type RequestRecord = Readonly<z.infer<typeof requestRecord>>;
