import { dateWords, wordsMeant } from "./shapes.ts";
import { stem } from "./stem.ts";
import { relatedTo } from "./thesaurus.ts";
import type { ToolIndex } from "./tool-index.ts";
import { pairOf, wordsOf } from "./words.ts";

/** What a related word, one of the same family, one that only begins alike, and one a typing slip away counts, beside 1 for the word itself. */
const relatedWeight = 0.45;
const familyWeight = 0.6;
const beginningWeight = 0.4;
const slipWeight = 0.7;
/** What a word counts that the text doesn't say but a path, an address or a date in it stands for; and a mere number. */
const hintWeight = 0.7;
const numberWeight = 0.2;
/** What a word of a name counts, and one of those that a request is opened with. */
const nameWeight = 0.7;
const openingWeight = 0.6;
/** What two words add that stand together in the query and in the tool. */
const pairWeight = 0.2;

const mostRelated = 12;
const mostAlike = 8;
const mostSlips = 3;
/** Words shorter than this are too easily taken for others. */
const shortestGuess = 5;
const shortestRoot = 4;

/** A word of a query: `weight` in the query, and the words of the index that can meet it, each with what it counts. */
export interface Concept {
  readonly weight: number;
  readonly words: readonly (readonly [word: string, weight: number])[];
}

const filler = new Set(
  `a an the of to in on at by for from with without and or but not no is are was were be been being am do does did doing have
  has had having it its this that these those there here i me my we our us you your he she his her they them their what which
  who whom whose when where why how can could would should will shall may might must please need want help like just also then
  than so if as about into onto over under up down out off again very too both each per via between during after before s t let
  give tell make some any more most such only own same using use used`
    .split(/\s+/)
    .map(stem),
);

/** They say how something is asked for more often than what: `I wonder`, `looking for`, `first of all`. */
const openings = new Set(
  `go going gone got come coming look looking feel think know wonder wondering curious interested interest able thing things lot
  really sure thank thanks hi hello hey say imagine suppose consider considering given way well like love prefer actually first
  second lastly next finally kindly possible believe heard tried trying mind ok okay`
    .split(/\s+/)
    .map(stem),
);

/** Words with a capital within a sentence. */
const names = /(?<=[\p{L}\p{N},] )\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)*/gu;

/** A request can ask for several things: its sentences, and what follows a "then" or an "also". */
const seam =
  /(?<=[.?!;]["'”’)]?)\s+|\n+|,?\s+(?:and then|then|also|as well as|after that|finally|secondly|lastly)\b,?|(?:,\s+|,?\s+and\s+)(?:next|second|third)\b,?/i;

/** Characters of a query that are looked at: nobody asks for more, and every word is held against the index. */
export const longestQuery = 2_000;

/** The words of each part of a query with their weights, without filler unless there is nothing else. */
export function partsOf(text: string): ReadonlyMap<string, number>[] {
  const hints: string[] = [];
  const plain = text
    .replaceAll(/https?:\/\/\S+/g, (url) => {
      hints.push("url");
      return ` ${hostWord(url)} `;
    })
    .replaceAll(/(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.[\w.]+/g, () => {
      hints.push("email");
      return " ";
    })
    .replaceAll(/(?<![\w/])~?(?:\/[\w.@-]+)+\/?/g, (path) => {
      hints.push("path", "file", ...wordsOf(/\.(\w{1,5})$/.exec(path)?.[1] ?? ""));
      return " ";
    });
  hints.push(...wordsMeant(text));
  const named = new Set([...text.matchAll(names)].flatMap(([name]) => wordsOf(name)));
  // A date stands for itself: its words would meet tools by accident.
  const parts = plain
    .replaceAll(dateWords, " ")
    .split(seam)
    .map((part) =>
      weigh(
        wordsOf(part).filter((word) => !filler.has(word)),
        named,
      ),
    )
    .filter((part) => part.size > 0);
  const last = parts.at(-1);
  if (last === undefined) return [weigh([...wordsOf(text), ...hints.map(stem)])];
  for (const hint of hints.map(stem)) if (!last.has(hint)) last.set(hint, hintWeight);
  return parts;
}

function hostWord(url: string): string {
  return (
    url
      .replace(/^https?:\/\//, "")
      .split("/")[0]!
      .split(".")
      .at(-2) ?? ""
  );
}

function weigh(words: readonly string[], named: ReadonlySet<string> = new Set()): Map<string, number> {
  const weights = new Map<string, number>();
  for (const word of words) {
    const weight = isMereNumber(word) ? numberWeight : named.has(word) ? nameWeight : openings.has(word) ? openingWeight : 1;
    weights.set(word, (weights.get(word) ?? 0) + weight);
  }
  return weights;
}

/** A long number that is no year can be what something is called. */
function isMereNumber(word: string): boolean {
  return /^(?:\d{1,3}|(?:19|20)\d\d)$/.test(word);
}

/** What the words of a part can be met by in an index. Two words that the index knows as one (`word cloud`) are that one, too. */
export function conceptsOf(part: ReadonlyMap<string, number>, index: ToolIndex): Concept[] {
  const words = [...part.keys()];
  const joined = words.flatMap((word, at) => (at > 0 && index.postings.has(words[at - 1]! + word) ? [words[at - 1]! + word] : []));
  return [
    ...[...part].map(([word, weight]) => ({ weight: weight > 1 ? 1 + Math.log(weight) : weight, words: wordsFor(word, index) })),
    ...words.slice(1).map((word, at) => ({ weight: pairWeight, words: [[pairOf(words[at]!, word), 1]] as const })),
    ...joined.map((word) => ({ weight: 1, words: [[word, 1]] as const })),
  ];
}

function wordsFor(word: string, index: ToolIndex): (readonly [string, number])[] {
  const related = relatedTo(word)
    .slice(0, mostRelated)
    .map((other) => [other, isFamily(word, other) ? familyWeight : relatedWeight] as const);
  if (index.postings.has(word) || word.length < shortestGuess) return [[word, 1], ...related];
  const slips = slipsOf(word, index).flatMap(([other, weight]) => [
    [other, weight] as const,
    ...relatedTo(other).map((one) => [one, relatedWeight * weight] as const),
  ]);
  return [[word, 1], ...related, ...slips, ...alike(word, index).map((other) => [other, beginningWeight] as const)];
}

/** Whether two words that mean much the same are of one root, as `multiply` and `multiplication`. */
function isFamily(word: string, other: string): boolean {
  let same = 0;
  while (same < word.length && word[same] === other[same]) same += 1;
  return same >= shortestRoot && same >= Math.min(word.length, other.length) - 2;
}

/** Words of the index that begin with this one, or with which it begins. */
function alike(word: string, { sorted, postings }: ToolIndex): string[] {
  const found: string[] = [];
  for (let length = shortestGuess - 1; length < word.length; length += 1) {
    if (postings.has(word.slice(0, length))) found.push(word.slice(0, length));
  }
  for (let at = firstAtLeast(sorted, word); at < sorted.length && found.length < mostAlike && sorted[at]!.startsWith(word); at += 1) {
    found.push(sorted[at]!);
  }
  return found;
}

function firstAtLeast(sorted: readonly string[], word: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Words of the index that this one may be a slip of the keyboard for: one edit away, two for a long one. */
function slipsOf(word: string, { byLength }: ToolIndex): (readonly [string, number])[] {
  const most = word.length >= 8 ? 2 : 1;
  const found: [string, number][] = [];
  for (let length = word.length - most; length <= word.length + most; length += 1) {
    for (const other of byLength.get(length) ?? []) {
      if (other[0] !== word[0]) continue;
      const edits = editsBetween(word, other);
      if (edits <= most) found.push([other, slipWeight / edits]);
    }
  }
  return found.toSorted((a, b) => b[1] - a[1]).slice(0, mostSlips);
}

/** Letters put in, left out, changed, or two in a row swapped (optimal string alignment). */
function editsBetween(a: string, b: string): number {
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, changed, isSwapped ? older[j - 2]! + 1 : changed));
    }
    older = last;
    last = row;
  }
  return last[b.length]!;
}
