import { contextOf, headOf } from "./heads.ts";
import { type Line, linesOf } from "./lines.ts";
import { asSaid, type Said } from "./words.ts";
import { groupsOf, statementsOf } from "./statements.ts";
import { blocksOf } from "./languages.ts";
import { closing, isOpening, isTooDeep, plainText, tokensOf } from "./tokens.ts";
import type { Token } from "./token.ts";

/** A test, with what it asserts. */
export interface Unit {
  readonly name: string;
  /** What stands around it and decides whether and how it runs: conditions, loops, options and bases of its group. */
  readonly context: string;
  /** Options, annotations and tables. */
  readonly head: Said;
  readonly statements: readonly Said[];
  readonly group: Group;
  /** Where it stands in its file. */
  readonly from: number;
  readonly end: number;
}

/** What a file of tests says outside of them. */
export interface Other extends Said {
  readonly group: Group;
}

/** Tests that stand together, and what is said beside them. */
export interface Group {
  readonly outer: Group | null;
  /** With those of groups inside of it. */
  readonly units: Unit[];
  readonly others: Other[];
}

export interface TestsIn {
  readonly units: readonly Unit[];
  readonly others: readonly Other[];
}

/** The tests of a program by the forms of common runners, and what stands beside them. */
export function testsIn(path: string, text: string, tokens: readonly Token[] = tokensOf(path, text)): TestsIn {
  const found: Found = { units: [], others: [], isOpen: !path.endsWith(".cs") };
  const top = groupIn(null);
  if (isTooDeep(tokens)) addOther(asSaid(tokens), top, found);
  else if (blocksOf(path) === "indents") walkLines(linesOf(tokens), "", top, found);
  else walkTokens(tokens, "", top, found);
  return found;
}

interface Found {
  readonly units: Unit[];
  readonly others: Other[];
  readonly isOpen: boolean;
}

function groupIn(outer: Group | null): Group {
  return { outer, units: [], others: [] };
}

function addUnit(unit: Unit, found: Found): void {
  for (let group: Group | null = unit.group; group !== null; group = group.outer) group.units.push(unit);
  found.units.push(unit);
}

function addOther(one: Said, group: Group, found: Found): void {
  const other = { ...one, group };
  group.others.push(other);
  found.others.push(other);
}

const callers = /^(?:x|f)?(?:it|test|specify|scenario|example|subtest)$/;
const functions = new Set(["fn", "func", "fun", "function", "void", "Task", "def", "sub"]);
const testName = /^(?:[Tt]est(?!Main$)|Example|Fuzz)/;
const annotation = /^(?:\w*Test\w*|test|rstest|test_case|Fact|Theory|quickcheck)$/;
/** Words that stand between a test's name and its block, or are its types; each call would go through all that follow. */
const mostBetween = 200;

/** Whether a test is announced right at an index: `@Test`, `@org.junit.Test`, `#[tokio::test]`, `[Fact]`. */
function isAnnounced(tokens: readonly Token[], at: number): boolean {
  const { text, isString = true } = tokens[at] ?? {};
  if (isString || (text !== "@" && text !== "[")) return false;
  let last = at + 1;
  while (last < at + mostBetween && /^[.:]$/.test(tokens[last + 1]?.text ?? "")) last += tokens[last + 1]?.text === "." ? 2 : 3;
  return tokens[last]?.isString === false && annotation.test(tokens[last]?.text ?? "");
}

interface Place {
  readonly name: string;
  /** Of its words: where it begins, where its arguments do, and where it ends. */
  readonly start: number;
  readonly from: number;
  readonly end: number;
}

/** A test that is a call or a block with its name in quotes, right at `start`. */
function callAt(tokens: readonly Token[], start: number): Place | null {
  const { text = "", isString = true } = tokens[start] ?? {};
  if (isString || !callers.test(text) || [".", "function", "def", "fn", "sub"].includes(tokens[start - 1]?.text ?? "")) return null;
  let at = start + 1;
  for (;;) {
    if (tokens[at]?.text === ".") at += 2;
    else if (tokens[at]?.text === "[" && tokens[at + 1]?.isString === true) at += 3;
    else break;
    if (at > start + mostBetween) return null;
  }
  const isTable = at > start + 1;
  if (tokens[at]?.text === "<") at = behindTypes(tokens, at);
  if (isTable && tokens[at]?.text === "(" && tokens[closing(tokens, at)]?.text === "(") at = closing(tokens, at);
  else if (isTable && tokens[at]?.isString === true) at += 1;
  if (tokens[at]?.isString === true && at === start + 1) {
    const block = tokens.slice(at, at + mostBetween).findIndex(({ text }) => text === "{");
    return block < 0 ? null : { name: tokens[at]?.text ?? "", start, from: at, end: closing(tokens, at + block) };
  }
  if (tokens[at]?.text !== "(") return null;
  const first = tokens[at + 1];
  const name = first?.isString === true ? first.text : `(${first?.text ?? ""})`;
  return { name, start, from: at, end: closing(tokens, at) };
}

function behindTypes(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < Math.min(tokens.length, from + mostBetween); at += 1) {
    const text = tokens[at]?.text;
    if (text === "<") depth += 1;
    // The sign of a function's type closes nothing.
    else if (text === ">" && tokens[at - 1]?.text !== "=" && (depth -= 1) === 0) return at + 1;
  }
  return from;
}

/** The name of a function that is a test by its name or by what stands before it. */
function functionIn(tokens: readonly Token[]): string | null {
  let depth = 0;
  let isTest = false;
  for (const [index, { text, isString }] of tokens.entries()) {
    if (isString) continue;
    isTest ||= isAnnounced(tokens, index);
    if (text === "{" && depth === 0) return null;
    if (isOpening({ text, isString })) depth += 1;
    else if (/^[)\]}]$/.test(text)) depth -= 1;
    if (depth > 0 || !functions.has(text)) continue;
    const at = tokens[index + 1]?.text === "(" ? closing(tokens, index + 1) : index + 1;
    const name = tokens[at]?.text ?? "";
    if (tokens[at + 1]?.text !== "(" && tokens[at + 1]?.text !== "<") continue;
    return testName.test(name) || isTest ? name : null;
  }
  return null;
}

function hasUnits(tokens: readonly Token[]): boolean {
  return (
    tokens.some((_, index) => callAt(tokens, index) !== null) ||
    tokens.some(({ text }, index) => functions.has(text) && testName.test(tokens[index + 1]?.text ?? "")) ||
    tokens.some((_, index) => isAnnounced(tokens, index))
  );
}

/** What is found first at an index that stands in no bracket. */
function firstOutside<T>(tokens: readonly Token[], groups: ReturnType<typeof groupsOf>, find: (index: number) => T | null): T | null {
  let next = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    const found = find(at);
    if (found !== null) return found;
    const group = groups[next];
    if (group?.[0] !== at) continue;
    at = group[1] - 2;
    next += 1;
  }
  return null;
}

function walkTokens(tokens: readonly Token[], context: string, group: Group, found: Found): void {
  for (const statement of statementsOf(tokens)) {
    const groups = groupsOf(statement);
    const called = firstOutside(statement, groups, (index) => callAt(statement, index));
    const name = called === null ? functionIn(statement) : null;
    if (called !== null) {
      const around = joined(context, plainText(contextOf(statement.slice(0, called.start), found.isOpen)));
      const marks = [...statement.slice(called.start + 1, called.from), ...statement.slice(called.end)];
      addUnit(unitOf(called.name, around, statement.slice(called.from, called.end), marks, group, rangeOf(statement)), found);
    } else if (name !== null) {
      addUnit(unitOf(name, context, statement, [], group, rangeOf(statement)), found);
    } else {
      const inner = hasUnits(statement) ? groups.filter(([from, end]) => hasUnits(statement.slice(from + 1, end - 1))) : [];
      if (inner.length === 0) {
        if (statement.length > 0) addOther(asSaid(statement), group, found);
        continue;
      }
      const header = statement.filter((_, index) => !inner.some(([from, end]) => from <= index && index < end));
      const around = joined(context, plainText(contextOf(header, found.isOpen)));
      const isBlock = inner.some(([from]) => statement[from]?.text === "{");
      for (const [from, end] of inner) walkTokens(statement.slice(from + 1, end - 1), around, isBlock ? groupIn(group) : group, found);
    }
  }
}

interface Range {
  readonly from: number;
  readonly end: number;
}

function unitOf(name: string, context: string, tokens: readonly Token[], marks: readonly Token[], group: Group, range: Range): Unit {
  // A call's arguments stand in brackets of their own.
  const isCall = tokens[0]?.text === "(" && closing(tokens, 0) === tokens.length;
  const all = isCall ? tokens.slice(1, -1) : tokens;
  const body = groupsOf(all).findLast(([from]) => all[from]?.text === "{" && /^(?:>|\)|[\w$]+|")/.test(all[from - 1]?.text ?? "("));
  const [, arrow = -1] =
    firstOutside(all, groupsOf(all), (at) => (all[at]?.text === ">" && all[at - 1]?.text === "=" ? [0, at] : null)) ?? [];
  const [from, end] = body ?? (arrow < 0 ? [0, 0] : [arrow + 1, all.length]);
  const inside = body === undefined ? all.slice(from, end) : all.slice(from + 1, end - 1);
  const own = headOf(all, [from, end]);
  const at = own.findIndex(({ text }) => text === name);
  return {
    name,
    context,
    head: asSaid([...marks, ...own.filter((_, index) => index !== at)]),
    statements: statementsOf(inside)
      .map(asSaid)
      .filter(({ text }) => text !== ""),
    group,
    ...range,
  };
}

function rangeOf(tokens: readonly Token[]): Range {
  const last = tokens.at(-1);
  return { from: tokens[0]?.at ?? 0, end: last === undefined ? 0 : last.at + last.text.length };
}

function joined(one: string, two: string): string {
  return [one, two].filter((part) => part !== "").join(" | ");
}

const blockTest = /^(?:it|specify|test|scenario|example)$/;

/** Tests of languages whose blocks stand in further. */
function walkLines(lines: readonly Line[], context: string, group: Group, found: Found): void {
  const last = new Map(lines.map((line, index) => [definedBy(line) ?? `${index}`, line]));
  const behind = new Map<string, number>();
  for (const [index, line] of lines.entries()) for (const name of isBranch(line) ? definedWithin(line) : []) behind.set(name, index);
  for (const [index, line] of lines.entries()) {
    const defined = definedBy(line);
    // Of two of one name the later takes the earlier one's place.
    if (defined !== null && last.get(defined) !== line && (line.marks.length === 0 || holdsUnits(line))) continue;
    // As one may that only a condition defines.
    const around = defined !== null && (behind.get(defined) ?? -1) > index ? joined(context, "or another") : context;
    const name = nameOfLine(line);
    if (name !== null) {
      const head = [...line.marks, ...line.tokens];
      const at = head.findLastIndex(({ text }) => text === name);
      const range = rangeOf([...head, ...tokensBelow(line)]);
      const statements = line.inner.map(({ said }) => said);
      addUnit({ name, context: around, head: asSaid(head.filter((_, one) => one !== at)), statements, group, ...range }, found);
    } else if (line.inner.some(holdsUnits)) {
      const own = plainText([...line.marks, ...contextOf(line.tokens, found.isOpen)]);
      walkLines(line.inner, joined(joined(around, isFoundByName(line) ? "Test" : ""), own), groupIn(group), found);
    } else addOther(line.said, group, found);
  }
}

function tokensBelow(line: Line): Token[] {
  return line.inner.flatMap((one) => [...one.tokens, ...tokensBelow(one)]);
}

function definedBy({ tokens }: Line): string | null {
  const words = tokens.map(({ text }) => text);
  const at = words.findIndex((word) => word === "def" || word === "class");
  return at < 0 || at > 1 ? null : (words[at + 1] ?? null);
}

/** Whether what stands below is defined where it stands. */
function isBranch({ tokens }: Line): boolean {
  return /^(?:if|elif|else|unless|try|except|finally|with|for|while)$/.test(tokens[0]?.text ?? "");
}

function definedWithin(line: Line): string[] {
  return line.inner.flatMap((one) => (isBranch(one) ? definedWithin(one) : (definedBy(one) ?? [])));
}

/** A class with no base is one of tests by its name alone. */
function isFoundByName({ tokens: [one, two, ...base] }: Line): boolean {
  return one?.text === "class" && two?.text.startsWith("Test") === true && /^(?:\( \) )?:/.test(plainText(base));
}

function holdsUnits(line: Line): boolean {
  return nameOfLine(line) !== null || line.inner.some(holdsUnits);
}

function nameOfLine({ tokens }: Line): string | null {
  const [one, two, three] = tokens.map(({ text }) => text);
  const name = one === "async" ? three : two;
  if ((one === "def" || (one === "async" && two === "def")) && name !== undefined) return name.startsWith("test") ? name : null;
  const given = tokens[two === "(" ? 2 : 1];
  return one !== undefined && blockTest.test(one) && given?.isString === true ? given.text : null;
}
