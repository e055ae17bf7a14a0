import type { Token } from "../tests/token.ts";
import type { Edit } from "./edit.ts";

/** What only wraps a value. */
const wraps =
  /^(?:[rbfuRBFU]{1,2}|Some|Ok|Err|vec|Vec|String|from|to_string|to_owned|into|of|List|Set|Map|Optional|Arrays|asList|Decimal|BigInt|BigDecimal|BigInteger|list|set|tuple|frozenset|dict|int|float|str|bytes|Buffer|Number|pytest|approx|new|nil|int32|int64|string|float64|f64|f32|i32|i64|u32|u64|usize)$/;
const characters = /\.(?:cc?|cpp|java|go|rs|cs|kts?|scala|swift)$/;

/** An edit by which a value of the test's own becomes another one; null where something else than a value stands there. */
export function changedValue(path: string, text: string, tokens: readonly Token[]): Edit | null {
  const isKey = (index: number): boolean => tokens[index + 1]?.text === ":" && tokens[index + 1]?.isString === false;
  const isOther = tokens.some(
    ({ text: word, isString }, index) =>
      !isString && /^[A-Za-z_$]/.test(word) && !wraps.test(word) && other(path, word) === null && !isKey(index),
  );
  if (isOther || tokens.length === 0) return null;
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token === undefined || isKey(index)) continue;
    const own = text.slice(token.at, token.at + token.text.length);
    const changed = token.isString ? otherString(path, own) : /^\d/.test(own) ? otherNumber(own) : other(path, own);
    if (changed !== null) return { from: token.at, end: token.at + own.length, text: changed };
  }
  return null;
}

function other(path: string, word: string): string | null {
  const words: Readonly<Record<string, string>> = { true: "false", false: "true", True: "False", False: "True" };
  if (Object.hasOwn(words, word)) return words[word] ?? null;
  return /\.(?:[cm]?[jt]sx?|vue|svelte|py)$/.test(path) && /^(?:null|undefined|None)$/.test(word) ? '"~"' : null;
}

export function otherNumber(word: string): string {
  if (/^0[\dxXbBoO_]/.test(word)) return `${word}0`;
  return word.replace(/^\d+/, (digits) => (BigInt(digits) + 1n).toString());
}

/** Of what is in quotes, or an expression between slashes. */
export function otherString(path: string, literal: string): string | null {
  const [, open = "", content = ""] = /^(\w*#*(?:"""|'''|["'`/]))([\s\S]*)$/.exec(literal) ?? [];
  if (open === "") return null;
  if (open.endsWith("'") && characters.test(path)) return content.startsWith("\\") ? null : `'${content.startsWith("x") ? "y" : "x"}'`;
  if (/^\d+(?=["'`]$)/.test(content)) return `${open}${otherNumber(content)}`;
  return `${open}~${content}`;
}
