import { stem } from "./stem.ts";
import { englishOf } from "./thesaurus.ts";

const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;

/**
 * The words of a text as stems, in order. `createIssue` and `create_issue` are the same two. Chinese and Japanese have no
 * spaces: such a run gives its pairs of characters, and the English for what of it the glossary knows.
 */
export function wordsOf(text: string): string[] {
  const found: string[] = [];
  const plain = text.normalize("NFKC");
  const spaced = plain
    .replaceAll(cjk, (run) => {
      found.push(...pairsOf(run), ...englishOf(run));
      return " ";
    })
    .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .replaceAll(/['’]s?\b/g, " ");
  for (const word of spaced.split(/[^\p{L}\p{N}]+/u)) if (word !== "") found.push(stem(word));
  return found;
}

function pairsOf(run: string): string[] {
  const letters = [...run];
  return letters.length === 1 ? letters : letters.slice(1).map((letter, index) => letters[index]! + letter);
}

/** Articles and the like that stand between words which belong together. */
const joints = new Set([
  "the",
  "a",
  "an",
  "of",
  "to",
  "for",
  "in",
  "on",
  "with",
  "and",
  "or",
  "by",
  "from",
  "is",
  "that",
  "this",
  "it",
  "as",
  "at",
  "be",
]);

/** The words, and each two in a row as one more. */
export function withPairs(words: readonly string[]): string[] {
  const full = words.filter((word) => !joints.has(word));
  return [...words, ...full.slice(1).map((word, at) => pairOf(full[at]!, word))];
}

export function pairOf(first: string, second: string): string {
  return `${first} ${second}`;
}

export function isPair(word: string): boolean {
  return word.includes(" ");
}
