import { closing, isOpening } from "../tests/tokens.ts";
import type { Token } from "../tests/token.ts";

/** Indices of tokens, the last one excluded. */
export type Range = readonly [from: number, end: number];

const python = /\.py$/;
const perl = /\.(?:pl|pm|t)$/;

/** Each argument of a call, or row of a list. */
export function argumentsIn(tokens: readonly Token[], open: number): Range[] {
  const end = closing(tokens, open) - 1;
  const found: Range[] = [];
  let from = open + 1;
  for (let at = from; at < end; at = behind(tokens, at)) {
    if (tokens[at]?.text !== "," || tokens[at]?.isString === true) continue;
    found.push([from, at]);
    from = at + 1;
  }
  return from < end ? [...found, [from, end]] : found;
}

export interface Comparison {
  readonly left: Range;
  readonly right: Range;
  /** `==`, and not `!=`. */
  readonly isEqual: boolean;
}

/** What is compared for equality in a range. */
export function comparisons(path: string, tokens: readonly Token[], [from, end]: Range): Comparison[] {
  const found: Comparison[] = [];
  let start = from;
  for (let at = from; at < end; at = behind(tokens, at)) {
    const length = operatorAt(path, tokens, at);
    if (length === 0) {
      if (isBoundary(tokens, at)) start = at + 1;
      continue;
    }
    let stop = at + length;
    while (stop < end && !isBoundary(tokens, stop) && operatorAt(path, tokens, stop) === 0) stop = behind(tokens, stop);
    found.push({ left: [start, at], right: [at + length, Math.min(stop, end)], isEqual: /^(?:=|eq)$/.test(tokens[at]?.text ?? "") });
    at = stop - 1;
  }
  return found;
}

/** Whether a word that joins conditions stands in a range, in no bracket. */
export function isJoined(tokens: readonly Token[], [from, end]: Range, word: RegExp): boolean {
  for (let at = from; at < end; at = behind(tokens, at))
    if (tokens[at]?.isString === false && word.test(tokens[at]?.text ?? "")) return true;
  return false;
}

/** The next token that stands in no bracket that begins here. */
function behind(tokens: readonly Token[], at: number): number {
  const token = tokens[at];
  return token !== undefined && isOpening(token) ? closing(tokens, at) : at + 1;
}

/** How many signs `==`, `!=`, `===`, `eq` have, where one begins here. */
function operatorAt(path: string, tokens: readonly Token[], at: number): number {
  const [one, two, three] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (one === undefined || one.isString) return 0;
  if (perl.test(path) && /^(?:eq|ne)$/.test(one.text)) return 1;
  if (!/^[=!]$/.test(one.text) || two?.text !== "=" || two.at !== one.at + 1) return 0;
  return three?.text === "=" && three.at === two.at + 1 ? 3 : 2;
}

function isBoundary(tokens: readonly Token[], at: number): boolean {
  const { text = "", isString = false } = tokens[at] ?? {};
  return !isString && /^(?:and|or|if|unless|else|is|in|[,;?&|:])$/.test(text);
}

export function lineStart(tokens: readonly Token[], at: number): number {
  let start = at;
  while (start > 0 && (tokens[start]?.indent ?? null) === null) start -= 1;
  return start;
}

export function lineEnd(tokens: readonly Token[], at: number): number {
  let end = at;
  while (end < tokens.length && (end === at || (tokens[end]?.indent ?? null) === null)) end = behind(tokens, end);
  return end;
}

/** Where the condition of an `assert` ends: before its message, or with its line. */
export function expressionEnd(path: string, tokens: readonly Token[], from: number): number {
  for (let at = from; at < tokens.length; at = behind(tokens, at)) {
    const { text = "", isString = false, indent = null } = tokens[at] ?? {};
    if (at > from && python.test(path) && indent !== null) return at;
    if (!isString && (text === (python.test(path) ? "," : ":") || text === ";")) return at;
  }
  return tokens.length;
}

/** Where the condition of an `if` without brackets ends. */
export function conditionEnd(path: string, tokens: readonly Token[], from: number): number {
  const end = python.test(path) ? ":" : "{";
  for (let at = from; at < tokens.length; at = behind(tokens, at)) {
    const { text = "", isString = false, indent = null } = tokens[at] ?? {};
    if (!isString && (text === end || text === ";" || (at > from && indent !== null))) return at;
  }
  return tokens.length;
}

const fails =
  /^\s*(?:[)\]:{]\s*)*(?:\w[^\n;{}]*[\n;]\s*)?(?:throw|raise|die|abort|panic!?|(?:process|sys|os|System)\s*\.\s*exit|exit|t\s*\.\s*(?:Error|Fatal|Fail)\w*|fail\w*|return\s+(?:1|-1|false|False|EXIT_FAILURE)|process\.exitCode|status)\b/;

/** Whether what is done where a condition holds begins with a failure. */
export function failsIn(text: string, tokens: readonly Token[], end: number): boolean {
  const from = tokens[end]?.at;
  return from !== undefined && fails.test(text.slice(from, from + 400));
}
