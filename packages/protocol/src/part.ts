import { z } from "zod";

/** Text or an image inside a message. Image bytes live in the blob store; `blob` is their id. */
export const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), blob: z.string(), mediaType: z.string(), bytes: z.number().int().optional() }),
]);
export type Part = z.infer<typeof part>;
