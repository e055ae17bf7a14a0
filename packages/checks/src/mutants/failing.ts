import { nameOf } from "../paths.ts";
import type { Unit } from "../tests/units.ts";

const fails = /\b(?:FAIL(?:ED|URE)?|ERROR|not ok|failed|panicked)\b|[✖✗✘×✕●]|^\s*\d+\)\s|^_{3,} /;
/** A name that is filled in is known by its longest piece. */
const filled = /\$\{[^}]*\}|[%$#]\w+|%[sdifjoOc%]|\\./;
const leastWords = 3;
const mostLines = 500;

/** The lines of a failed run that say what failed. */
export function failingLines(output: string): string {
  return output
    .split(/\r?\n/)
    .filter((line) => fails.test(line))
    .slice(0, mostLines)
    .join("\n");
}

/** The tests that these lines name; one whose name is a part of another's only where that one doesn't fit better. */
export function failedIn<T extends Pick<Unit, "name">>(lines: string, tests: readonly T[]): T[] {
  const known = tests.flatMap((test) => {
    const words = wordsOf(test.name);
    return words === "" ? [] : [{ test, words, pattern: new RegExp(`(?<!\\w)${escaped(words)}(?!\\w)`) }];
  });
  const failed = new Set<T>();
  for (const line of lines.split("\n")) {
    const fitting = known.filter(({ words, pattern }) => line.includes(words) && pattern.test(line));
    const longest = Math.max(0, ...fitting.map(({ words }) => words.length));
    for (const { test, words } of fitting) if (words.length === longest) failed.add(test);
  }
  return tests.filter((test) => failed.has(test));
}

function wordsOf(name: string): string {
  const pieces = name.replace(/^["'`]|["'`]$/g, "").split(filled);
  const longest = pieces.toSorted((a, b) => b.length - a.length)[0]?.trim() ?? "";
  return longest.length < leastWords && pieces.length > 1 ? "" : longest;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

export function namesFile(lines: string, path: string): boolean {
  const name = escaped(nameOf(path));
  const module = path.endsWith(".py") ? `|(?<![\\w/])${nameOf(path).slice(0, -3)}(?![\\w])` : "";
  return new RegExp(`(?<![\\w-])${name}(?![\\w-])${module}`).test(lines);
}
