import { nearestLines, placesOf } from "../text/similar.ts";
import type { Hunk } from "./parse.ts";

export interface Placed {
  readonly hunk: Hunk;
  /** Index of the file's line that the hunk's first old line is, or before which a hunk without any goes. */
  readonly at: number;
  /** What had to be overlooked to find it. */
  readonly loosened: string | null;
}

export type Placement =
  | { readonly type: "placed"; readonly hunks: readonly Placed[] }
  | { readonly type: "refused"; readonly text: string };

/** From exact to loose; the first at which a hunk is found anywhere decides. */
const levels: readonly { readonly loosened: string | null; readonly fold: (line: string) => string }[] = [
  { loosened: null, fold: (line) => line },
  { loosened: "trailing whitespace", fold: (line) => line.trimEnd() },
  { loosened: "typographic punctuation", fold: (line) => plainPunctuation(line).trimEnd() },
];

/**
 * Finds each hunk's place by its context and old lines, in the file as it is. A place after the hunk before is preferred,
 * as hunks are written in order; else a single place anywhere is taken. What fits nowhere, or in several places, is refused.
 */
export function placeHunks(lines: readonly string[], hunks: readonly Hunk[]): Placement {
  const placed: Placed[] = [];
  let cursor = 0;
  for (const [index, hunk] of hunks.entries()) {
    const found = placeOf(lines, hunk, cursor);
    if (typeof found === "string") {
      const name = hunks.length === 1 ? "The hunk" : `Hunk ${index + 1}`;
      return { type: "refused", text: `${name} (line ${hunk.at} of the patch) ${found}` };
    }
    placed.push(found);
    cursor = found.at + lastOldChange(hunk);
  }
  return { type: "placed", hunks: placed };
}

function placeOf(lines: readonly string[], hunk: Hunk, cursor: number): Placed | string {
  const old = hunk.lines.filter((line) => line.mark !== "+").map((line) => line.text);
  if (old.length === 0) return placeOfAddition(lines, hunk);
  for (const { fold, loosened } of levels) {
    const folded = loosened === null ? lines : lines.map(fold);
    const all = placesOf(folded, old.map(fold));
    if (all.length === 0) continue;
    const below = hunk.headers.length === 0 ? all : belowHeaders(folded, hunk.headers.map(fold), all);
    if (below.length === 0) return `was not found below its header "${hunk.headers.join(" / ")}". ${nearby(lines, hunk.headers)}`;
    return choose(below, hunk, cursor, lines.length - old.length, loosened);
  }
  return `does not match the file: its context was not found. ${nearby(lines, old)}`;
}

function choose(places: readonly number[], hunk: Hunk, cursor: number, end: number, loosened: string | null): Placed | string {
  const atEnd = hunk.atEnd && places.includes(end) ? [end] : places;
  const ahead = atEnd.filter((place) => place >= cursor);
  const candidates = ahead.length > 0 ? ahead : atEnd;
  const hinted = hunk.hint !== null && candidates.includes(hunk.hint) ? hunk.hint : null;
  if (candidates.length > 1 && hinted === null) {
    const shown = candidates.slice(0, 5).map((place) => place + 1);
    return `fits in ${candidates.length} places (lines ${shown.join(", ")}${candidates.length > 5 ? ", …" : ""}). Add context lines, or an "@@ " header that names a line above it.`;
  }
  return { hunk, at: hinted ?? candidates[0]!, loosened };
}

/** Only new lines: below the header's line, at the unified header's line, else at the end of the file. */
function placeOfAddition(lines: readonly string[], hunk: Hunk): Placed | string {
  if (hunk.headers.length > 0) {
    const starts = headerLines(lines, hunk.headers);
    if (starts.length === 1) return { hunk, at: starts[0]! + 1, loosened: null };
    return starts.length === 0
      ? `has a header that is not in the file. ${nearby(lines, hunk.headers)}`
      : `has a header that fits in ${starts.length} places (lines ${starts
          .slice(0, 5)
          .map((at) => at + 1)
          .join(", ")}). Add context lines.`;
  }
  if (hunk.hint !== null && hunk.hint < lines.length && lines.length > 0) {
    return "has no context lines, so its place can't be verified. Add some.";
  }
  return { hunk, at: lines.length, loosened: null };
}

/** For each line that the headers lead to, the first place at or after it. */
function belowHeaders(lines: readonly string[], headers: readonly string[], places: readonly number[]): number[] {
  const first = headerLines(lines, headers).map((start) => places.find((place) => place >= start));
  return [...new Set(first)].filter((place) => place !== undefined);
}

function headerLines(lines: readonly string[], headers: readonly string[]): number[] {
  let starts = [-1];
  for (const header of headers) {
    const wanted = header.trim();
    const exact = indexesOf(lines, (line) => line.trim() === wanted);
    const lax = exact.length > 0 ? exact : indexesOf(lines, (line) => line.includes(wanted));
    starts = [...new Set(starts.flatMap((start) => (start === -1 ? lax : (lax.find((at) => at > start) ?? []))))];
  }
  return starts;
}

function indexesOf(lines: readonly string[], test: (line: string) => boolean): number[] {
  return lines.flatMap((line, index) => (test(line) ? [index] : []));
}

function nearby(lines: readonly string[], wanted: readonly string[]): string {
  const nearest = nearestLines(lines, wanted);
  return nearest === "" ? "Read the file and try again." : `Nearest lines of the file:\n${nearest}`;
}

/** Old lines up to the last change: context after it may be the next hunk's as well. */
function lastOldChange(hunk: Hunk): number {
  const last = hunk.lines.findLastIndex((line) => line.mark !== " ");
  return hunk.lines.slice(0, last + 1).filter((line) => line.mark !== "+").length;
}

function plainPunctuation(line: string): string {
  return line
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}
