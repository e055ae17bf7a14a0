import { tokensOf } from "../values/tokens.ts";
import type { CallNames, HistoryEntry, Recorded } from "./entries.ts";
import { entriesOf } from "./entries.ts";

/** How much a long entry takes from what its words count: little, as what is looked for often stands in a long output. */
const lengthNorm = 0.25;
/** What an entry gets that holds the query as it stands. */
const phraseBonus = 8;
/** Characters of an entry whose words are indexed, from both ends. */
const mostIndexed = 200_000;

export interface FoundEntry {
  readonly entry: HistoryEntry;
  readonly score: number;
}

/** A session's log by words. It grows with the log, and holds its text: an erased item must be taken in anew. */
export interface HistoryIndex {
  /** The number of the last event that was taken in. */
  readonly seq: number;
  add(events: readonly Recorded[]): void;
  /** Best first; of equals the later. Only events from `from` to `to`. */
  find(query: string, limit: number, from: number, to: number): FoundEntry[];
}

export function createHistoryIndex(): HistoryIndex {
  const entries: HistoryEntry[] = [];
  const sizes: number[] = [];
  const postings = new Map<string, number[]>();
  const names: CallNames = new Map();
  let seq = 0;
  let total = 0;
  return {
    get seq() {
      return seq;
    },
    add(events) {
      for (const event of events) {
        seq = event.seq;
        for (const entry of entriesOf(event, names)) {
          if (entry.isLook) continue;
          const number = entries.push(entry) - 1;
          const tokens = tokensOf(`${entry.what}\n${bothEnds(entry.text)}`);
          sizes.push(tokens.size);
          total += tokens.size;
          for (const token of tokens) {
            const list = postings.get(token);
            if (list === undefined) postings.set(token, [number]);
            else list.push(number);
          }
        }
      }
    },
    find(query, limit, from, to) {
      const scores = new Map<number, number>();
      const average = Math.max(1, total / Math.max(1, entries.length));
      const met = new Map<number, number>();
      const tokens = tokensOf(query);
      for (const token of tokens) {
        const list = postings.get(token) ?? [];
        const rarity = Math.log(1 + (entries.length - list.length + 0.5) / (list.length + 0.5));
        for (const number of list) {
          const norm = 1 + lengthNorm * Math.log(1 + sizes[number]! / average);
          scores.set(number, (scores.get(number) ?? 0) + rarity / norm);
          met.set(number, (met.get(number) ?? 0) + 1);
        }
      }
      for (const [number, count] of met) scores.set(number, (scores.get(number)! * count) / tokens.size);
      const phrase = query.trim().toLowerCase();
      if (phrase.length >= 3) {
        entries.forEach(({ text }, number) => {
          if (text.toLowerCase().includes(phrase)) scores.set(number, (scores.get(number) ?? 0) + phraseBonus);
        });
      }
      return [...scores]
        .filter(([number]) => entries[number]!.seq >= from && entries[number]!.seq <= to)
        .toSorted((a, b) => b[1] - a[1] || b[0] - a[0])
        .slice(0, limit)
        .map(([number, score]) => ({ entry: entries[number]!, score }));
    },
  };
}

function bothEnds(text: string): string {
  return text.length <= mostIndexed ? text : `${text.slice(0, mostIndexed / 2)}\n${text.slice(-mostIndexed / 2)}`;
}

/** The lines of a text that have most of a query's words, with what stands around them, at most so many characters. */
export function snippetOf(text: string, query: string, chars: number): string {
  if (text.length <= chars) return text;
  const lines = text.split("\n");
  const wanted = tokensOf(query);
  let [best, most] = [0, -1];
  lines.forEach((line, number) => {
    const hits = [...tokensOf(line.slice(0, 4_000))].filter((token) => wanted.has(token)).length;
    if (hits > most) [best, most] = [number, hits];
  });
  const first = Math.max(0, best - 1);
  const around = lines.slice(first, best + 4).join("\n");
  if (around.length <= chars) return around;
  const line = lines[best]!;
  const at = Math.max(0, ...[...wanted].map((token) => line.toLowerCase().indexOf(token)));
  const start = Math.max(0, Math.min(at - chars / 3, line.length - chars));
  return `${start > 0 ? "…" : ""}${line.slice(start, start + chars).toWellFormed()}…`;
}
