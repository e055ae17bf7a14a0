import { z } from "zod";
import { json } from "./json.ts";
import { trustLabel } from "./trust.ts";

/** Text or an image inside a message. Image bytes live in the blob store; `blob` is their id. */
export const part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), blob: z.string(), mediaType: z.string() }),
]);
export type Part = z.infer<typeof part>;

/** What only one provider understands (encrypted reasoning…). It goes back to that provider and model alone. */
export const opaque = z.object({ provider: z.string(), model: z.string(), payload: json });
export type Opaque = z.infer<typeof opaque>;

export const userMessage = z.object({ kind: z.literal("user_message"), id: z.string(), trust: trustLabel, parts: z.array(part) });
export const assistantMessage = z.object({
  kind: z.literal("assistant_message"),
  id: z.string(),
  text: z.string(),
  opaque: opaque.optional(),
});
export const reasoning = z.object({ kind: z.literal("reasoning"), id: z.string(), text: z.string(), opaque: opaque.optional() });
/** `input` is the JSON text as the model wrote it; it may be invalid. `callId` is ours, never the provider's. */
export const toolCall = z.object({
  kind: z.literal("tool_call"),
  id: z.string(),
  callId: z.string(),
  name: z.string(),
  input: z.string(),
  opaque: opaque.optional(),
});

export const callStatuses = ["completed", "failed", "denied", "interrupted", "in_doubt"] as const;
export const callStatus = z.enum(callStatuses);
export type CallStatus = z.infer<typeof callStatus>;

/** What the model reads of a finished call. `output` names the whole output where `text` is only a part of it. */
export const toolResult = z.object({
  kind: z.literal("tool_result"),
  id: z.string(),
  callId: z.string(),
  status: callStatus,
  text: z.string(),
  trust: trustLabel,
  images: z.array(z.object({ blob: z.string(), mediaType: z.string() })).optional(),
  output: z.string().optional(),
});
/** Words of the runtime to the model: a failed check, a changed world, a limit that comes near. */
export const notice = z.object({ kind: z.literal("notice"), id: z.string(), trust: trustLabel, text: z.string() });

export const item = z.discriminatedUnion("kind", [userMessage, assistantMessage, reasoning, toolCall, toolResult, notice]);
export type Item = z.infer<typeof item>;
export type UserMessage = z.infer<typeof userMessage>;
export type AssistantMessage = z.infer<typeof assistantMessage>;
export type Reasoning = z.infer<typeof reasoning>;
export type ToolCall = z.infer<typeof toolCall>;
export type ToolResult = z.infer<typeof toolResult>;
export type Notice = z.infer<typeof notice>;
/** What a sampling can bring back. */
export type ModelItem = AssistantMessage | Reasoning | ToolCall;

/**
 * Tokens of one sampling. `inputTokens` includes the cached ones, and those written to a cache where the provider counts
 * them (they may cost more). `estimated` where the provider sent no numbers.
 */
export const usage = z.object({
  inputTokens: z.number().int().nonnegative(),
  cachedInputTokens: z.number().int().nonnegative(),
  outputTokens: z.number().int().nonnegative(),
  reasoningTokens: z.number().int().nonnegative(),
  cacheWriteTokens: z.number().int().nonnegative().optional(),
  estimated: z.boolean().optional(),
});
export type Usage = z.infer<typeof usage>;
export const noUsage: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  const written = (a.cacheWriteTokens ?? 0) + (b.cacheWriteTokens ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    ...(written > 0 ? { cacheWriteTokens: written } : {}),
    ...(a.estimated || b.estimated ? { estimated: true } : {}),
  };
}
