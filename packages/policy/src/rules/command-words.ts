import type { SimpleCommand, ShellWord } from "../shell/command.ts";
import { programOf } from "../shell/command.ts";
import { parseCommand } from "../shell/parse.ts";
import { matchesWildcard } from "./wildcard.ts";

/**
 * How a rule's words are meant. `exact`: these words and no more. `prefix`: the command begins with them. `glob`: as a
 * prefix, and `*` in a word stands for any text within that word; a last word `*` for one word or more.
 */
export const wordsMatches = ["prefix", "glob", "exact"] as const;
export type WordsMatch = (typeof wordsMatches)[number];

export interface CommandPattern {
  readonly words: readonly string[];
  readonly match: WordsMatch;
}

/** `maybe`: a word that only a run can tell may make it one. */
export type Matched = "yes" | "maybe" | "no";

/** The words of one simple command as a person writes it, with a shell's quotes; null where it is anything else. */
export function readPattern(text: string, match: WordsMatch): CommandPattern | null {
  const { commands, problems } = parseCommand(text);
  const [command, ...inner] = commands;
  if (command === undefined || command.words.length === 0 || inner.some(({ via }) => via.length === 0)) return null;
  if (problems.some(({ kind }) => kind === "syntax" || kind === "hidden_characters" || kind === "too_complex")) return null;
  if (command.assignments.length > 0 || command.redirects.length > 0 || command.isBackground) return null;
  const words = command.words.map((word) => (match === "glob" ? word.pattern : word.literal));
  return words.includes(null) ? null : { words: words as string[], match };
}

/**
 * Whether a command is, or may be, what a rule that restricts speaks of. Options may stand anywhere, and before the words,
 * with a value each: `git -C sub push origin -f` is a `git push -f`. The program counts wherever it lies.
 */
export function mentions({ words, match }: CommandPattern, command: SimpleCommand): Matched {
  const [program, ...rest] = words;
  const first = command.words[0];
  if (first === undefined || program === undefined) return "no";
  const name = program.includes("/") ? first.literal : programOf(command.words);
  const found = name === null ? "maybe" : sameWord(program, name, match) ? "yes" : "no";
  if (
    found === "no" ||
    (found === "maybe" && first.guesses.length > 0 && !first.guesses.some((guess) => sameProgram(program, guess, match)))
  )
    return "no";
  const after = mentionsRest(rest, command.words.slice(1), match);
  return after === "yes" && found === "maybe" ? "maybe" : after;
}

function sameProgram(pattern: string, guess: string, match: WordsMatch): boolean {
  return sameWord(pattern, pattern.includes("/") ? guess : guess.slice(guess.lastIndexOf("/") + 1), match);
}

function mentionsRest(pattern: readonly string[], words: readonly ShellWord[], match: WordsMatch): Matched {
  if (match === "exact") {
    const differs = words.some((word, at) => word.literal !== null && word.literal !== pattern[at]);
    if (words.every((word) => word.literal !== null)) return words.length === pattern.length && !differs ? "yes" : "no";
    return differs ? "no" : "maybe";
  }
  const isUnknown = words.some((word) => word.literal === null);
  const options = pattern.filter(isOption);
  const has = (option: string) => words.some(({ literal }) => literal !== null && sameOption(option, literal, match));
  if (!options.every(has)) return isUnknown ? restUnknown(pattern, words, match) : "no";
  return positionals(
    pattern.filter((word) => !isOption(word)),
    words,
    match,
  );
}

/** An option is missing that an unknown word may hold. */
function restUnknown(pattern: readonly string[], words: readonly ShellWord[], match: WordsMatch): Matched {
  const found = positionals(
    pattern.filter((word) => !isOption(word)),
    words,
    match,
  );
  return found === "yes" ? "maybe" : found;
}

/**
 * The words that are no options, in order and without others between, but for the values that options before them may take.
 * `wanted` and `at` are where to begin in each.
 */
function positionals(pattern: readonly string[], words: readonly ShellWord[], match: WordsMatch, wanted = 0, at = 0): Matched {
  let best: Matched = "no";
  while (wanted < pattern.length) {
    const word = words[at];
    if (word === undefined) return best;
    if (word.literal === null) return "maybe";
    if (pattern[wanted] === "*" && match === "glob" && wanted === pattern.length - 1) return "yes";
    at += 1;
    if (!isOption(word.literal)) {
      if (!sameWord(pattern[wanted]!, word.literal, match)) return best;
      wanted += 1;
      continue;
    }
    const value = words[at]?.literal;
    if (value == null || isOption(value)) continue;
    if (sameWord(pattern[wanted]!, value, match)) {
      const straight = positionals(pattern, words, match, wanted + 1, at + 1);
      if (straight === "yes") return "yes";
      if (straight === "maybe") best = "maybe";
    }
    at += 1;
  }
  return "yes";
}

function isOption(word: string): boolean {
  return word.startsWith("-") && word !== "-" && word !== "--";
}

/** `--force` also as `--force=x`, `-f` also within `-xf`. */
function sameOption(pattern: string, word: string, match: WordsMatch): boolean {
  if (sameWord(pattern, word, match) || (pattern.startsWith("--") && word.startsWith(`${pattern}=`))) return true;
  return /^-\w$/.test(pattern) && /^-\w+$/.test(word) && word.includes(pattern.slice(1));
}

function sameWord(pattern: string, word: string, match: WordsMatch): boolean {
  return match === "glob" ? matchesWildcard(pattern, word) : pattern === word;
}

/**
 * The words behind a pattern, where a command surely begins with it: the same program under the same name, and every word
 * of the pattern known. Null where it doesn't.
 */
export function wordsBehind({ words: pattern, match }: CommandPattern, { words }: SimpleCommand): readonly ShellWord[] | null {
  if (match === "exact" && words.length !== pattern.length) return null;
  for (const [at, wanted] of pattern.entries()) {
    const word = words[at];
    if (word?.literal == null) return null;
    if (wanted === "*" && match === "glob" && at > 0 && at === pattern.length - 1) return words.slice(at);
    if (!sameWord(wanted, word.literal, match)) return null;
  }
  return words.slice(pattern.length);
}
