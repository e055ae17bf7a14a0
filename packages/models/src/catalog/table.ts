import type { ModelFacts, Prices } from "./facts.ts";

/**
 * Windows and list prices of well-known models: the makers' standard rates, US dollars per million tokens, as of the date
 * below. Sources: developers.openai.com/api/docs/pricing and /models, platform.claude.com/docs (models, pricing),
 * ai.google.dev/gemini-api/docs/pricing, and the pricing pages of DeepSeek, Mistral and Z.ai; compared with the open
 * catalogue models.dev. What two sources did not agree on is left out. An introductory price that ends within weeks is not
 * counted: the price that stands after it is.
 */
export const factsDate = "2026-11-29";

type Row = readonly [name: string, ModelFacts];

const k = 1_000;
const mega = 1_000_000;
/** OpenAI's window of 1.05M tokens and Google's of 2^20, as they name them. */
const wide = 1_050_000;
const google20 = 1_048_576;

function row(
  name: string,
  contextWindow: number,
  maxOutput: number | null,
  prices: Prices | null,
  longPrompt: ModelFacts["longPrompt"] = null,
): Row {
  return [name, { contextWindow, maxOutput, prices, longPrompt }];
}

function per(input: number, cachedInput: number, output: number, cacheWrite?: number): Prices {
  return { input, cachedInput, output, ...(cacheWrite === undefined ? {} : { cacheWrite }) };
}

/** OpenAI's long prompts, above 272k tokens: twice the input, one and a half times the output. */
function openaiLong({ input, cachedInput, output, cacheWrite }: Prices): ModelFacts["longPrompt"] {
  const write = cacheWrite === undefined ? undefined : 2 * cacheWrite;
  return { above: 272 * k, prices: per(2 * input, 2 * cachedInput, 1.5 * output, write) };
}
function openaiWide(name: string, prices: Prices): Row {
  return row(name, wide, 128 * k, prices, openaiLong(prices));
}

const openai: readonly Row[] = [
  openaiWide("gpt-6.2-astra", per(8, 0.4, 40, 10)),
  openaiWide("gpt-6.2-sol", per(2, 0.1, 10, 2.5)),
  openaiWide("gpt-6.1-sol", per(2, 0.1, 10, 2.5)),
  openaiWide("gpt-6.1-terra", per(1, 0.05, 5, 1.25)),
  openaiWide("gpt-6-astra", per(10, 1, 50, 12.5)),
  openaiWide("gpt-6-sol", per(2, 0.2, 10, 2.5)),
  openaiWide("gpt-6-luna", per(0.1, 0.01, 0.5, 0.125)),
  openaiWide("gpt-5.6-sol", per(4, 0.4, 20, 5)),
  openaiWide("gpt-5.6-terra", per(2, 0.2, 12, 2.5)),
  openaiWide("gpt-5.6-luna", per(0.2, 0.02, 1.2, 0.25)),
  openaiWide("gpt-5.5", per(5, 0.5, 30)),
  openaiWide("gpt-5.4", per(2.5, 0.25, 15)),
  row("gpt-5.4-mini", 400 * k, 128 * k, per(0.75, 0.075, 4.5)),
  row("gpt-5.4-nano", 400 * k, 128 * k, per(0.2, 0.02, 1.25)),
  row("gpt-5.3-codex", 400 * k, 128 * k, per(1.75, 0.175, 14)),
  row("gpt-5.2", 400 * k, 128 * k, per(1.75, 0.175, 14)),
  row("gpt-5.1", 400 * k, 128 * k, per(1.25, 0.125, 10)),
  row("gpt-5", 400 * k, 128 * k, per(1.25, 0.125, 10)),
  row("gpt-5-mini", 400 * k, 128 * k, per(0.25, 0.025, 2)),
  row("gpt-5-nano", 400 * k, 128 * k, per(0.05, 0.005, 0.4)),
  row("gpt-4.1", 1_047_576, 32_768, per(2, 0.5, 8)),
  row("gpt-4.1-mini", 1_047_576, 32_768, per(0.4, 0.1, 1.6)),
  row("gpt-4.1-nano", 1_047_576, 32_768, per(0.1, 0.025, 0.4)),
  row("gpt-4o", 128 * k, 16_384, per(2.5, 1.25, 10)),
  row("gpt-4o-mini", 128 * k, 16_384, per(0.15, 0.075, 0.6)),
  row("o3", 200 * k, 100 * k, per(2, 0.5, 8)),
  row("o4-mini", 200 * k, 100 * k, per(1.1, 0.275, 4.4)),
];

/** Cache writes are those that live for five minutes. */
const anthropic: readonly Row[] = [
  row("claude-fable-5-2", mega, 128 * k, per(8, 0.2, 40, 10)),
  row("claude-fable-5-1", mega, 128 * k, per(10, 0.25, 50, 12.5)),
  row("claude-fable-5", mega, 128 * k, per(10, 1, 50, 12.5)),
  row("claude-opus-5-5", mega, 128 * k, per(4, 0.2, 20, 5)),
  row("claude-opus-5", mega, 128 * k, per(5, 0.5, 25, 6.25)),
  row("claude-opus-4-8", mega, 128 * k, per(5, 0.5, 25, 6.25)),
  row("claude-opus-4-7", mega, 128 * k, per(5, 0.5, 25, 6.25)),
  row("claude-opus-4-6", mega, 128 * k, per(5, 0.5, 25, 6.25)),
  row("claude-opus-4-5", 200 * k, 64 * k, per(5, 0.5, 25, 6.25)),
  row("claude-sonnet-5-5", mega, 128 * k, per(2, 0.1, 10, 2.5)),
  row("claude-sonnet-5", mega, 128 * k, per(2, 0.2, 10, 2.5)),
  row("claude-sonnet-4-6", mega, 128 * k, per(3, 0.3, 15, 3.75)),
  row("claude-sonnet-4-5", 200 * k, 64 * k, per(3, 0.3, 15, 3.75)),
  row("claude-haiku-5-5", mega, 128 * k, per(0.1, 0.01, 0.5, 0.125), { above: 100 * k, prices: per(0.5, 0.05, 2.5, 0.625) }),
  row("claude-haiku-4-5", 200 * k, 64 * k, per(1, 0.1, 5, 1.25)),
];

const google: readonly Row[] = [
  row("gemini-4-neon", google20, 65_536, per(3, 0.15, 15)),
  // $2 and $10 until 2026-11-30.
  row("gemini-4-carbon", google20, 32_768, per(4, 0.2, 20)),
  row("gemini-4-argon", google20, 32_768, per(4, 0.2, 20)),
  row("gemini-4-hydrogen", google20, 65_536, per(1.5, 0.075, 7.5)),
  // $0.75 and $3.75 until 2026-12-31.
  row("gemini-3.8-flash", google20, 65_536, per(1.5, 0.15, 7.5)),
  row("gemini-3.7-flash", google20, 65_536, per(1.5, 0.15, 7.5)),
  row("gemini-3.6-flash", google20, 65_536, per(1.5, 0.15, 7.5)),
  row("gemini-3.5-flash", google20, 65_536, per(1.5, 0.15, 9)),
  row("gemini-3.5-flash-lite", google20, 65_536, per(0.3, 0.03, 2.5)),
  row("gemini-3.1-pro-preview", google20, 65_536, per(2, 0.2, 12), { above: 200 * k, prices: per(4, 0.4, 18) }),
  row("gemini-3.1-flash-lite", google20, 65_536, per(0.25, 0.025, 1.5)),
  row("gemini-2.5-pro", google20, 65_536, per(1.25, 0.125, 10), { above: 200 * k, prices: per(2.5, 0.25, 15) }),
  row("gemini-2.5-flash", google20, 65_536, per(0.3, 0.03, 2.5)),
  row("gemini-2.5-flash-lite", google20, 65_536, per(0.1, 0.01, 0.4)),
];

const deepseek: readonly Row[] = [
  row("deepseek-v4-pro", mega, 384 * k, per(1.32, 0.044, 3.96)),
  row("deepseek-flash", mega, 384 * k, per(0.3, 0.006, 1.2)),
];
const mistral: readonly Row[] = [
  row("mistral-large-4", google20, 262_144, per(0.7, 0.07, 2.1)),
  row("mistral-large-2512", 262_144, 262_144, per(0.5, 0.05, 1.5)),
];
const zai: readonly Row[] = [row("glm-5.3", mega, 131_072, per(1.4, 0.26, 4.4)), row("glm-5.3-flash", mega, 131_072, per(0.15, 0.03, 0.5))];

/** What OpenRouter charges varies with whom it passes a request to, and stands in its answers: only the windows are told here. */
const openrouter: readonly Row[] = [
  row("deepseek/deepseek-v4-pro", google20, null, null),
  row("moonshotai/kimi-k2.7-code", 262_144, null, null),
  row("moonshotai/kimi-k3", google20, null, null),
  row("openai/gpt-oss-120b", 131_072, null, null),
  row("openai/gpt-oss-20b", 131_072, null, null),
  row("qwen/qwen3.6-27b", 262_144, null, null),
  row("qwen/qwen3.8-27b", 262_144, null, null),
  row("z-ai/glm-5.2", google20, null, null),
  row("z-ai/glm-5.3", google20, null, null),
];

/** Facts by vendor and by the vendor's own name of the model. */
export const table: Readonly<Record<string, ReadonlyMap<string, ModelFacts>>> = {
  openai: new Map(openai),
  anthropic: new Map(anthropic),
  google: new Map(google),
  openrouter: new Map(openrouter),
  deepseek: new Map(deepseek),
  mistral: new Map(mistral),
  zai: new Map(zai),
};
