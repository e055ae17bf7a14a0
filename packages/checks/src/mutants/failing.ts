import { nameOf } from "../paths.ts";
import type { Unit } from "../tests/units.ts";

const fails = /\b(?:FAIL(?:ED|URE)?|ERROR|not ok|failed|panicked)\b|[✖✗✘×✕●]|^\s*\d+\)\s|^_{3,} /;
/** A name that is filled in is known by its longest piece. */
const filled = /\$\{[^}]*\}|[%$#]\w+|%[sdifjoOc%]|\\./;
const leastWords = 3;

/** The lines of a failed run that say what failed. */
export function failingLines(output: string): string {
  return output
    .split(/\r?\n/)
    .filter((line) => fails.test(line))
    .join("\n");
}

/** Whether these lines name a test. */
export function names(lines: string, { name }: Pick<Unit, "name">): boolean {
  const pieces = name.replace(/^["'`]|["'`]$/g, "").split(filled);
  const piece = pieces.toSorted((a, b) => b.length - a.length)[0]?.trim() ?? "";
  if (piece.length < leastWords && pieces.length > 1) return false;
  const escaped = piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return piece !== "" && new RegExp(`(?<!\\w)${escaped}(?!\\w)`).test(lines);
}

export function namesFile(lines: string, path: string): boolean {
  const name = nameOf(path).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const module = path.endsWith(".py") ? `|(?<![\\w/])${nameOf(path).slice(0, -3)}(?![\\w])` : "";
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])${module}`).test(lines);
}
