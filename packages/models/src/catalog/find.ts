import { isLoopback, presets, vendorOf } from "../providers.ts";
import { noFacts, withOverride, type ModelFacts, type ModelOverride } from "./facts.ts";
import { table } from "./table.ts";

/**
 * What follows a name without making it another model: a date or a number of a release (`-2026-09-22`, `-20251001`,
 * `-0813`, `-001`), or `-latest`. Anything else does: `gpt-5.5-pro` is no `gpt-5.5`, and costs six times as much.
 */
const release = /^[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4}|latest)$/;

/** The facts of a vendor's model: of its exact name, else of the longest known name that it is a release of. */
export function factsOf(vendor: string, name: string): ModelFacts | null {
  const rows = Object.hasOwn(table, vendor) ? table[vendor] : undefined;
  const exact = rows?.get(name);
  if (exact !== undefined) return exact;
  const bases = [...(rows?.keys() ?? [])].filter((base) => name.startsWith(base) && release.test(name.slice(base.length)));
  const longest = bases.toSorted((a, b) => b.length - a.length)[0];
  return (longest === undefined ? undefined : rows?.get(longest)) ?? null;
}

export interface FactsQuery {
  /** The provider's name, and the model's at it. */
  readonly provider: string;
  readonly name: string;
  readonly baseUrl: string;
  readonly override?: ModelOverride | undefined;
  /** The window that the provider's configuration sets for all of its models. */
  readonly providerWindow?: number | null;
  /** The window that a local server says it has loaded the model with. */
  readonly loadedWindow?: number | null;
}

export interface ResolvedFacts extends ModelFacts {
  readonly contextWindow: number;
  /** Where the window is known from; `assumed`: it isn't, and a safe one is used. */
  readonly windowFrom: "config" | "server" | "table" | "assumed";
}

/** Every hosted model in the table has at least this window. */
export const hostedWindow = 128_000;
/**
 * The servers that cut what is too long without a word (Ollama) tell the window they have loaded a model with. One that
 * doesn't tell answers with an error, so a window that an agent can work in is assumed rather than the smallest there is.
 */
export const localWindow = 32_768;

const free = { input: 0, cachedInput: 0, output: 0 };

/**
 * What holds for a model: the configuration, then what a local server says, then the table, then a safe window. Nobody
 * bills what the local servers that are known by name compute; another address on this machine may be a proxy to anything.
 */
export function resolveFacts(query: FactsQuery): ResolvedFacts {
  const { provider, name, baseUrl, override, providerWindow, loadedWindow } = query;
  const vendor = vendorOf(provider, baseUrl);
  const isOwn = isLoopback(baseUrl) && Object.hasOwn(presets, provider) && presets[provider]?.isLocal === true;
  const known = isOwn ? { ...noFacts, prices: free } : ((vendor === null ? null : factsOf(vendor, name)) ?? noFacts);
  const facts = withOverride(known, override);
  const configured = override?.contextWindow ?? providerWindow ?? null;
  if (configured !== null) return { ...facts, contextWindow: configured, windowFrom: "config" };
  if (loadedWindow != null) return { ...facts, contextWindow: loadedWindow, windowFrom: "server" };
  if (facts.contextWindow !== null) return { ...facts, contextWindow: facts.contextWindow, windowFrom: "table" };
  return { ...facts, contextWindow: isLoopback(baseUrl) && vendor === null ? localWindow : hostedWindow, windowFrom: "assumed" };
}
