import type { Usage } from "@holdfast/protocol";
import { asCount, asRecord, type Shape } from "./shape.ts";

/**
 * Usage from a provider's object. The two wires name the same counts differently (`input_tokens` of Responses,
 * `prompt_tokens` of Chat Completions). Null where the main counts are missing.
 */
export function readUsage(value: unknown): Usage | null {
  const usage = asRecord(value);
  if (usage === null) return null;
  const input = asCount(usage["input_tokens"]) ?? asCount(usage["prompt_tokens"]);
  const output = asCount(usage["output_tokens"]) ?? asCount(usage["completion_tokens"]);
  if (input === null || output === null) return null;
  const cached = detail(usage, ["input_tokens_details", "prompt_tokens_details"], "cached_tokens");
  const reasoning = detail(usage, ["output_tokens_details", "completion_tokens_details"], "reasoning_tokens");
  return {
    inputTokens: input,
    cachedInputTokens: Math.min(cached, input),
    outputTokens: output,
    reasoningTokens: Math.min(reasoning, output),
  };
}

/**
 * Usage as the Messages API counts it: `input_tokens` leaves out what was read from the cache and what was written to it.
 * Null where the main counts are missing.
 */
export function readMessagesUsage(usage: Shape): Usage | null {
  const input = asCount(usage["input_tokens"]);
  const output = asCount(usage["output_tokens"]);
  if (input === null || output === null) return null;
  const read = asCount(usage["cache_read_input_tokens"]) ?? 0;
  const written = asCount(usage["cache_creation_input_tokens"]) ?? 0;
  const thinking = asCount(asRecord(usage["output_tokens_details"])?.["thinking_tokens"]) ?? 0;
  return {
    inputTokens: input + read + written,
    cachedInputTokens: read,
    outputTokens: output,
    reasoningTokens: Math.min(thinking, output),
    cacheWriteTokens: written,
  };
}

/** Usage as the Gemini API counts it: thoughts and the answer apart. Null where the main count is missing. */
export function readGeminiUsage(usage: Shape): Usage | null {
  const prompt = asCount(usage["promptTokenCount"]);
  if (prompt === null) return null;
  const input = prompt + (asCount(usage["toolUsePromptTokenCount"]) ?? 0);
  const thoughts = asCount(usage["thoughtsTokenCount"]) ?? 0;
  return {
    inputTokens: input,
    cachedInputTokens: Math.min(asCount(usage["cachedContentTokenCount"]) ?? 0, input),
    outputTokens: (asCount(usage["candidatesTokenCount"]) ?? 0) + thoughts,
    reasoningTokens: thoughts,
  };
}

function detail(usage: Shape, groups: readonly string[], name: string): number {
  for (const group of groups) {
    const count = asCount(asRecord(usage[group])?.[name]);
    if (count !== null) return count;
  }
  return 0;
}

/** US dollars, where the provider says what the sampling cost. */
export function readCost(value: unknown): number | null {
  const cost = asRecord(value)?.["cost"];
  return typeof cost === "number" && Number.isFinite(cost) && cost >= 0 ? cost : null;
}

/** Four characters a token: rough, marked as such, and never zero, so that limits still count. */
export function estimateUsage(requestSize: number, answerSize: number): Usage {
  return {
    inputTokens: Math.ceil(requestSize / 4),
    cachedInputTokens: 0,
    outputTokens: Math.ceil(answerSize / 4),
    reasoningTokens: 0,
    estimated: true,
  };
}
