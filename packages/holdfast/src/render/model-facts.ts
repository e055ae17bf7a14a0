import type { ResolvedFacts } from "@holdfast/models";
import { count } from "./numbers.ts";

/** What is not known of a model, what is assumed for it and what that means; null where all is known. Not yet sanitized. */
export function describeUnknown(model: string, { contextWindow, windowFrom, prices }: ResolvedFacts): string | null {
  const parts = [
    ...(windowFrom === "assumed" ? [`its context window is not known: ${count(contextWindow)} tokens are assumed`] : []),
    ...(prices === null
      ? ["its price is not known: --max-cost can't hold before a request, and not at all where the provider tells no cost"]
      : []),
  ];
  if (parts.length === 0) return null;
  const keys = [...(windowFrom === "assumed" ? ["context_window"] : []), ...(prices === null ? ["price_input, price_output"] : [])];
  return `${model}: ${parts.join("; ")} (set ${keys.join(", ")} under [model.${JSON.stringify(model)}] in config.toml)`;
}

/** `$2/M in, $0.10/M cached, $10/M out`; what is billed for long prompts is marked. */
export function describePrices({ prices, longPrompt }: Pick<ResolvedFacts, "prices" | "longPrompt">): string {
  if (prices === null) return "unknown";
  if (prices.input === 0 && prices.output === 0) return "free";
  const money = (value: number) => `$${Number(value.toFixed(4))}`;
  const long = longPrompt === null ? "" : ` (more above ${count(longPrompt.above)})`;
  return `${money(prices.input)} / ${money(prices.cachedInput)} / ${money(prices.output)}${long}`;
}
