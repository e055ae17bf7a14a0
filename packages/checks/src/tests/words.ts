import { plainText } from "./tokens.ts";
import type { Token } from "./token.ts";

/** What a piece of a program says, as it is compared. */
export interface Said {
  readonly text: string;
  /** Its words and signs; a string is one word, and begins with a double quote. */
  readonly words: readonly string[];
}

const closes = new Set([")", "]", "}"]);
const opens = new Set(["(", "[", "{"]);

export function asSaid(tokens: readonly Token[]): Said {
  const isSaid = ({ text, isString }: Token, index: number): boolean => {
    if (isString) return true;
    return text !== ";" && !(text === "," && (index === tokens.length - 1 || isClosing(tokens[index + 1]?.text)));
  };
  return { text: plainText(tokens), words: tokens.filter(isSaid).map(({ text, isString }) => (isString ? `"${text}` : text)) };
}

export function isText(word: string | undefined): boolean {
  return word?.startsWith('"') === true;
}

/** Without what its strings say; what a template computes stays. */
export function codeOf({ words }: Said): string {
  return words.map((word) => (!isText(word) ? word : word.startsWith('"`') ? word.slice(1) : '""')).join(" ");
}

export function isName(word: string | undefined): boolean {
  return word !== undefined && /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(word);
}

export function isOpeningWord(word: string | undefined): boolean {
  return word !== undefined && opens.has(word);
}

export function isClosing(word: string | undefined): boolean {
  return word !== undefined && closes.has(word);
}

/** The index right behind the bracket that closes the one at `from`. */
export function endOf(words: readonly string[], from: number, most = words.length): number {
  let depth = 0;
  for (let at = from; at < words.length && at < from + most; at += 1) {
    if (isOpeningWord(words[at])) depth += 1;
    else if (isClosing(words[at]) && (depth -= 1) <= 0) return at + 1;
  }
  return words.length;
}
