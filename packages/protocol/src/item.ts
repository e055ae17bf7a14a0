import { z } from "zod";
import { contextReason } from "./context.ts";
import { json } from "./json.ts";
import { part } from "./part.ts";
import { toolSpec } from "./request.ts";
import { trustLabel } from "./trust.ts";

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

/** `bytes`: how large it is, for what a window may show of images. */
export const shownImage = z.object({ blob: z.string(), mediaType: z.string(), bytes: z.number().int().optional() });

/** What the model reads of a finished call. `output` names the whole output where `text` is only a part of it. */
export const toolResult = z.object({
  kind: z.literal("tool_result"),
  id: z.string(),
  callId: z.string(),
  status: callStatus,
  text: z.string(),
  trust: trustLabel,
  images: z.array(shownImage).optional(),
  output: z.string().optional(),
  /** Of `search_tools` alone: what `text` shows, for a provider that makes tools callable by their definitions. */
  tools: z.array(toolSpec).optional(),
});
/** Words of the runtime to the model: a failed check, a changed world, a limit that comes near. */
export const notice = z.object({
  kind: z.literal("notice"),
  id: z.string(),
  trust: trustLabel,
  text: z.string(),
  context: contextReason.optional(),
});

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
