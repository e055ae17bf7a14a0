/** Tokens to think with, by effort: what the 2.5 models take. Their Pro can't be kept from thinking, 128 is its least. */
const budgets: Readonly<Record<string, number>> = { none: 0, minimal: 512, low: 2_048, medium: 8_192, high: 24_576 };

/**
 * The `thinkingConfig` for an effort; null where the session names none or the model can't be told. Levels from version 3
 * on, tokens before (Gemini API documentation, "Thinking"). `minimal` isn't every model's, `medium` not the first Pro's.
 */
export function thinkingConfig(model: string, effort: string | null): string | null {
  const version = versionOf(model);
  if (effort === null || version === null || version < 2.5) return null;
  if (version >= 3) {
    const isLow = effort === "none" || effort === "minimal" || effort === "low";
    const isMedium = effort === "medium" && !/gemini-3-pro/.test(model);
    return `{"thinkingLevel":"${isLow ? "low" : isMedium ? "medium" : "high"}","includeThoughts":true}`;
  }
  const tokens = Math.max(budgets[effort] ?? budgets["high"] ?? 0, /pro/.test(model) ? 128 : 0);
  return `{"thinkingBudget":${tokens},"includeThoughts":${tokens > 0}}`;
}

/** `gemini-2.5-flash`, `gemini-3-pro-preview`; a name without a number (`gemini-pro-latest`) is a new one, another family's has none. */
export function versionOf(model: string): number | null {
  const found = /gemini-(?:[a-z-]*?)(\d+(?:\.\d+)?)?(?:-|$)/.exec(model);
  if (found === null) return null;
  return found[1] === undefined ? Infinity : Number(found[1]);
}
