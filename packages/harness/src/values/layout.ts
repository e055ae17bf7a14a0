/** Lines longer than this are laid out anew where they are JSON, and else cut between words. Nothing within a word changes. */
const longLine = 400;
const longestWord = 1_000;

/** A line of a text, and the lines that it belongs with: the nearest first, each with how much it has to do with this one. */
export interface PlacedLine {
  readonly text: string;
  /** Lines that belong together by blank lines and indentation have the same block. */
  readonly block: number;
  readonly near: readonly { readonly line: number; readonly weight: number }[];
}

const farthest = 10;
const mostAbove = 14;

/**
 * A text as lines, each with its surroundings: a log's line stands for itself, a field of an object belongs with the other
 * fields, a value under a heading with the heading.
 */
export function layOut(text: string): PlacedLine[] {
  const lines = text.split("\n").flatMap(pieces);
  const indents = lines.map(indentOf);
  let block = 0;
  return lines.map((line, number) => {
    if (number > 0 && startsBlock(lines, indents, number)) block += 1;
    return { text: line.trim(), block, near: line.trim() === "" ? [] : surroundings(lines, indents, number) };
  });
}

function pieces(line: string): string[] {
  if (line.length <= longLine) return [line];
  const trimmed = line.trim();
  if (/^[[{]/.test(trimmed)) return spread(trimmed).flatMap(cut);
  return cut(line);
}

/** JSON text with a line for each field; strings stay as they are. */
function spread(json: string): string[] {
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
    const head = rest.slice(0, longLine);
    const sentence = Math.max(head.lastIndexOf(". "), head.lastIndexOf("; "));
    let end = sentence > longLine / 3 ? sentence + 1 : head.lastIndexOf(" ");
    if (end <= 0) {
      const next = rest.slice(0, longestWord).search(/\s/);
      end = next > 0 ? next : Math.min(rest.length, longestWord);
    }
    found.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...found, rest];
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function isEmpty(line: string): boolean {
  return /^[\s{}[\](),;]*$/.test(line);
}

/** A blank line, or one that opens an object beside the one before. */
function startsBlock(lines: readonly string[], indents: readonly number[], number: number): boolean {
  if (lines[number]!.trim() === "") return true;
  return /^\s*[{[]\s*$/.test(lines[number]!) && indents[number]! > 0;
}

function surroundings(lines: readonly string[], indents: readonly number[], number: number): { line: number; weight: number }[] {
  const near: { line: number; weight: number }[] = [];
  let level = indents[number]!;
  for (let at = number - 1, seen = 0; at >= 0 && seen < mostAbove; at -= 1) {
    const line = lines[at]!;
    if (line.trim() === "") break;
    if (isEmpty(line)) {
      // The end of a neighbour is no end of what this line belongs to; its own opening is, once there is something.
      if (/^\s*[}\])]/.test(line) && indents[at]! < level) break;
      if (/^\s*[{[(]\s*$/.test(line) && indents[at]! < level) break;
      continue;
    }
    seen += 1;
    if (indents[at]! > level && level > 0) continue;
    level = Math.min(level, indents[at]!);
    near.push({ line: at, weight: Math.max(0.3, 0.9 - 0.03 * (number - at)) });
  }
  const isIndented = indents[number]! > 0;
  for (let at = number + 1; at < lines.length && at - number <= farthest; at += 1) {
    const line = lines[at]!;
    if (line.trim() === "" || indents[at]! < indents[number]!) break;
    if (isEmpty(line)) continue;
    near.push({ line: at, weight: isIndented && indents[at] === indents[number] ? 0.6 : 0.25 });
  }
  return near;
}
