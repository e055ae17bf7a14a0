import { blocksOf } from "./languages.ts";
import { closing, isOpening, isTooDeep, plainText, type Token, tokensOf } from "./tokens.ts";
import { linesOf, type Node } from "./nodes.ts";
import { groupsOf, statementsOf } from "./statements.ts";

/** A test, with what it asserts. Texts are as plainText gives them. */
export interface Unit {
  readonly name: string;
  /** What stands around it and decides whether and how it runs: conditions, loops, options and bases of its group. */
  readonly context: string;
  /** Options, annotations and tables. */
  readonly head: string;
  readonly statements: readonly string[];
  /** Where it stands in its file. */
  readonly from: number;
  readonly end: number;
}

/** What a file of tests says outside of them. */
export interface Other {
  readonly text: string;
  /** The tests of the group that it stands in; all of the file's at the top. */
  readonly beside: readonly Unit[];
}

export interface TestsIn {
  readonly units: readonly Unit[];
  readonly others: readonly Other[];
}

/** The tests of a program by the forms of common runners, and what stands beside them. */
export function testsIn(path: string, text: string): TestsIn {
  const found: Found = { units: [], others: [] };
  const tokens = tokensOf(path, text);
  if (isTooDeep(tokens)) return { units: [], others: [{ text: plainText(tokens), beside: [] }] };
  if (blocksOf(path) === "indents") walkNodes(linesOf(tokens), "", [], found);
  else walkTokens(tokens, "", [], found);
  return found;
}

interface Found {
  readonly units: Unit[];
  readonly others: Other[];
}

const callers = /^(?:x|f)?(?:it|test|specify|scenario|example|subtest)$/;
const functions = new Set(["fn", "func", "fun", "function", "void", "Task", "def", "sub"]);
const testName = /^(?:[Tt]est(?!Main$)|Example|Fuzz)/;
const annotated = /(?:@|\[)\s*(?:[\w.: ]*\b)?(?:\w*Test\w*|test|rstest|test_case|Fact|Theory|quickcheck)\b/;

interface Place {
  readonly name: string;
  /** Of its words: where it begins, where its arguments do, and where it ends. */
  readonly start: number;
  readonly from: number;
  readonly end: number;
}

/** Words that stand between a test's name and its block, or are its types; each call would go through all that follow. */
const mostBetween = 200;

/** A test that is a call or a block with its name in quotes, right at `start`. */
function callAt(tokens: readonly Token[], start: number): Place | null {
  const { text = "", isString = true } = tokens[start] ?? {};
  if (isString || !callers.test(text) || [".", "function", "def", "fn", "sub"].includes(tokens[start - 1]?.text ?? "")) return null;
  let at = start + 1;
  for (;;) {
    if (tokens[at]?.text === ".") at += 2;
    else if (tokens[at]?.text === "[" && tokens[at + 1]?.isString === true) at += 3;
    else break;
  }
  const isTable = at > start + 1;
  if (tokens[at]?.text === "<") at = behindTypes(tokens, at);
  if (isTable && tokens[at]?.text === "(" && tokens[closing(tokens, at)]?.text === "(") at = closing(tokens, at);
  else if (isTable && tokens[at]?.isString === true) at += 1;
  if (tokens[at]?.isString === true && at === start + 1) {
    let block = at + 1;
    while (block < at + mostBetween && tokens[block] !== undefined && tokens[block]?.text !== "{") block += 1;
    return tokens[block]?.text !== "{" ? null : { name: tokens[at]?.text ?? "", start, from: at, end: closing(tokens, block) };
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
  for (const [index, { text, isString }] of tokens.entries()) {
    if (isString) continue;
    if (text === "{" && depth === 0) return null;
    if (isOpening({ text, isString })) depth += 1;
    else if (/^[)\]}]$/.test(text)) depth -= 1;
    if (depth > 0 || !functions.has(text)) continue;
    const at = tokens[index + 1]?.text === "(" ? closing(tokens, index + 1) : index + 1;
    const name = tokens[at]?.text ?? "";
    if (tokens[at + 1]?.text !== "(" && tokens[at + 1]?.text !== "<") continue;
    return testName.test(name) || annotated.test(plainText(tokens.slice(0, index))) ? name : null;
  }
  return null;
}

function hasUnits(tokens: readonly Token[]): boolean {
  return (
    tokens.some((_, index) => callAt(tokens, index) !== null) ||
    tokens.some(({ text }, index) => functions.has(text) && testName.test(tokens[index + 1]?.text ?? "")) ||
    annotated.test(plainText(tokens))
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

function walkTokens(tokens: readonly Token[], context: string, beside: Unit[], found: Found): void {
  for (const statement of statementsOf(tokens)) {
    const groups = groupsOf(statement);
    const called = firstOutside(statement, groups, (index) => callAt(statement, index));
    const name = called === null ? functionIn(statement) : null;
    if (called !== null) {
      const before = contextOf(plainText(statement.slice(0, called.start)));
      const marks = plainText([...statement.slice(called.start + 1, called.from), ...statement.slice(called.end)]);
      const unit = unitOf(called.name, joined(context, before), statement.slice(called.from, called.end), marks);
      add({ ...unit, ...rangeOf(statement) }, beside, found);
    } else if (name !== null) {
      add({ ...unitOf(name, context, statement, ""), ...rangeOf(statement) }, beside, found);
    } else if (hasUnits(statement)) {
      const inner = groups.filter(([from, end]) => hasUnits(statement.slice(from + 1, end - 1)));
      const header = statement.filter((_, index) => !inner.some(([from, end]) => from <= index && index < end));
      const around = joined(context, contextOf(plainText(header)));
      for (const [from, end] of inner) {
        const own: Unit[] = [];
        walkTokens(statement.slice(from + 1, end - 1), around, own, found);
        beside.push(...own);
      }
      if (inner.length === 0) found.others.push({ text: plainText(statement), beside });
    } else if (statement.length > 0) found.others.push({ text: plainText(statement), beside });
  }
}

function add(unit: Unit, beside: Unit[], found: Found): void {
  beside.push(unit);
  found.units.push(unit);
}

function unitOf(name: string, context: string, tokens: readonly Token[], marks: string): Omit<Unit, "from" | "end"> {
  // A call's arguments stand in brackets of their own.
  const isCall = tokens[0]?.text === "(" && closing(tokens, 0) === tokens.length;
  const all = isCall ? tokens.slice(1, -1) : tokens;
  const body = groupsOf(all).findLast(([from]) => all[from]?.text === "{" && /^(?:>|\)|[\w$]+|")/.test(all[from - 1]?.text ?? "("));
  const [, arrow = -1] =
    firstOutside(all, groupsOf(all), (at) => (all[at]?.text === ">" && all[at - 1]?.text === "=" ? [0, at] : null)) ?? [];
  const [from, end] = body ?? (arrow < 0 ? [0, 0] : [arrow, all.length]);
  const inside = body === undefined ? all.slice(from + 1, end) : all.slice(from + 1, end - 1);
  const head = [...all.slice(0, from), ...all.slice(end)].filter(({ text }) => text !== name);
  return {
    name,
    context,
    head: joined(
      marks,
      plainText(head)
        .replace(/\basync\b|\bfunction\b|= >$|=$|\( [\w$]* \)|(?:^|\s),(?=\s|$)/g, " ")
        .trim()
        .replace(/\s+/g, " "),
    ),
    statements: statementsOf(inside)
      .map(plainText)
      .filter((text) => text !== ""),
  };
}

function rangeOf(tokens: readonly Token[]): { readonly from: number; readonly end: number } {
  const last = tokens.at(-1);
  return { from: tokens[0]?.at ?? 0, end: last === undefined ? 0 : last.at + last.text.length };
}

function joined(one: string, two: string): string {
  return [one, two].filter((part) => part !== "").join(" | ");
}

/** What around tests is more than a group's name. */
function contextOf(text: string): string {
  return text
    .replace(/^(?:var _ = )?(?:\w+ \. )?(?:describe|context|suite|Describe|Context|When|feature)\b(?! \.)/, " ")
    .replace(/^"(?:[^"\\]|\\.)*"|^`[^`]*`/, " ")
    .replace(/\b(?:public|private|internal|final|sealed|open|await|void|return|static|export|default)\b/g, " ")
    .replace(/\b(?:class|mod|module|namespace|object) [\w$.: ]+?(?= (?:extends|implements|with)\b|[^\w$.: ]|$)/g, " ")
    .replace(/# \[ cfg \( test \) \]|\basync\b|\bfunction\b|= >|(?<![\w$] )\( [\w$]* \)|\bdo$|[,:]/g, " ")
    .trim()
    .replace(/\s+/g, " ");
}

const blockTest = /^(?:it|specify|test|scenario|example)$/;

/** Tests of languages whose blocks stand in further. */
function walkNodes(nodes: readonly Node[], context: string, beside: Unit[], found: Found): void {
  // Of two of one name the later takes the earlier one's place.
  const last = new Map(nodes.map((node, index) => [definedBy(node) ?? `${index}`, node]));
  for (const node of nodes) {
    if (last.get(definedBy(node) ?? "") !== node && definedBy(node) !== null) continue;
    const name = nameOfNode(node);
    const header = plainText(node.line);
    if (name !== null) {
      const head = `${plainText([...node.marks, ...node.line])} `.replace(` ${name} `, " ").trim();
      const statements = node.inner.map(({ text }) => text);
      add({ name, context, head, statements, ...rangeOf([...node.marks, ...node.line, ...tokensBelow(node)]) }, beside, found);
    } else if (node.inner.some(holdsUnits)) {
      const group = header.replace(/^(?:(?:RSpec \. )?(?:describe|context)\b.*\bdo|class \w+(?: \( \))?)(?=$| )/, "");
      const own: Unit[] = [];
      walkNodes(node.inner, joined(context, contextOf(`${plainText(node.marks)} ${group}`)), own, found);
      beside.push(...own);
    } else found.others.push({ text: node.text, beside });
  }
}

function tokensBelow(node: Node): Token[] {
  return node.inner.flatMap((one) => [...one.line, ...tokensBelow(one)]);
}

function definedBy({ line, marks }: Node): string | null {
  const words = line.map(({ text }) => text);
  const at = words.findIndex((word) => word === "def" || word === "class");
  return marks.length > 0 || at < 0 || at > 1 ? null : (words[at + 1] ?? null);
}

function holdsUnits(node: Node): boolean {
  return nameOfNode(node) !== null || node.inner.some(holdsUnits);
}

function nameOfNode({ line }: Node): string | null {
  const [one, two, three] = line.map(({ text }) => text);
  const name = one === "async" ? three : two;
  if ((one === "def" || (one === "async" && two === "def")) && name !== undefined) return name.startsWith("test") ? name : null;
  const given = line[two === "(" ? 2 : 1];
  return one !== undefined && blockTest.test(one) && given?.isString === true ? given.text : null;
}
