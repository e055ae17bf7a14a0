import type { Around } from "./around.ts";
import { aroundOf, createTies } from "./around.ts";
import { valuesIn } from "./kinds.ts";

/**
 * Lines longer than this are laid out anew where they are JSON, and else cut between words: never within a word or a value, up
 * to lengths that tokens, signed addresses and certificates have.
 */
const longLine = 400;
const longestWord = 16_000;
const longestValue = 1_200;
/** A value of several lines. */
const block = /^(-----BEGIN [^\n-]+-----\n[^-]{1,16000}\n-----END [^\n-]+-----)$/m;

/** A text as its lines, without their indentation. */
export interface LaidOut {
  readonly lines: readonly string[];
  /** By line: lines that belong together by blank lines and indentation have the same number. */
  readonly blocks: Uint32Array;
  readonly around: Around;
}

/** Lines that are looked at for what one belongs with: above and below it, and how many of those above can count. */
const farthestAbove = 60;
const farthestBelow = 10;
const mostAbove = 14;

/**
 * A text as lines, each with its surroundings: a log's line stands for itself, a field of an object belongs with the other
 * fields, a value under a heading with the heading.
 */
export function layOut(text: string, mostLines = Infinity): LaidOut {
  const lines = atMost(text.split(block).flatMap(linesOf), mostLines);
  const placed = lines.map(placeOf);
  const blocks = new Uint32Array(lines.length);
  for (let number = 1; number < lines.length; number += 1) {
    blocks[number] = blocks[number - 1]! + (startsBlock(placed[number]!) ? 1 : 0);
  }
  return { lines: lines.map((line) => line.trim()), blocks, around: surroundings(placed) };
}

/** What may be exact: something with a digit or a mark of names and paths; a number alone tells least. */
const mayHold = /[\d_/@=:\\]|\p{L}-\p{L}/u;
const isBare = /^[\s\d.,;+-]*$/;

/** Both ends, and of what is between, lines that may hold something exact, spread evenly. */
export function atMost(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const end = Math.floor(most / 4);
  const between: number[] = [];
  const bare: number[] = [];
  for (let at = end; at < lines.length - end; at += 1) {
    if (mayHold.test(lines[at]!)) (isBare.test(lines[at]!) ? bare : between).push(at);
  }
  const kept = spread(between, end);
  const middle = [...kept, ...spread(bare, end - kept.length)].toSorted((a, b) => a - b);
  // Lines that did not stand together don't belong together.
  const gapped = middle.flatMap((at, place) => (place > 0 && middle[place - 1] === at - 1 ? [lines[at]!] : ["", lines[at]!]));
  return [...lines.slice(0, end), ...gapped, "", ...lines.slice(lines.length - end)];
}

function spread(places: readonly number[], most: number): readonly number[] {
  if (places.length <= most) return places;
  return Array.from({ length: Math.max(0, most) }, (_, n) => places[Math.floor((n * places.length) / most)]!);
}

/** Of every second part, which is a value of several lines, one. */
function linesOf(part: string, place: number, parts: readonly string[]): string[] {
  if (place % 2 === 1) return [part];
  const start = place > 0 && part.startsWith("\n") ? 1 : 0;
  const end = place < parts.length - 1 && part.endsWith("\n") ? part.length - 1 : part.length;
  return end < start || (start === end && parts.length > 1) ? [] : part.slice(start, end).split("\n").flatMap(pieces);
}

function pieces(line: string): string[] {
  if (line.length <= longLine) return [line];
  const trimmed = line.trim();
  if (/^[[{]/.test(trimmed)) return fieldByField(trimmed).flatMap(cut);
  return cut(line);
}

/** JSON text with a line for each field; strings stay as they are. */
function fieldByField(json: string): string[] {
  const lines: string[] = [];
  let depth = 0;
  let current = "";
  let inString = false;
  const flush = (): void => {
    if (current.trim() !== "") lines.push(" ".repeat(depth * 2) + current.trim());
    current = "";
  };
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at]!;
    if (inString) {
      current += letter;
      if (letter === "\\") current += json[(at += 1)] ?? "";
      else if (letter === '"') inString = false;
      continue;
    }
    if (letter === '"') inString = true;
    if (letter === "}" || letter === "]") {
      flush();
      depth -= 1;
    }
    current += letter;
    if (letter === "{" || letter === "[") {
      flush();
      depth += 1;
    } else if (letter === ",") flush();
  }
  flush();
  return lines;
}

/** Between words, a sentence's end before any other. */
function cut(line: string): string[] {
  const found: string[] = [];
  let rest = line;
  while (rest.length > longLine) {
    const end = endOf(rest);
    found.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...found, rest];
}

function endOf(rest: string): number {
  const head = rest.slice(0, longLine);
  const sentence = Math.max(head.lastIndexOf(". "), head.lastIndexOf("; "));
  const end = sentence > longLine / 3 ? sentence + 1 : head.lastIndexOf(" ");
  if (end <= 0) {
    const next = rest.slice(0, longestWord).search(/\s/);
    return next > 0 ? next : Math.min(rest.length, longestWord);
  }
  const value = valuesIn(rest.slice(0, longestValue)).find((one) => one.at < end && end < one.at + one.value.length);
  if (value === undefined || value.at + value.value.length >= longestValue) return end;
  return value.at > longLine / 3 ? value.at : value.at + value.value.length;
}

/** How a line stands: `empty` has only brackets and commas. */
interface Place {
  readonly indent: number;
  readonly form: "blank" | "empty" | "opens" | "closes" | "text";
  readonly startsObject: boolean;
}

function placeOf(line: string): Place {
  const trimmed = line.trim();
  const indent = line.length - line.trimStart().length;
  return { indent, form: formOf(trimmed), startsObject: (trimmed === "{" || trimmed === "[") && indent > 0 };
}

function formOf(trimmed: string): Place["form"] {
  if (trimmed === "") return "blank";
  if (!/^[\s{}[\](),;]*$/.test(trimmed)) return "text";
  if (/^[}\])]/.test(trimmed)) return "closes";
  return /^[{[(]$/.test(trimmed) ? "opens" : "empty";
}

/** A blank line, or one that opens an object beside the one before. */
function startsBlock({ form, startsObject }: Place): boolean {
  return form === "blank" || startsObject;
}

/** For each line the lines that it belongs with, told the other way round. */
function surroundings(placed: readonly Place[]): Around {
  const ties = createTies(placed.length);
  placed.forEach(({ form, indent }, number) => {
    if (form !== "text") return;
    let level = indent;
    for (let at = number - 1, seen = 0; at >= 0 && number - at <= farthestAbove && seen < mostAbove; at -= 1) {
      const above = placed[at]!;
      if (above.form === "blank") break;
      if (above.form !== "text") {
        // The end of a neighbour is no end of what this line belongs to; its own opening is, once there is something.
        if (above.form !== "empty" && above.indent < level) break;
        continue;
      }
      seen += 1;
      if (above.indent > level && level > 0) continue;
      level = Math.min(level, above.indent);
      ties.above(number, at);
    }
    for (let at = number + 1; at < placed.length && at - number <= farthestBelow; at += 1) {
      const below = placed[at]!;
      if (below.form === "blank" || below.indent < indent) break;
      if (below.form === "text") ties.below(number, at, indent > 0 && below.indent === indent);
    }
  });
  return aroundOf(ties);
}
