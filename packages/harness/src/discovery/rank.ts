import type { Json } from "@holdfast/protocol";
import type { ToolSpec } from "@holdfast/runtime";
import { fieldsOf } from "./fields.ts";

/** What a match in a tool's name, its description or the names of its parameters counts. */
const nameWeight = 4;
const descriptionWeight = 1;
const parameterWeight = 0.5;
/** A word that only begins like the one asked for: `issue` and `issues`. */
const beginningWeight = 0.6;
const shortestBeginning = 3;

/** Lower-case words of a text; `createIssue` and `create_issue` are the same two. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

interface Document {
  readonly spec: ToolSpec;
  readonly weights: ReadonlyMap<string, number>;
}

/**
 * Tools that fit a query, best first: rare words count more than common ones, the name more than the description. A tool
 * whose very name is asked for comes first. Equal ones stay in the order given. Pure.
 */
export function rankTools(query: string, specs: readonly ToolSpec[]): ToolSpec[] {
  const asked = [...new Set(wordsOf(query))];
  const documents = specs.map(documentOf);
  const rarity = new Map(asked.map((word) => [word, rarityOf(word, documents)]));
  const scored = documents.map(({ spec, weights }) => {
    if (spec.name === query.trim()) return { spec, score: Number.POSITIVE_INFINITY };
    const score = asked.reduce((sum, word) => sum + matchOf(word, weights) * rarity.get(word)!, 0);
    return { spec, score };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => (a.score === b.score ? 0 : b.score - a.score))
    .map(({ spec }) => spec);
}

function documentOf(spec: ToolSpec): Document {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number): void => {
    for (const word of wordsOf(text)) weights.set(word, Math.max(weights.get(word) ?? 0, weight));
  };
  add(parametersOf(spec.schema), parameterWeight);
  add(spec.description, descriptionWeight);
  add(spec.name, nameWeight);
  return { spec, weights };
}

function parametersOf(schema: Json): string {
  return Object.keys(fieldsOf(fieldsOf(schema)["properties"] ?? null)).join(" ");
}

function matchOf(word: string, weights: ReadonlyMap<string, number>): number {
  const exact = weights.get(word);
  if (exact !== undefined) return exact;
  let best = 0;
  for (const [other, weight] of weights) if (beginsLike(word, other)) best = Math.max(best, weight * beginningWeight);
  return best;
}

function beginsLike(a: string, b: string): boolean {
  return Math.min(a.length, b.length) >= shortestBeginning && (a.startsWith(b) || b.startsWith(a));
}

function rarityOf(word: string, documents: readonly Document[]): number {
  const holders = documents.filter(({ weights }) => matchOf(word, weights) > 0).length;
  return Math.log(1 + documents.length / (1 + holders));
}
