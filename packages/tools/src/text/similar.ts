import { splitLines } from "./lines.ts";

const maxShown = 160;
const maxCompared = 20_000;

/** Why `wanted` (LF only) is not in `text` (LF only): the near misses, for the model to correct itself with. */
export function nearMisses(text: string, wanted: string): string {
  const lines = splitLines(text).map((line) => line.text);
  const asked = splitLines(wanted).map((line) => line.text);
  const unnumbered = asked.map((line) => line.replace(/^\s*\d+[\t→|:] ?/, ""));
  if (asked.some((line, index) => line !== unnumbered[index]) && text.includes(unnumbered.join("\n"))) {
    return "It would match without the line numbers: they are not part of the file.";
  }
  const loose = placesOf(lines.map(squeezed), asked.map(squeezed));
  if (loose.length > 0) {
    const [at] = loose;
    const shown = lines.slice(at, at! + Math.min(asked.length, 12)).map((line, index) => `${at! + index + 1}\t${cut(line)}`);
    return `It differs only in whitespace from line ${at! + 1}${loose.length > 1 ? ` (and from ${loose.length - 1} more)` : ""}:\n${shown.join("\n")}`;
  }
  return `Nearest lines:\n${nearestLines(lines, asked) || "(none is similar)"}`;
}

/** Up to three lines that look most like the most telling one of `asked`, numbered. */
export function nearestLines(lines: readonly string[], asked: readonly string[]): string {
  const probe = asked.reduce((best, line) => (line.trim().length > best.trim().length ? line : best), "").trim();
  if (probe === "") return "";
  const grams = pairsOf(probe.slice(0, maxShown));
  return lines
    .slice(0, maxCompared)
    .map((line, index) => ({ index, line, score: likeness(grams, line.trim().slice(0, maxShown)) }))
    .filter((each) => each.score > 0.4)
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, 3)
    .toSorted((a, b) => a.index - b.index)
    .map((each) => `${each.index + 1}\t${cut(each.line)}`)
    .join("\n");
}

/** Every index at which `wanted` occurs in `lines`. */
export function placesOf(lines: readonly string[], wanted: readonly string[]): number[] {
  const places: number[] = [];
  if (wanted.length === 0) return places;
  for (let at = lines.indexOf(wanted[0]!); at !== -1; at = lines.indexOf(wanted[0]!, at + 1)) {
    if (wanted.every((line, index) => lines[at + index] === line)) places.push(at);
  }
  return places;
}

function squeezed(line: string): string {
  return line.trim().replace(/\s+/g, " ");
}

function cut(line: string): string {
  return line.length > maxShown ? `${line.slice(0, maxShown)}…` : line;
}

function pairsOf(text: string): Map<string, number> {
  const pairs = new Map<string, number>();
  for (let at = 0; at + 1 < text.length; at += 1) {
    const pair = text.slice(at, at + 2);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return pairs;
}

/** Dice's coefficient over pairs of letters: 1 for equal lines, 0 for lines that share none. */
function likeness(grams: ReadonlyMap<string, number>, line: string): number {
  const other = pairsOf(line);
  let shared = 0;
  let total = 0;
  for (const [pair, count] of grams) {
    shared += Math.min(count, other.get(pair) ?? 0);
    total += count;
  }
  for (const count of other.values()) total += count;
  return total === 0 ? 0 : (2 * shared) / total;
}
