import { closing, tokensOf } from "../tests/tokens.ts";
import type { Token } from "../tests/token.ts";
import { argumentsIn, comparisons, conditionEnd, expressionEnd, failsIn, isJoined, lineEnd, lineStart, type Range } from "./ranges.ts";
import type { Edit, Sites } from "./edit.ts";
import { shellSites } from "./shell-sites.ts";
import { tableSites } from "./tables.ts";
import { changedValue } from "./values.ts";

/** Of these a value among the first two arguments is what the other must be equal to. */
const equalCalls =
  /^(?:assert(?:_?[Aa]lmost)?_?[Ee]q(?:ual)?s?|assert(?:List|Dict|Set|Tuple|Sequence|MultiLine|Count|Array|Deep|Strict)Equals?|assertSame|assert_(?:same|almost_equal|array_equal)|equals?|strictEqual|deepEqual|deepStrictEqual|eql?|is_deeply|same|toBe|toEqual|toStrictEqual|toHaveLength|toBeCloseTo|toMatch|toMatchObject|isEqualTo|XCTAssertEqual|Equal|AreEqual|(?:EXPECT|ASSERT|CHECK|REQUIRE)_(?:EQ|STREQ))$/;
/** Of these the first argument must be true. */
const trueCalls = /^(?:assert|ok|assertTrue|assert_true|XCTAssert(?:True)?|True|EXPECT_TRUE|ASSERT_TRUE|CHECK|REQUIRE)$/;
/** Of these a text among the arguments decides whether they hold; of `isclose` a number does, too. */
const predicates = /^(?:search|match|fullmatch|startswith|endswith|startsWith|endsWith|includes|contains|toContain)$/;
/** Holds where its arguments differ. */
const differing = /^str(?:n|case)?cmp$/;

const python = /\.py$/;
const perl = /\.(?:pl|pm|t)$/;
const script = /\.(?:[cm]?[jt]sx?|vue|svelte)$/;
/** Their conditions stand in no brackets. */
const bare = /\.(?:py|go|rs|swift|rb|exs?)$/;
const statement = /\.(?:py|java|kts?|groovy|scala)$/;

export function sitesIn(path: string, text: string): Sites {
  if (/\.(?:sh|bash|zsh|bats)$/.test(path)) return shellSites(text);
  const tokens = tokensOf(path, text);
  const values: Edit[] = [];
  const turns: Edit[] = [];
  const change = ([from, end]: Range): boolean => {
    const edit = changedValue(path, text, tokens.slice(from, end));
    return edit !== null && values.push(edit) > 0;
  };
  const isText = ([from, end]: Range): boolean =>
    tokens.slice(from, end).every(({ isString, text: word }) => isString || /^[rbf]$/.test(word));
  for (let at = 0; at < tokens.length; at += 1) {
    const condition = conditionAt(path, text, tokens, at);
    if (condition !== null) {
      for (const sides of expectedIn(path, tokens, condition)) sides.find(change);
      turns.push(...turned(path, tokens, condition));
      at = Math.max(at, condition.range[1] - 1);
      continue;
    }
    const call = callAt(tokens, at);
    if (call === null) continue;
    const { word, open } = call;
    const isNot = tokens[at - 1]?.text === "." && tokens[at - 2]?.text === "not";
    const args = argumentsIn(tokens, open).slice(0, 2);
    const isEqual = equalCalls.test(word) || (word === "is" && (perl.test(path) || tokens[at - 1]?.text === "."));
    const isContained = predicates.test(word) && args.every(isText) && tokens[at - 1]?.text === ".";
    const isChanged = (isEqual || (word === "toContain" && isContained)) && !isNot && args.toReversed().some(change);
    if (!isChanged) turns.push(...failing(path, tokens, at));
  }
  return { values: [...values, ...tableSites(path, text, tokens)], turns };
}

/** What an assertion, or a failure, hangs on. */
interface Condition {
  readonly range: Range;
  /** It must hold; else it must not. */
  readonly holds: boolean;
}

/** Ranges of which one holds what is expected, and without which the condition would be the other way round. */
function expectedIn(path: string, tokens: readonly Token[], condition: Condition): Range[][] {
  const isNot = /^(?:not|!)$/.test(tokens[condition.range[0]]?.text ?? "");
  const holds = condition.holds !== isNot;
  const range: Range = [condition.range[0] + (isNot ? 1 : 0), condition.range[1]];
  // With the other part of it, it may be as it was.
  if (isJoined(tokens, range, holds ? /^(?:or|\|)$/ : /^(?:and|&)$/)) return [];
  const compared = comparisons(path, tokens, range);
  const equal = compared.filter(({ isEqual }) => isEqual === holds);
  const found: Range[][] = [];
  for (let at = range[0]; at < range[1]; at += 1) {
    const call = callAt(tokens, at);
    if (call === null) continue;
    const args = argumentsIn(tokens, call.open);
    const texts = args.filter(([from, end]) => tokens.slice(from, end).some(({ isString }) => isString)).map((arg) => [arg]);
    if (predicates.test(call.word) && holds && compared.length === 0) found.push(...texts);
    else if (call.word === "isclose" && holds) found.push(args.slice(0, 2));
    else if (differing.test(call.word) && (compared.length === 0 ? !holds : equal.length > 0)) found.push(...texts);
    else if (
      /^f?abs$/.test(call.word) &&
      tokens.slice(closing(tokens, call.open), range[1]).some((one) => one.text === (holds ? "<" : ">"))
    )
      found.push(...args.filter(([, end]) => tokens[end - 2]?.text === "-").map(([, end]): Range[] => [[end - 1, end]]));
    at = closing(tokens, call.open) - 1;
  }
  return found.length > 0 ? found : equal.map(({ left, right }) => [right, left]);
}

function callAt(tokens: readonly Token[], at: number): { readonly word: string; readonly open: number } | null {
  const { text: word = "", isString = true } = tokens[at] ?? {};
  const open = tokens[at + 1]?.text === "!" ? at + 2 : at + 1;
  const isCall = !isString && /^[A-Za-z_$]/.test(word) && tokens[open]?.text === "(" && !tokens[open].isString;
  return !isCall || /^(?:def|function|fn|func|fun|sub|void)$/.test(tokens[at - 1]?.text ?? "") ? null : { word, open };
}

function conditionAt(path: string, text: string, tokens: readonly Token[], at: number): Condition | null {
  const { text: word = "", isString = true } = tokens[at] ?? {};
  if (isString) return null;
  const call = callAt(tokens, at);
  if (word === "assert" && tokens[at - 1]?.text !== "." && statement.test(path) && (call === null || python.test(path)))
    return { range: [at + 1, expressionEnd(path, tokens, at + 1)], holds: true };
  if (call !== null && trueCalls.test(word)) {
    const [range] = argumentsIn(tokens, call.open);
    return range === undefined ? null : { range, holds: true };
  }
  if (word === "if" || (word === "elif" && python.test(path)) || (word === "unless" && perl.test(path))) {
    const isBare = bare.test(path) || tokens[at + 1]?.text !== "(";
    const range: Range = isBare ? [at + 1, conditionEnd(path, tokens, at + 1)] : [at + 2, closing(tokens, at + 1) - 1];
    return failsIn(text, tokens, range[1]) ? { range, holds: word === "unless" } : null;
  }
  return word === "die" && perl.test(path) ? dying(tokens, at) : null;
}

/** `die "…" unless $got == 3`, `$got == 3 or die "…"`. */
function dying(tokens: readonly Token[], at: number): Condition | null {
  const end = lineEnd(tokens, at);
  const behind = tokens.findIndex(({ text, isString }, index) => index > at && index < end && !isString && /^(?:if|unless)$/.test(text));
  if (behind >= 0) return { range: [behind + 1, end], holds: tokens[behind]?.text === "unless" };
  const isOr = /^(?:or|\|)$/.test(tokens[at - 1]?.text ?? "");
  return isOr ? { range: [lineStart(tokens, at), tokens[at - 1]?.text === "|" ? at - 2 : at - 1], holds: true } : null;
}

function turned(path: string, tokens: readonly Token[], { range: [from, end] }: Condition): Edit[] {
  const [first, last] = [tokens[from], tokens[end - 1]];
  if (first === undefined || last === undefined || from >= end) return [];
  const stop = last.at + last.text.length;
  return [
    { from: first.at, end: first.at, text: python.test(path) ? "not (" : "!(" },
    { from: stop, end: stop, text: ")" },
  ];
}

/** An assertion with nothing in it that could be changed becomes one that fails, or is turned round. */
function failing(path: string, tokens: readonly Token[], at: number): Edit[] {
  const token = tokens[at];
  if (token === undefined) return [];
  const { text: word } = token;
  const replaced = (by: string): Edit[] => [{ from: token.at, end: token.at + word.length, text: by }];
  const isMember = tokens[at - 1]?.text === ".";
  if (script.test(path) && word === "expect" && !isMember) return negated(tokens, at);
  if (script.test(path) && isMember && /^(?:assert|chai)$/.test(tokens[at - 2]?.text ?? "")) return replaced("fail");
  if (python.test(path) && isMember && /^(?:assert\w+|raises|warns)$/.test(word)) return replaced("fail");
  if (path.endsWith(".rs") && /^assert_(?:eq|ne)$/.test(word)) return replaced(word === "assert_eq" ? "assert_ne" : "assert_eq");
  if (perl.test(path) && /^(?:is|like)$/.test(word)) return replaced(word === "is" ? "isnt" : "unlike");
  return [];
}

/** `expect(x).toBe(y)` as `expect(x).not.toBe(y)`. */
function negated(tokens: readonly Token[], at: number): Edit[] {
  const next = closing(tokens, at + 1);
  const behind = /^(?:resolves|rejects)$/.test(tokens[next + 1]?.text ?? "") ? tokens[next + 1] : tokens[next - 1];
  if (behind === undefined || tokens[next]?.text !== "." || tokens.slice(next, next + 6).some(({ text }) => text === "not")) return [];
  const stop = behind.at + behind.text.length;
  return [{ from: stop, end: stop, text: ".not" }];
}
