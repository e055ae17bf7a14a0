import type { Json } from "@holdfast/protocol";
import { fieldsOf } from "./fields.ts";
import { numbersNeeded, shapesTaken } from "./shapes.ts";
import { isPair, withPairs, wordsOf } from "./words.ts";

/** A tool as the search sees it. `server`: where it comes from, "" for nowhere in particular. */
export interface SearchableTool {
  readonly name: string;
  readonly server: string;
  readonly description: string;
  readonly schema: Json;
}

export const fields = ["name", "server", "description", "parameters", "parameterTexts"] as const;
export type Field = (typeof fields)[number];

/**
 * BM25F (Robertson and Zaragoza, "The probabilistic relevance framework", 2009): what a word counts in a field, how much a
 * long field takes from it, and how soon repetition stops to count. Found by cross-validation over two public sets of tools
 * (docs/decisions/0015-tool-search.md); the result is flat around these values.
 */
const weights: Readonly<Record<Field, number>> = { name: 3, server: 1, description: 1, parameters: 0.6, parameterTexts: 0.4 };
const lengthNorms: Readonly<Record<Field, number>> = { name: 0.5, server: 0.3, description: 0.6, parameters: 0.6, parameterTexts: 0.7 };
const saturation = 1.2;
const rarityPower = 0.8;

/** How deep schemas are read, and how many values of an `enum` count as words. */
const deepest = 3;
const mostEnums = 30;

/** Where a word stands: tools by number, what it counts in each (0 to 1), and whether its name, its parameters, or its name and description have it. */
export interface Posting {
  readonly tools: Int32Array;
  readonly counts: Float32Array;
  readonly isInName: Uint8Array;
  readonly isInParameters: Uint8Array;
  readonly isInText: Uint8Array;
  readonly rarity: number;
}

export interface ToolIndex {
  readonly tools: readonly SearchableTool[];
  readonly postings: ReadonlyMap<string, Posting>;
  /** All words, sorted, and by their lengths. */
  readonly sorted: readonly string[];
  readonly byLength: ReadonlyMap<number, readonly string[]>;
  /** By tool: the rarity of all words of its name, its parameters, its name and description; the number of its server, -1 for none; shapes as bits. */
  readonly nameRarity: Float64Array;
  readonly parameterRarity: Float64Array;
  readonly textRarity: Float64Array;
  readonly serverOf: Int32Array;
  readonly servers: number;
  readonly takes: Uint16Array;
  readonly needs: Uint16Array;
  /** By tool: how many numbers it can't be called without. */
  readonly numbers: Uint8Array;
}

export function indexTools(tools: readonly SearchableTool[]): ToolIndex {
  const documents = tools.map(documentOf);
  const lengths = Object.fromEntries(fields.map((field) => [field, averageLength(documents, field)])) as Record<Field, number>;
  const lists = new Map<string, { tools: number[]; counts: number[]; isInName: number[]; isInParameters: number[]; isInText: number[] }>();
  const parameters = documents.map((document) => new Set([...document.parameters, ...document.parameterTexts]));
  const texts = documents.map(({ name, description }) => new Set([...name, ...description].filter((word) => !isPair(word))));
  documents.forEach((document, number) => {
    for (const [word, count] of countsOf(document, lengths)) {
      const list = lists.get(word) ?? { tools: [], counts: [], isInName: [], isInParameters: [], isInText: [] };
      lists.set(word, list);
      list.tools.push(number);
      list.counts.push(count / (saturation + count));
      list.isInName.push(document.name.includes(word) ? 1 : 0);
      list.isInParameters.push(parameters[number]!.has(word) ? 1 : 0);
      list.isInText.push(texts[number]!.has(word) ? 1 : 0);
    }
  });
  const postings = new Map(
    [...lists].map(([word, list]): [string, Posting] => [
      word,
      {
        tools: Int32Array.from(list.tools),
        counts: Float32Array.from(list.counts),
        isInName: Uint8Array.from(list.isInName),
        isInParameters: Uint8Array.from(list.isInParameters),
        isInText: Uint8Array.from(list.isInText),
        rarity: Math.log(1 + (tools.length - list.tools.length + 0.5) / (list.tools.length + 0.5)) ** rarityPower,
      },
    ]),
  );
  const sorted = [...postings.keys()].filter((word) => !isPair(word)).toSorted();
  const servers = new Map<string, number>();
  for (const { server } of tools) if (server !== "" && !servers.has(server)) servers.set(server, servers.size);
  const taken = tools.map(({ schema }) => shapesTaken(schema));
  return {
    tools,
    postings,
    sorted,
    byLength: Map.groupBy(sorted, (word) => word.length),
    nameRarity: Float64Array.from(documents, ({ name }) =>
      name.reduce((sum, word) => sum + (isPair(word) ? 0 : postings.get(word)!.rarity), 0),
    ),
    parameterRarity: Float64Array.from(parameters, (words) => [...words].reduce((sum, word) => sum + postings.get(word)!.rarity, 0)),
    textRarity: Float64Array.from(texts, (words) => [...words].reduce((sum, word) => sum + postings.get(word)!.rarity, 0)),
    serverOf: Int32Array.from(tools, ({ server }) => servers.get(server) ?? -1),
    servers: servers.size,
    takes: Uint16Array.from(taken, ({ takes }) => takes),
    needs: Uint16Array.from(taken, ({ needs }) => needs),
    numbers: Uint8Array.from(tools, ({ schema }) => numbersNeeded(schema)),
  };
}

export type Document = Readonly<Record<Field, readonly string[]>>;

/** The words of each field, and in name and description each two in a row. A name's words count once, its numbers not at all. */
export function documentOf({ name, server, description, schema }: SearchableTool): Document {
  const names: string[] = [];
  const texts: string[] = [];
  readSchema(schema, 0, names, texts);
  return {
    name: withPairs([...new Set(wordsOf(ownName(name, server)))].filter((word) => !/^\d+$/.test(word))),
    server: wordsOf(server),
    description: withPairs(wordsOf(description)),
    parameters: wordsOf(names.join(" ")),
    parameterTexts: wordsOf(texts.join(" ")),
  };
}

function ownName(name: string, server: string): string {
  const prefix = `mcp__${server}__`;
  return server !== "" && name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** What a word counts in a document, before saturation. */
function countsOf(document: Document, lengths: Readonly<Record<Field, number>>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const field of fields) {
    const norm = 1 - lengthNorms[field] + lengthNorms[field] * (document[field].length / lengths[field]);
    for (const word of document[field]) counts.set(word, (counts.get(word) ?? 0) + weights[field] / norm);
  }
  return counts;
}

/** How much each field had to do with a word's count: for people, so without the norms of length. */
export function sharesOf(document: Document, word: string): Record<Field, number> {
  const counts = fields.map((field) => weights[field] * document[field].filter((one) => one === word).length);
  const sum = counts.reduce((total, count) => total + count, 0);
  return Object.fromEntries(fields.map((field, index) => [field, sum === 0 ? 0 : counts[index]! / sum])) as Record<Field, number>;
}

function averageLength(documents: readonly Document[], field: Field): number {
  return Math.max(1, documents.reduce((sum, document) => sum + document[field].length, 0) / Math.max(1, documents.length));
}

function readSchema(schema: Json, depth: number, names: string[], texts: string[]): void {
  const { description, enum: choices, properties = null, items } = fieldsOf(schema);
  if (depth > 0 && typeof description === "string") texts.push(description);
  if (Array.isArray(choices))
    texts.push(
      choices
        .filter((choice) => typeof choice === "string")
        .slice(0, mostEnums)
        .join(" "),
    );
  if (depth > deepest) return;
  for (const [name, inner] of Object.entries(fieldsOf(properties))) {
    names.push(name);
    readSchema(inner, depth + 1, names, texts);
  }
  if (items !== undefined) readSchema(items, depth + 1, names, texts);
}
