/** How a model of the Messages API is told to think, and how much it may write. */
export interface Capability {
  /** `adaptive`: by effort alone. `budget`: by a number of tokens. `none`: it can't think. */
  readonly thinking: "adaptive" | "budget" | "none";
  /** Effort levels that `output_config` takes; empty where it takes none. */
  readonly efforts: readonly string[];
  /** Tokens an answer may have. */
  readonly maxOutput: number;
}

/**
 * By the model's family and version, from Anthropic's documentation ("Thinking", "Effort", "Models overview"). Servers of
 * others that speak this protocol know budgets.
 */
export function capabilityOf(model: string): Capability {
  if (!/claude/.test(model)) return { thinking: "budget", efforts: [], maxOutput: 32_000 };
  const version = versionOf(model);
  if (version === null || version >= 4.6) {
    // The 4.6 generation has `max` and no `xhigh`.
    return { thinking: "adaptive", efforts: version === 4.6 ? ["low", "medium", "high", "max"] : allEfforts, maxOutput: 64_000 };
  }
  if (version >= 4.5) return { thinking: "budget", efforts: model.includes("opus") ? ["low", "medium", "high"] : [], maxOutput: 64_000 };
  if (version >= 3.7) return { thinking: "budget", efforts: [], maxOutput: 32_000 };
  return { thinking: "none", efforts: [], maxOutput: version >= 3.5 ? 8_192 : 4_096 };
}

const allEfforts = ["low", "medium", "high", "xhigh", "max"];

/** Tokens to think with, by effort. */
const budgets: Readonly<Record<string, number>> = { low: 4_096, medium: 10_000, high: 24_000, xhigh: 32_000, max: 32_000 };
/** The least the API takes. */
const smallestBudget = 1_024;

/** The request's fields for an effort; none where the session names none: then the model's own default holds. */
export function effortFields(model: string, effort: string | null, maxTokens: number): string[] {
  if (effort === null) return [];
  const { thinking, efforts } = capabilityOf(model);
  const fields: string[] = [];
  // What it thinks would else come back without its text.
  if (thinking === "adaptive" && effort !== "none") fields.push(`"thinking":{"type":"adaptive","display":"summarized"}`);
  const budget = Math.min(budgets[effort] ?? 0, maxTokens - smallestBudget);
  if (thinking === "budget" && budget >= smallestBudget) fields.push(`"thinking":{"type":"enabled","budget_tokens":${budget}}`);
  const level = levelOf(effort, efforts);
  if (level !== null) fields.push(`"output_config":{"effort":${JSON.stringify(level)}}`);
  return fields;
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
