import type { TrustLabel } from "@holdfast/protocol";
import { stem } from "../discovery/stem.ts";
import { relatedTo } from "../discovery/thesaurus.ts";
import type { ExactValue, ValueKind } from "./kinds.ts";
import { valueKinds, valuesIn } from "./kinds.ts";
import type { PlacedLine } from "./layout.ts";
import { layOut } from "./layout.ts";
import type { Chunk } from "./tokens.ts";
import { chunksOf, tokensOf } from "./tokens.ts";

/** Where a text came from. `speaker`: words of the model count less than what a tool or a person said. */
export interface Origin {
  readonly seq: number;
  readonly itemId: string;
  readonly speaker: "user" | "tool" | "model" | "runtime";
  /** For people and the model: `run_command tail -n 40 x.log`, or "". */
  readonly from: string;
  readonly trust: TrustLabel;
  readonly at: number;
}

/** A line that holds something exact, with what it belongs with. */
export interface ArchivedLine {
  readonly text: string;
  readonly origin: Origin;
  readonly number: number;
  readonly block: number;
  readonly around: Around;
}

/** For the lines of one text, by their place in it: the lines that have one near them, and what it counts there. */
interface Around {
  /** Number of the text's first line. */
  readonly base: number;
  /** Where the lines of each begin in the other two; one more at the end. */
  readonly starts: Uint32Array;
  readonly to: Uint32Array;
  readonly weights: Float32Array;
}

/** Lines that were found together, the one that fits best first. `isCurrent` false: what was said later of the same thing has another value. */
export interface FoundValues {
  readonly lines: readonly ArchivedLine[];
  readonly origin: Origin;
  readonly score: number;
  readonly isCurrent: boolean;
}

export interface Archive {
  /** Takes in a text as it came. Cost: linear in its length. */
  add(text: string, origin: Origin): void;
  find(query: string, limit: number): FoundValues[];
  readonly lines: readonly ArchivedLine[];
}

/** What a line counts by who said it, where it has a value of the kind that is asked for, and where it has only ordinary words. */
const speakerWeights: Readonly<Record<Origin["speaker"], number>> = { tool: 1, user: 1, runtime: 0.9, model: 0.9 };
const kindBonus = 0.25;
const valueBonus = 0.3;
const relatedWeight = 0.4;
/** An identifier as a whole counts double, its words alone half. */
const wholeWeight = 2;
const partWeight = 0.5;
const shortestPart = 4;
const mostLending = 300;
const mostLooked = 40;
const mostScored = 1_000;
const leastShare = 0.2;
/** Lines of one block that are shown together, and how near the best they must be. */
const mostTogether = 9;
const togetherShare = 0.5;
const mostBetween = 3;
/** Two lines speak of the same thing where they meet this share of what the query and the better one have in common. */
const sameShare = 0.55;
const sameName = 0.7;
const nearlyBest = 0.6;
/** Longer texts are archived at both ends. */
const longestText = 4_000_000;

const filler = new Set(
  "a an the of to in on at by for from with and or is are was were be did do does it its this that what which who when where how tell me give please you we i current value exact"
    .split(" ")
    .map(stem),
);

export function createArchive(kinds: readonly ValueKind[] = valueKinds): Archive {
  const lines: ArchivedLine[] = [];
  const holders = new Map<string, number[]>();
  let blocks = 0;

  const add = (text: string, origin: Origin): void => {
    const kept = text.length <= longestText ? text : `${text.slice(0, longestText / 2)}\n\n${text.slice(-longestText / 2)}`;
    const base = lines.length;
    const placed = layOut(kept);
    const around = aroundOf(placed, base);
    placed.forEach(({ text: line, block }, index) => {
      const number = base + index;
      lines.push({ text: line, origin, number, block: blocks + block, around });
      for (const token of tokensOf(line)) {
        const list = holders.get(token);
        if (list === undefined) holders.set(token, [number]);
        else list.push(number);
      }
    });
    blocks += (placed.at(-1)?.block ?? 0) + 1;
  };

  /** Squared, so that the one name in a query outweighs all its common words. */
  const rarity = (token: string): number => Math.log(1 + lines.length / (1 + (holders.get(token)?.length ?? 0))) ** 2;

  /** By line, the most that one of the words is worth there. */
  const meet = (words: readonly (readonly [word: string, share: number])[], best: Map<number, number>): void => {
    for (const [word, share] of words) {
      const held = holders.get(word) ?? [];
      const worth = rarity(word) * share;
      const put = (number: number, score: number): void => {
        if (score > (best.get(number) ?? 0)) best.set(number, score);
      };
      for (const number of held) put(number, worth);
      // What many lines have tells nothing of those around them.
      if (held.length > mostLending) continue;
      for (const number of held) {
        const { base, starts, to, weights } = lines[number]!.around;
        for (let at = starts[number - base]!; at < starts[number - base + 1]!; at += 1) put(to[at]!, worth * weights[at]!);
      }
    }
  };

  /** A piece of an identifier stands for those that hold it. */
  const meetPart = (piece: string, best: Map<number, number>): void => {
    if (piece.length < shortestPart) return;
    const holding = lines.filter(
      ({ text }) => text.toLowerCase().includes(piece) && valuesIn(text, kinds).some(({ value }) => value.toLowerCase().includes(piece)),
    );
    for (const { number } of holding) best.set(number, wholeWeight * Math.log(1 + lines.length / (1 + holding.length)) ** 2);
  };

  const meetChunk = ({ whole, words }: Chunk): Map<number, number> => {
    const best = new Map<number, number>();
    meet(
      whole.map((token) => [token, wholeWeight]),
      best,
    );
    if (whole.length === 0) {
      for (const word of words) meet([[word, 1], ...relatedTo(word).map((other) => [other, relatedWeight] as const)], best);
      return best;
    }
    if (!whole.some((token) => holders.has(token))) meetPart(whole[0]!, best);
    const parts = new Map<number, number>();
    for (const word of words) {
      const part = new Map<number, number>();
      meet([[word, partWeight]], part);
      for (const [number, score] of part) parts.set(number, (parts.get(number) ?? 0) + score);
    }
    for (const [number, score] of parts) if (score > (best.get(number) ?? 0)) best.set(number, score);
    return best;
  };

  const find = (query: string, limit: number): FoundValues[] => {
    const chunks = chunksOf(query).filter(({ whole, words }) => whole.length > 0 || words.some((word) => !filler.has(word)));
    const asked = new Set(chunks.flatMap(({ whole, words }) => [...whole, ...words]));
    const wanted = new Set(kinds.filter(({ words }) => [...tokensOf(words)].some((word) => asked.has(word))).map(({ kind }) => kind));
    // `IPv4` or `e-mail` says what is asked for, and names nothing, although it is spelled like a name.
    const kindWords = new Set(kinds.flatMap(({ words }) => [...tokensOf(words)]));
    const isKind = (token: string): boolean => kindWords.has(token);
    const names = chunks.map(({ whole, words }) => !(whole.length > 0 ? whole.some(isKind) : words.every(isKind)));
    const met = chunks.map((chunk, at) => meetChunk(names[at]! ? chunk : plainly(chunk)));
    const totals = new Map<number, number>();
    for (const one of met) for (const [number, score] of one) totals.set(number, (totals.get(number) ?? 0) + score);
    // Values are looked for where they can count: the bonus for them is bounded.
    const least = totals.size === 0 ? 0 : leastShare * [...totals.values()].reduce((most, total) => Math.max(most, total));
    const near = [...totals].filter(([, total]) => total >= least);
    const best = near.sort(([a, first], [b, second]) => second - first || b - a).slice(0, mostScored);
    const scored = best.map(([number, total]): Scored => {
      const line = lines[number]!;
      const values = valuesIn(line.text, kinds);
      const hasKind = values.some(({ kind }) => wanted.has(kind));
      const factor = speakerWeights[line.origin.speaker] * (1 + (values.length > 0 ? valueBonus : 0) + (hasKind ? kindBonus : 0));
      return { line, score: total * factor, meets: met.map((one) => one.get(number) ?? 0) };
    });
    scored.sort((a, b) => b.score - a.score || b.line.number - a.line.number);
    const groups = together(scored).map((group) => withGaps(group, lines, met.length));
    return judged(groups, names, ({ text }) => mainValues(valuesIn(text, kinds), wanted, query)).slice(0, limit);
  };
  return { add, find, lines };
}

/** The other way round than the layout tells it: it says of each line what is near. */
function aroundOf(placed: readonly PlacedLine[], base: number): Around {
  const starts = new Uint32Array(placed.length + 1);
  for (const { near } of placed) for (const { line } of near) starts[line + 1]! += 1;
  for (let at = 1; at < starts.length; at += 1) starts[at]! += starts[at - 1]!;
  const next = starts.slice();
  const to = new Uint32Array(starts.at(-1)!);
  const weights = new Float32Array(to.length);
  placed.forEach(({ near }, index) => {
    for (const { line, weight } of near) {
      const at = next[line]!++;
      to[at] = base + index;
      weights[at] = weight;
    }
  });
  return { base, starts, to, weights };
}

interface Scored {
  readonly line: ArchivedLine;
  /** What it has of each part of the query. */
  readonly meets: readonly number[];
  readonly score: number;
}

/** One finding a block: its best lines, the best first. */
function together(scored: readonly Scored[]): Scored[][] {
  const groups = new Map<number, Scored[]>();
  for (const one of scored) {
    const group = groups.get(one.line.block);
    if (group !== undefined) {
      if (group.length < mostTogether && one.score >= group[0]!.score * togetherShare) group.push(one);
    } else if (groups.size < mostLooked) groups.set(one.line.block, [one]);
  }
  return [...groups.values()];
}

/** An identifier as words alone. */
function plainly({ whole, words }: Chunk): Chunk {
  return { whole: [], words: [...new Set([...words, ...whole])] };
}

/** Lines between two that were found belong with them where there are but a few: what is asked for may look like nothing special. */
function withGaps(group: readonly Scored[], lines: readonly ArchivedLine[], chunks: number): Scored[] {
  const placed = group.toSorted((a, b) => a.line.number - b.line.number);
  const between = placed.slice(1).flatMap((below, at) => {
    const above = placed[at]!;
    const gap = lines.slice(above.line.number + 1, below.line.number);
    if (gap.length > mostBetween) return [];
    const score = Math.min(above.score, below.score);
    return gap.filter(({ text }) => text !== "").map((line): Scored => ({ line, score, meets: Array.from({ length: chunks }, () => 0) }));
  });
  return [...group, ...between].toSorted((a, b) => b.score - a.score || Number(between.includes(a)) - Number(between.includes(b)));
}

type ValuesOf = (line: ArchivedLine) => readonly ExactValue[];

/** Of what is said of the same thing, the latest comes first, and the earlier ones count as superseded where they differ. */
function judged(groups: readonly Scored[][], names: readonly boolean[], valuesOf: ValuesOf): FoundValues[] {
  const found: FoundValues[] = [];
  let left = [...groups];
  while (left.length > 0) {
    const [first] = left as [Scored[]];
    const same = left.filter((other) => other === first || isSame(first, other, names, valuesOf));
    left = left.filter((other) => !same.includes(other));
    same.sort(([a], [b]) => b!.line.origin.seq - a!.line.origin.seq || b!.line.number - a!.line.number);
    const told = new Set<string>();
    for (const [best, ...others] of same as [Scored, ...Scored[]][]) {
      const key = valuesOf(best.line)
        .map(({ value }) => value)
        .join("\n");
      if (told.has(key)) continue;
      const lines = [best, ...others].map(({ line }) => line);
      found.push({ lines, origin: best.line.origin, score: best.score, isCurrent: told.size === 0 });
      told.add(key);
    }
  }
  return found;
}

/**
 * Both meet what the query asks for alike, and have a value of the same kind, or one has none of a kind that is known. The
 * model's own words replace nothing.
 */
function isSame(one: readonly Scored[], other: readonly Scored[], names: readonly boolean[], valuesOf: ValuesOf): boolean {
  const [a, b] = [one[0]!, other[0]!];
  const later = a.line.origin.seq >= b.line.origin.seq ? a : b;
  if (later.line.origin.speaker === "model") return false;
  const all = a.meets.reduce((sum, score) => sum + score, 0);
  const common = a.meets.reduce((sum, score, chunk) => sum + Math.min(score, b.meets[chunk]!), 0);
  if (common < all * sameShare) return false;
  // Above all, what it belongs to.
  const naming = a.meets.map((score, chunk) => (names[chunk] === true ? score : 0));
  const named = naming.indexOf(Math.max(...naming));
  if (b.meets[named]! < a.meets[named]! * sameName) return false;
  const kindsOf = (group: readonly Scored[]): Set<string> =>
    new Set(
      group.filter(({ score }) => score >= group[0]!.score * nearlyBest).flatMap(({ line }) => valuesOf(line).map(({ kind }) => kind)),
    );
  const [kinds, others] = [kindsOf(one), kindsOf(other)];
  return kinds.size === 0 || others.size === 0 || [...others].some((kind) => kinds.has(kind));
}

/** Those of the kinds that are asked for, else all; without what the query itself names. */
function mainValues(values: readonly ExactValue[], wanted: ReadonlySet<string>, query: string): readonly ExactValue[] {
  const others = values.filter(({ value }) => !query.includes(value));
  const asked = others.filter(({ kind }) => wanted.has(kind));
  return asked.length > 0 ? asked : others;
}
