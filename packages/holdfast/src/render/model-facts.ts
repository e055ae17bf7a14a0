import type { ResolvedFacts } from "@holdfast/models";
import { count } from "./numbers.ts";

/** What is not known of a model, what is assumed for it and what that means; null where all is known. Not yet sanitized. */
export function describeUnknown(model: string, { contextWindow, windowFrom, prices }: ResolvedFacts): string | null {
  const isAssumed = windowFrom === "assumed";
  const parts = [
    ...(isAssumed ? [`its context window is unknown, ${count(contextWindow)} tokens are assumed`] : []),
    ...(prices === null ? ["its price is unknown, so no limit of cost can hold"] : []),
  ];
  if (parts.length === 0) return null;
  const keys = [...(isAssumed ? ["context_window"] : []), ...(prices === null ? ["price_input", "price_output"] : [])];
  return `${model}: ${parts.join("; ")} (${keys.join(", ")} under [model.${JSON.stringify(model)}] in config.toml)`;
}

/** `$2 / $0.1 / $10` for input, cached input and output; that long prompts cost more is said. */
export function describePrices({ prices, longPrompt }: Pick<ResolvedFacts, "prices" | "longPrompt">): string {
  if (prices === null) return "unknown";
  if (prices.input === 0 && prices.output === 0) return "free";
  const money = (value: number) => `$${Number(value.toFixed(4))}`;
  const long = longPrompt === null ? "" : ` (more above ${count(longPrompt.above)})`;
  return `${money(prices.input)} / ${money(prices.cachedInput)} / ${money(prices.output)}${long}`;
}
