import type { Usage } from "@holdfast/protocol";

/** US dollars per million tokens. */
export interface Prices {
  readonly input: number;
  /** Input that was read from the provider's cache. */
  readonly cachedInput: number;
  /** Input that was written into it; as `input` where it is left out. */
  readonly cacheWrite?: number;
  readonly output: number;
}

/** What is known of a model. Counts are tokens. */
export interface ModelFacts {
  /** Most tokens of one request and its answer together. */
  readonly contextWindow: number | null;
  /** Most tokens of one answer. */
  readonly maxOutput: number | null;
  readonly prices: Prices | null;
  /** All of a request with more input than `above` is billed at these. */
  readonly longPrompt: { readonly above: number; readonly prices: Prices } | null;
}

export const noFacts: ModelFacts = { contextWindow: null, maxOutput: null, prices: null, longPrompt: null };

/** What a person's configuration says of a model; it wins over everything else. */
export interface ModelOverride {
  readonly contextWindow?: number;
  readonly maxOutput?: number;
  readonly priceInput?: number;
  readonly priceCachedInput?: number;
  readonly priceOutput?: number;
}

/**
 * A price from the configuration replaces the table's for short and long prompts alike; what it leaves out stays. One that
 * names no price of cached input has it billed as input: too much rather than too little. Without prices of both input and
 * output, from either, there is none.
 */
export function withOverride(facts: ModelFacts, override: ModelOverride | undefined): ModelFacts {
  if (override === undefined) return facts;
  const { contextWindow = facts.contextWindow, maxOutput = facts.maxOutput, priceInput, priceCachedInput, priceOutput } = override;
  if (priceInput === undefined && priceCachedInput === undefined && priceOutput === undefined)
    return { ...facts, contextWindow, maxOutput };
  const input = priceInput ?? facts.prices?.input;
  const output = priceOutput ?? facts.prices?.output;
  if (input === undefined || output === undefined) return { contextWindow, maxOutput, prices: null, longPrompt: null };
  const known = priceInput === undefined ? facts.prices : null;
  const prices: Prices = {
    input,
    cachedInput: priceCachedInput ?? known?.cachedInput ?? input,
    ...(known?.cacheWrite === undefined ? {} : { cacheWrite: known.cacheWrite }),
    output,
  };
  return { contextWindow, maxOutput, prices, longPrompt: null };
}

/**
 * US dollars of one sampling; null where there is no price. Where the provider bills what it writes into its cache and
 * doesn't say how much that was, all input it did not read from there counts as written: never too little.
 */
export function costOf(facts: ModelFacts, usage: Usage): number | null {
  const { prices, longPrompt } = facts;
  if (prices === null) return null;
  const {
    input,
    cachedInput,
    cacheWrite = input,
    output,
  } = longPrompt !== null && usage.inputTokens > longPrompt.above ? longPrompt.prices : prices;
  const fresh = Math.max(0, usage.inputTokens - usage.cachedInputTokens);
  const written = cacheWrite === input ? 0 : Math.min(usage.cacheWriteTokens ?? fresh, fresh);
  const millionths = (fresh - written) * input + written * cacheWrite + usage.cachedInputTokens * cachedInput + usage.outputTokens * output;
  return millionths / 1_000_000;
}
