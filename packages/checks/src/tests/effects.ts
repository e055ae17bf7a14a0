import { endOf, isClosing, isName, isOpeningWord, isText } from "./words.ts";

/** The words of a file as it was, and how its language passes arguments. */
export interface Known {
  readonly words: ReadonlySet<string>;
  /** Whether `f(a=1)` names an argument and assigns nothing. */
  readonly hasKeywords: boolean;
}

const keywords = /\.(?:pyi?|kts?|scala|jl|R)$/;

export function knownIn(path: string, words: Iterable<string>): Known {
  return { words: new Set(words), hasKeywords: keywords.test(path) };
}

/** Methods that change what they are called on. */
const mutators = /^(?:pop|popitem|push|shift|unshift|splice|sort|reverse|fill|copyWithin|clear|setdefault|append|extend|insert)$/;
/** Those that are often asked of what a call has only just made. */
const orders = /^(?:sort|reverse|fill)$/;
/** What tests are written with, which nothing but a test needs. */
const tools = /^(?:expect|assert|vi|jest|monkeypatch)$/;
const setters = /^(?:assign|define(?:Property|Properties)|setPrototypeOf|set|deleteProperty)$/;

/** Whether words change what the file had before: by an assignment, or by a method that is known to. `from`: behind a declaration. */
export function changesKnown(words: readonly string[], from: number, known: Known): boolean {
  const has = (word: string | undefined): boolean => isName(word) && known.words.has(word ?? "");
  for (let at = from; at < words.length; at += 1) {
    const [before, word = "", next] = [words[at - 1], words[at], words[at + 1]];
    if (before === "." && mutators.test(word) && isOfKnown(words, at - 2, has, orders.test(word))) return true;
    if (/^(?:Object|Reflect)$/.test(word) && next === "." && setters.test(words[at + 2] ?? "") && has(words[at + 4])) return true;
    if (tools.test(word) && /^[(,]$/.test(before ?? "") && /^[),]$/.test(next ?? "")) return true;
    if (/^(?:delete|del)$/.test(word) && has(next)) return true;
    if (word === "=" && assigns(words, at) && !isArgument(words, at, known) && isAway(words, targetOf(words, at), has)) return true;
    if (/^[+-]$/.test(word) && next === word && counts(words, at) && (has(before) || has(words[at + 2]))) return true;
  }
  return false;
}

function assigns(words: readonly string[], at: number): boolean {
  return !/^[=>~]$/.test(words[at + 1] ?? "") && !/^[=!<>~]$/.test(words[at - 1] ?? "");
}

/** The last word of what is assigned to; the sign of `+=` is none. */
function targetOf(words: readonly string[], at: number): number {
  let target = at - 1;
  while (target > 0 && /^[-+*/%&|^?:]$/.test(words[target] ?? "")) target -= 1;
  return target;
}

/** What a name stands for may be known by another, so that a part of anything counts. */
function isAway(words: readonly string[], target: number, has: (word: string | undefined) => boolean): boolean {
  return words[target - 1] === "." || isOfKnown(words, target, has, false);
}

function isArgument(words: readonly string[], at: number, known: Known): boolean {
  return known.hasKeywords && /^[(,]$/.test(words[at - 2] ?? "");
}

/** `a++` or `--a`; in `a - -1` another value follows. */
function counts(words: readonly string[], at: number): boolean {
  const isLeft = isName(words[at - 1]) || isClosing(words[at - 1]);
  const isRight = words[at + 2] !== undefined && !isClosing(words[at + 2]) && words[at + 2] !== ",";
  return isLeft !== isRight;
}

/** Whether what ends at a word is, or may be, a part of something that the file had. */
function isOfKnown(words: readonly string[], end: number, has: (word: string | undefined) => boolean, isFreshByCall: boolean): boolean {
  let at = end;
  for (;;) {
    if (isClosing(words[at])) {
      const open = openOf(words, at);
      const before = words[open - 1];
      const isCall = words[at] === ")" && (isName(before) || isClosing(before));
      if (isCall) return !isFreshByCall;
      // A list or a group of its own.
      if (!isName(before) && !isClosing(before)) return words[at] === ")" && words.slice(open, at).some(has);
      at = open - 1;
    } else if (words[at - 1] === "." && at >= 2) at -= 2;
    else return has(words[at]);
  }
}

function openOf(words: readonly string[], end: number): number {
  let depth = 0;
  for (let at = end; at >= 0; at -= 1) {
    if (isClosing(words[at])) depth += 1;
    else if (isOpeningWord(words[at]) && (depth -= 1) === 0) return at;
  }
  return 0;
}

const modifiers = /^(?:export|const|let|var|val|final|auto|my|our|static|readonly|local|public|private|protected|internal|mut|lazy)$/;

/** The names that a declaration gives to something, and where its value begins. */
export function declaredBy(words: readonly string[]): { readonly names: readonly string[]; readonly value: number } | null {
  let at = 0;
  while (modifiers.test(words[at] ?? "")) at += 1;
  const names: string[] = [];
  if (isOpeningWord(words[at])) {
    const end = endOf(words, at);
    const inside = words.slice(at, end);
    if (!inside.every((word) => isName(word) || isText(word) || /^(?:[,.:*&]|[[\](){}])$/.test(word))) return null;
    if (inside.some((word, index) => word === "(" && isName(inside[index - 1]))) return null;
    names.push(...inside.filter(isName));
    at = end;
  } else {
    const sign = words.findIndex((word, index) => index >= at && word === "=" && assigns(words, index));
    const before = sign < 0 ? [] : words.slice(at, sign);
    const name = nameIn(before);
    if (name === null) return null;
    names.push(...name);
    at = sign;
  }
  while (words[at] === ":") at += 1;
  return words[at] === "=" && assigns(words, at) ? { names, value: at + 1 } : null;
}

/** `a`, `a, b`, `a: T`, `T a`, `List<T> a`, `$a`, `@a`. */
function nameIn(words: readonly string[]): string[] | null {
  const colon = words.at(-1) === ":" ? words.slice(0, -1) : words;
  const one = colon[0] === "@" || colon[0] === "%" ? colon.slice(1) : colon;
  if (!isName(one[0])) return null;
  if (one.length === 1 || one[1] === ":") return one.slice(0, 1);
  if (one.every((word, index) => (index % 2 === 0 ? isName(word) : word === ","))) return one.filter(isName);
  const isType = one.slice(0, -1).every((word) => isName(word) || /^[<>,.[\]?&*]$/.test(word)) && one.at(-2) !== ".";
  return isType && isName(one.at(-1)) ? one.slice(-1) : null;
}
