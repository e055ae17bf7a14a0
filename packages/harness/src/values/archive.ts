import { longestQuery } from "../discovery/query.ts";
import { stem } from "../discovery/stem.ts";
import { relatedTo } from "../discovery/thesaurus.ts";
import { eachAround } from "./around.ts";
import type { Change, LineChange } from "./changes.ts";
import { isInput, lineChange, undone } from "./changes.ts";
import type { ExactValue, ValueKind } from "./kinds.ts";
import { valueKinds, valuesIn } from "./kinds.ts";
import type { ArchivedLine, Origin } from "./lines.ts";
import { createLines } from "./lines.ts";
import type { FoundValues, Scored } from "./standing.ts";
import { foundOf, judged } from "./standing.ts";
import type { Chunk } from "./tokens.ts";
import { chunksOf, tokensOf } from "./tokens.ts";

export interface Archive {
  /** Takes in a text as it came. Cost: linear in its length. */
  add(text: string, origin: Origin): void;
  /** What was taken in before from what a call changed may no longer be so. */
  change(change: Change): void;
  /** At event `seq` the changes of these calls were taken back, and all from event `since` on. */
  undo(seq: number, callIds: readonly string[], since: number): void;
  find(query: string, limit: number): FoundValues[];
  readonly lines: readonly ArchivedLine[];
  /** Whether lines of old outputs were let go, as the session is too long for them. */
  readonly isThinned: boolean;
}

/** What a line counts by who said it, where it has a value of the kind that is asked for, and where it has only ordinary words. */
const speakerWeights: Readonly<Record<Origin["speaker"], number>> = { tool: 1, user: 1, runtime: 0.9, model: 0.9, attempt: 0.6 };
const kindBonus = 0.25;
const valueBonus = 0.3;
const relatedWeight = 0.4;
/** An identifier as a whole counts double, its words alone half. */
const wholeWeight = 2;
const partWeight = 0.5;
const shortestPart = 4;
/** Unknown identifiers of a query that are looked for within others: each looks through all lines. */
const mostPieces = 6;
const mostLending = 300;
const mostLooked = 40;
const mostOfForm = 10;
const mostScored = 1_000;
const leastShare = 0.2;
/** Lines of one block that are shown together, and how near the best they must be. */
const mostTogether = 9;
const togetherShare = 0.5;
const mostBetween = 3;
/** Changes that are held against what was seen, the latest ones. */
const mostChanges = 2_000;

const filler = new Set(
  "a an the of to in on at by for from with and or is are was were be did do does it its this that what which who when where how tell me give please you we i current value exact"
    .split(" ")
    .map(stem),
);

export function createArchive(kinds: readonly ValueKind[] = valueKinds): Archive {
  const store = createLines();
  const { lines, holders } = store;
  let changes: Change[] = [];

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
        const { base, around } = lines[number]!.place;
        if (around !== null) eachAround(around, number - base, (near, weight) => put(base + near, worth * weight));
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

  let pieces = 0;
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
    if (!whole.some((token) => holders.has(token)) && (pieces += 1) <= mostPieces) meetPart(whole[0]!, best);
    const parts = new Map<number, number>();
    for (const word of words) {
      const part = new Map<number, number>();
      meet([[word, partWeight]], part);
      for (const [number, score] of part) parts.set(number, (parts.get(number) ?? 0) + score);
    }
    for (const [number, score] of parts) if (score > (best.get(number) ?? 0)) best.set(number, score);
    return best;
  };

  const find = (words: string, limit: number): FoundValues[] => {
    const query = words.slice(0, longestQuery);
    const chunks = chunksOf(query).filter(({ whole, words }) => whole.length > 0 || words.some((word) => !filler.has(word)));
    const asked = new Set(chunks.flatMap(({ whole, words }) => [...whole, ...words]));
    const wanted = new Set(kinds.filter(({ words }) => [...tokensOf(words)].some((word) => asked.has(word))).map(({ kind }) => kind));
    // `IPv4` or `e-mail` says what is asked for, and names nothing, although it is spelled like a name.
    const kindWords = new Set(kinds.flatMap(({ words }) => [...tokensOf(words)]));
    const isKind = (token: string): boolean => kindWords.has(token);
    const names = chunks.map(({ whole, words }) => !(whole.length > 0 ? whole.some(isKind) : words.every(isKind)));
    pieces = 0;
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
    // Each line is held against many others.
    const known = new Map<ArchivedLine, readonly ExactValue[]>();
    const valuesOf = (line: ArchivedLine): readonly ExactValue[] => {
      const values = known.get(line) ?? mainValues(valuesIn(line.text, kinds), wanted, query);
      known.set(line, values);
      return values;
    };
    const changed = new Map(scored.map(({ line }) => [line, changes.length === 0 ? null : lineChange(line, changes)]));
    const isGone = (line: ArchivedLine): boolean => changed.get(line)?.isSure === true;
    const grouped = (some: readonly Scored[]): Scored[][] => together(some).map((group) => withGaps(group, lines, met.length));
    const out = scored.filter(({ line }) => isGone(line));
    const live = scored.filter(({ line }) => !isGone(line));
    const standing = judged(
      grouped(inPlaceOf(out, live, lines, (line) => changed.get(line)!.by)),
      names,
      valuesOf,
      (line) => (changed.get(line) ?? null) !== null,
    );
    const gone = together(out);
    return [
      ...standing.map((found) => markChanged(found, changed)),
      ...gone.map((group) => foundOf(group, false, false, changed.get(group[0]!.line)!.by)),
    ].slice(0, limit);
  };
  return {
    add: store.add,
    change(change) {
      changes = [...changes, change].slice(-mostChanges);
    },
    undo(seq, callIds, since) {
      const isUndone = (change: Change): boolean => callIds.includes(change.callId) || change.seq >= since;
      changes = [...changes.filter((change) => !isUndone(change)), ...changes.filter(isUndone).flatMap((change) => undone(change, seq))];
    },
    find,
    lines,
    get isThinned() {
      return store.isThinned;
    },
  };
}

/** One finding a block: its best lines, the best first. Lines of one form, as logs have them by the thousand, leave room for others. */
function together(scored: readonly Scored[]): Scored[][] {
  const groups = new Map<number, Scored[]>();
  const forms = new Map<string, number>();
  for (const one of scored) {
    const group = groups.get(one.line.block);
    if (group !== undefined) {
      if (group.length < mostTogether && one.score >= group[0]!.score * togetherShare) group.push(one);
      continue;
    }
    const form = one.line.text.replaceAll(/\S*\d\S*/g, "");
    const alike = (forms.get(form) ?? 0) + 1;
    if (groups.size >= mostLooked || alike > mostOfForm) continue;
    forms.set(form, alike);
    groups.set(one.line.block, [one]);
  }
  return [...groups.values()];
}

/** What a change put in stands in the place of what it took out: it is as good an answer, also where it has fewer words. */
function inPlaceOf(
  out: readonly Scored[],
  live: readonly Scored[],
  lines: readonly ArchivedLine[],
  changeOf: (line: ArchivedLine) => number,
): readonly Scored[] {
  const best = new Map<number, Scored>();
  for (const one of out) if (!best.has(changeOf(one.line))) best.set(changeOf(one.line), one);
  if (best.size === 0) return live;
  const put = Map.groupBy(
    lines.filter(({ origin }) => best.has(origin.seq) && origin.of?.some(isInput) === true),
    ({ origin }) => origin.seq,
  );
  const raised = [...put].flatMap(([seq, own]): Scored[] => {
    const { score, meets } = best.get(seq)!;
    const known = live.filter(({ line }) => own.includes(line));
    if (known.length === 0) return own.slice(0, mostTogether).map((line) => ({ line, score, meets }));
    const factor = Math.max(1, score / known[0]!.score);
    return known.map((one, at) => ({ ...one, score: one.score * factor, meets: at === 0 ? meets : one.meets }));
  });
  const lifted = new Set(raised.map(({ line }) => line));
  return [...raised, ...live.filter(({ line }) => !lifted.has(line))].toSorted(
    (a, b) => b.score - a.score || b.line.number - a.line.number,
  );
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

/** What may have changed since it was seen says so; what surely has is not among the lines beside it either. */
function markChanged(found: FoundValues, changed: ReadonlyMap<ArchivedLine, LineChange | null>): FoundValues {
  const lines = found.lines.filter((line) => changed.get(line)?.isSure !== true);
  return { ...found, lines, changedBy: changed.get(found.lines[0]!)?.by ?? null };
}

/** Those of the kinds that are asked for, else all; without what the query itself names. */
function mainValues(values: readonly ExactValue[], wanted: ReadonlySet<string>, query: string): readonly ExactValue[] {
  const others = values.filter(({ value }) => !query.includes(value));
  const asked = others.filter(({ kind }) => wanted.has(kind));
  return asked.length > 0 ? asked : others;
}
