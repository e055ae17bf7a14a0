/** How a model of the Messages API is told to think, and how much it may write. */
export interface Capability {
  /** `always`: by effort alone, told to or not. `adaptive`: by effort, once it is told to. `budget`: by a number of tokens. */
  readonly thinking: "always" | "adaptive" | "budget" | "none";
  /** It takes its thoughts back only behind what they followed when it had them. */
  readonly bindsThoughts: boolean;
  /** Effort levels that `output_config` takes; empty where it takes none. */
  readonly efforts: readonly string[];
  /** Tokens an answer may have. */
  readonly maxOutput: number;
}

/**
 * By the model's family and version, from Anthropic's documentation ("Thinking", "Effort", "Preserved thinking"). Servers of
 * others that speak this protocol know budgets.
 */
export function capabilityOf(model: string): Capability {
  const budget = { thinking: "budget", bindsThoughts: false, efforts: [], maxOutput: 32_000 } as const;
  if (!/claude/.test(model)) return budget;
  const version = versionOf(model) ?? Infinity;
  if (version >= 5) return { thinking: "always", bindsThoughts: version > 5, efforts: allEfforts, maxOutput: 64_000 };
  // The 4.6 generation has `max` and no `xhigh`.
  const efforts = version === 4.6 ? ["low", "medium", "high", "max"] : allEfforts;
  if (version >= 4.6) return { thinking: "adaptive", bindsThoughts: false, efforts, maxOutput: 64_000 };
  if (version >= 4.5) return { ...budget, efforts: model.includes("opus") ? ["low", "medium", "high"] : [], maxOutput: 64_000 };
  if (version >= 3.7) return budget;
  return { ...budget, thinking: "none", maxOutput: version >= 3.5 ? 8_192 : 4_096 };
}

const allEfforts = ["low", "medium", "high", "xhigh", "max"];

/** Tokens to think with, by effort. */
const budgets: Readonly<Record<string, number>> = { low: 4_096, medium: 10_000, high: 24_000, xhigh: 32_000, max: 32_000 };
/** The least the API takes. */
const smallestBudget = 1_024;

/**
 * The request's fields for an effort. Where the session names none the model's own default holds: nothing is said, but to
 * models that think anyway, which would send their thoughts without the text.
 */
export function effortFields(model: string, effort: string | null, maxTokens: number): string[] {
  const { thinking, bindsThoughts, efforts } = capabilityOf(model);
  const fields: string[] = [];
  if (thinking === "always" || (thinking === "adaptive" && effort !== null && effort !== "none")) {
    // Thoughts behind other tools or instructions than they had are left out by the API, instead of failing each request
    // of a session from now on ("Preserved thinking").
    const binding = bindsThoughts ? `,"block_binding":{"prefix_mismatch_behavior":"drop_block"}` : "";
    fields.push(`"thinking":{"type":"adaptive","display":"summarized"${binding}}`);
  }
  if (effort === null) return fields;
  const budget = Math.min(budgets[effort] ?? 0, maxTokens - smallestBudget);
  if (thinking === "budget" && budget >= smallestBudget) fields.push(`"thinking":{"type":"enabled","budget_tokens":${budget}}`);
  const level = levelOf(effort, efforts);
  if (level !== null) fields.push(`"output_config":{"effort":${JSON.stringify(level)}}`);
  return fields;
}

/** What the API must be told to take the fields above, as values of its header for features. */
export function betasOf(model: string): string | null {
  return capabilityOf(model).bindsThoughts ? "thinking-binding-controls-2026-08-01" : null;
}

/** The nearest level the model has: `none` and `minimal` are its lowest, what is above its highest is that. */
function levelOf(effort: string, efforts: readonly string[]): string | null {
  if (efforts.length === 0 || efforts.includes(effort)) return efforts.length === 0 ? null : effort;
  return effort === "none" || effort === "minimal" ? (efforts[0] ?? null) : (efforts.at(-1) ?? null);
}

/** `claude-opus-4-6`, `claude-sonnet-4-20250514`, `anthropic/claude-opus-4.6`, `claude-3-7-sonnet-latest`: a date is no minor version. */
function versionOf(model: string): number | null {
  const found = /claude-(?:[a-z]+-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  return found === null ? null : Number(`${found[1]}.${found[2] ?? 0}`);
}
