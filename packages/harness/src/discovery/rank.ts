import type { Concept } from "./query.ts";
import { conceptsOf, longestQuery, partsOf } from "./query.ts";
import { countBits, numbersIn, shapesIn } from "./shapes.ts";
import type { Field, SearchableTool, ToolIndex } from "./tool-index.ts";
import { documentOf, fields, sharesOf } from "./tool-index.ts";
import type { Wishes } from "./wishes.ts";
import { inTurn, mostInTurn, wishesOf, withParts } from "./wishes.ts";

/** What the share of a tool's name that was asked for adds to its score. */
const nameCover = 0.6;
/** What the best tools of a server add to the score of each of its tools, and how many of them count. */
const serverPull = 0.05;
const serverBest = 3;
/** For each kind of value in the query that a tool takes; for each that it needs and the query doesn't hold. */
const shapeTaken = 0.15;
const shapeLacking = 0.2;
/** What a tool loses that needs more numbers than the query holds, and what the share of its parameters' words adds that are asked for. */
const numbersLacking = 0.2;
const parameterCover = 0.2;
/** What the share of a tool's name and description that was asked for adds: of many alike, the plain one. Short ones are smoothed. */
const textCover = 0.2;
const textSmoothing = 20;

/** Parts of a query that are ranked each; what follows counts for the whole alone. */
const mostParts = 20;

export interface Ranked {
  readonly tool: SearchableTool;
  readonly score: number;
}

/**
 * Tools that fit a query, best first, at most `limit`. A tool whose very name is asked for comes first; equal ones stay in
 * the order of the index. Deterministic; reads nothing but its arguments.
 */
export function rankTools(index: ToolIndex, query: string, limit: number): Ranked[] {
  const { scores, wishes } = scoreAll(index, query.slice(0, longestQuery));
  const found = best(scores, Math.max(limit, mostInTurn));
  const inOrder = wishes === null ? found.map((tool) => ({ tool, score: scores[tool]! })) : inTurn(wishes, scores, found);
  const exact = index.tools.findIndex(({ name }) => name === query.trim());
  const first = exact < 0 ? [] : [{ tool: exact, score: Number.POSITIVE_INFINITY }];
  return [...first, ...inOrder.filter(({ tool }) => tool !== exact)]
    .slice(0, limit)
    .map(({ tool, score }) => ({ tool: index.tools[tool]!, score }));
}

function scoreAll(index: ToolIndex, query: string): { readonly scores: Float64Array; readonly wishes: Wishes | null } {
  const parts = partsOf(query);
  const whole = new Map<string, number>();
  for (const part of parts) for (const [word, weight] of part) whole.set(word, (whole.get(word) ?? 0) + weight);
  const concepts = conceptsOf(whole, index);
  const forWhole = scorePart(index, concepts);
  const forParts = parts.length > 1 ? parts.slice(0, mostParts).map((part) => scorePart(index, conceptsOf(part, index))) : [];
  const wishes = wishesOf(forWhole, forParts);
  const scores = wishes === null ? forWhole : withParts(wishes);
  const held = shapesIn(query);
  const numbers = numbersIn(query);
  const asked = askedBy(index, concepts);
  const covered = coveredBy(index, asked, "isInParameters");
  const said = coveredBy(index, asked, "isInText");
  for (let tool = 0; tool < scores.length; tool += 1) {
    if (scores[tool] === 0) continue;
    const taken = countBits(held & index.takes[tool]!);
    const lacking = countBits(index.needs[tool]! & ~held);
    const shapes = (1 + shapeTaken * taken) * (1 - shapeLacking) ** lacking;
    const share = covered[tool]! / Math.max(Number.EPSILON, index.parameterRarity[tool]!);
    const plain = Math.sqrt(said[tool]! / (index.textRarity[tool]! + textSmoothing));
    const factor = shapes * (1 + textCover * plain) * (1 + parameterCover * share - (index.numbers[tool]! > numbers ? numbersLacking : 0));
    scores[tool] = scores[tool]! * factor;
    if (wishes !== null) wishes.factors[tool] = factor;
  }
  return { scores, wishes };
}

/** Each concept counts once a tool, by the word that meets it best. */
function scorePart(index: ToolIndex, concepts: readonly Concept[]): Float64Array {
  const size = index.tools.length;
  const scores = new Float64Array(size);
  const met = new Float32Array(size);
  for (const { weight, words } of concepts) {
    const touched: number[] = [];
    for (const [word, share] of words) {
      const posting = index.postings.get(word);
      if (posting === undefined) continue;
      const { tools, counts, rarity } = posting;
      for (let at = 0; at < tools.length; at += 1) {
        const tool = tools[at]!;
        const score = rarity * share * weight * counts[at]!;
        if (met[tool] === 0) touched.push(tool);
        if (score > met[tool]!) met[tool] = score;
      }
    }
    for (const tool of touched) {
      scores[tool]! += met[tool]!;
      met[tool] = 0;
    }
  }
  coverNames(index, askedBy(index, concepts), scores);
  pullServers(index, scores);
  return scores;
}

/** Words of the index that are asked for, each with the most that it counts. */
function askedBy(index: ToolIndex, concepts: readonly Concept[]): ReadonlyMap<string, number> {
  const asked = new Map<string, number>();
  for (const { weight, words } of concepts)
    for (const [word, share] of words)
      if (index.postings.has(word)) asked.set(word, Math.max(asked.get(word) ?? 0, share * Math.min(1, weight)));
  return asked;
}

/** By tool, how rare the words are that are asked for and that its name, its parameters, or its name and description have. */
function coveredBy(index: ToolIndex, asked: ReadonlyMap<string, number>, place: "isInName" | "isInParameters" | "isInText"): Float64Array {
  const covered = new Float64Array(index.tools.length);
  for (const [word, weight] of asked) {
    const { tools, [place]: isThere, rarity } = index.postings.get(word)!;
    for (let at = 0; at < tools.length; at += 1) if (isThere[at] === 1) covered[tools[at]!]! += rarity * weight;
  }
  return covered;
}

function coverNames(index: ToolIndex, asked: ReadonlyMap<string, number>, scores: Float64Array): void {
  const covered = coveredBy(index, asked, "isInName");
  for (let tool = 0; tool < scores.length; tool += 1) {
    if (covered[tool]! > 0) scores[tool]! *= 1 + (nameCover * covered[tool]!) / index.nameRarity[tool]!;
  }
}

/** A server whose tools fit well is likely the one that is meant. */
function pullServers({ serverOf, servers }: ToolIndex, scores: Float64Array): void {
  if (servers < 2) return;
  const tops = new Float64Array(servers * serverBest);
  for (let tool = 0; tool < scores.length; tool += 1) {
    const server = serverOf[tool]!;
    if (server < 0) continue;
    let score = scores[tool]!;
    for (let place = server * serverBest; place < (server + 1) * serverBest && score > 0; place += 1) {
      const other = tops[place]!;
      if (score <= other) continue;
      tops[place] = score;
      score = other;
    }
  }
  for (let tool = 0; tool < scores.length; tool += 1) {
    const server = serverOf[tool]!;
    if (server < 0 || scores[tool] === 0) continue;
    let sum = 0;
    for (let place = server * serverBest; place < (server + 1) * serverBest; place += 1) sum += tops[place]!;
    scores[tool]! += (serverPull * sum) / serverBest;
  }
}

/** The places of the highest scores over 0, highest first: a small heap, so that thousands needn't be sorted. */
function best(scores: Float64Array, limit: number): number[] {
  const isBefore = (a: number, b: number): boolean => scores[a]! > scores[b]! || (scores[a] === scores[b] && a < b);
  const kept: number[] = [];
  for (let tool = 0; tool < scores.length; tool += 1) {
    if (scores[tool] === 0 || (kept.length === limit && !isBefore(tool, kept.at(-1)!))) continue;
    let low = 0;
    let high = kept.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(tool, kept[middle]!)) high = middle;
      else low = middle + 1;
    }
    kept.splice(low, 0, tool);
    if (kept.length > limit) kept.pop();
  }
  return kept;
}

/** What each word of a query adds to a tool's score, and by which word of which fields. Name, server and shapes are left out. */
export interface Explained {
  readonly word: string;
  readonly by: string;
  readonly score: number;
  readonly fields: Readonly<Partial<Record<Field, number>>>;
}

export function explain(index: ToolIndex, query: string, tool: SearchableTool): Explained[] {
  const number = index.tools.indexOf(tool);
  const document = documentOf(tool);
  return partsOf(query.slice(0, longestQuery))
    .flatMap((part) => conceptsOf(part, index))
    .flatMap(({ weight, words }): Explained[] => {
      const scored = words.flatMap(([word, share]) => {
        const posting = index.postings.get(word);
        const at = posting?.tools.indexOf(number) ?? -1;
        return posting === undefined || at < 0 ? [] : [{ word, score: posting.rarity * share * weight * posting.counts[at]! }];
      });
      const met = scored.toSorted((a, b) => b.score - a.score)[0];
      if (met === undefined) return [];
      const shares = sharesOf(document, met.word);
      const byField = fields.filter((field) => shares[field] > 0).map((field) => [field, shares[field] * met.score] as const);
      return [{ word: words[0]![0], by: met.word, score: met.score, fields: Object.fromEntries(byField) }];
    })
    .toSorted((a, b) => b.score - a.score);
}
