import type { Embedder, ToolSpec } from "@holdfast/runtime";
import { rankTools } from "./rank.ts";
import type { SearchableTool, ToolIndex } from "./tool-index.ts";
import { indexTools } from "./tool-index.ts";

/** What closeness of meaning (-1 to 1) adds, beside 1 for the best by words. */
const meaningWeight = 1;
/** Texts of one request: a provider takes only so many. */
const embeddedAtOnce = 64;

/** Ranks the specs of a session's tools. What was made of them is kept for as long as they are the same. */
export interface Ranking {
  rank(query: string, specs: readonly ToolSpec[], limit: number, signal: AbortSignal): Promise<ToolSpec[]>;
}

interface Indexed {
  readonly specs: readonly ToolSpec[];
  readonly index: ToolIndex;
  vectors: readonly Float32Array[] | null;
}

/** An embedder also finds tools that share no word with the query. Where it fails, words alone decide. */
export function createRanking(embedder?: Embedder): Ranking {
  let kept: Indexed | undefined;
  const indexedOf = (specs: readonly ToolSpec[]): Indexed => {
    const isSame = kept?.specs.length === specs.length && specs.every((spec, number) => spec === kept?.specs[number]);
    if (kept === undefined || !isSame) kept = { specs, index: indexTools(specs.map(searchable)), vectors: null };
    return kept;
  };
  return {
    async rank(query, specs, limit, signal) {
      const indexed = indexedOf(specs);
      const ranked = rankTools(indexed.index, query, embedder === undefined ? limit : specs.length);
      const byName = new Map(specs.map((spec, number) => [spec.name, number]));
      const numbers = ranked.map(({ tool }) => byName.get(tool.name)!);
      const close = embedder === undefined ? null : await closeness(embedder, query, indexed, signal);
      if (close === null) return numbers.slice(0, limit).map((number) => specs[number]!);
      const scores = close.map((one) => meaningWeight * one);
      const best = ranked.find(({ score }) => Number.isFinite(score))?.score ?? 1;
      ranked.forEach(({ score }, place) => (scores[numbers[place]!]! += score / best));
      const order = specs.map((_, number) => number).toSorted((a, b) => scores[b]! - scores[a]! || a - b);
      return order.slice(0, limit).map((number) => specs[number]!);
    },
  };
}

async function closeness(embedder: Embedder, query: string, indexed: Indexed, signal: AbortSignal): Promise<number[] | null> {
  try {
    indexed.vectors ??= await vectorsOf(embedder, indexed.specs, signal);
    const [asked] = await embedder.embed([query], signal);
    return asked === undefined ? null : indexed.vectors.map((vector) => vector.reduce((sum, part, at) => sum + part * asked[at]!, 0));
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  }
}

async function vectorsOf(embedder: Embedder, specs: readonly ToolSpec[], signal: AbortSignal): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let at = 0; at < specs.length; at += embeddedAtOnce) {
    const texts = specs.slice(at, at + embeddedAtOnce).map(({ name, description }) => `${name}: ${description}`);
    vectors.push(...(await embedder.embed(texts, signal)));
  }
  return vectors;
}

/** The tool of an MCP server carries its server's name: `mcp__server__tool`. */
export function searchable({ name, description, schema }: ToolSpec): SearchableTool {
  return { name, server: /^mcp__(.+?)__/.exec(name)?.[1] ?? "", description, schema };
}
