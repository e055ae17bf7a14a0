import { z } from "zod";

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
