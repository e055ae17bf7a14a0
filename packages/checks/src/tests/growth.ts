import type { Unit } from "./units.ts";

/** What fails where something is not as it should be, in the forms of common runners; statements are as plainText gives them. */
const asserts =
  /\b(?:assert\w*|expect|should|is_deeply|ok|require)\b\s*[.(!]|(?:^|[{}:] )assert\b|\b(?:t|tb|b) \. (?:Error|Fatal|Fail)\w*|\b(?:raises|rejects|throws)\b|^(?:is|isnt|like|unlike|cmp_ok|same|pass|check) [("]/g;

export function assertionsIn(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + [...text.matchAll(asserts)].length, 0);
}

const assertsFirst =
  /^(?:await )?(?:(?:self|t|tap|should|chai|assertThat) \. )?(?:assert\w*|expect|should|ok|is|isnt|like|unlike|cmp_ok|is_deeply|same|equal\w*|deepEqual|not\w+|throws|rejects|require)\b|^(?:await )?t \. (?:test|Run|plan) \(|^subtest /;
const steers =
  /\b(?:exit|_exit|abort|skip\w*|todo|mock\w*|stub\w*|spyOn|monkeypatch|patch|setattr|extend|prototype|goto|die|process|globalThis|global)\b|(?:^| )[\w$]+ \. [\w$]+ = (?!=|>)|^[^{]*\b(?:return|throw|raise|break|continue|yield)\b/;
const declares =
  /^(?:export )?(?:(?:const|let|var|val|final|auto|my|our|static|readonly|local|public|private|protected|internal) )*(?:[\w$]+(?: < [^()=]*? >)? )?([\w$]+|[[{(][^=]*[\]})])(?: : [^=]{1,400}?)? (?::=|: =|=) (?!=|>)/;
const defines =
  /^(?:export )?(?:async )?(?:function|def|class|struct|type|interface|enum|fn|func|fun|sub|record|trait)(?: \*)? (?:\( [^()]* \) )?([\w$]+)/;
const method =
  /^(?:(?:public|private|protected|internal|static|final|async|override) )+(?:[\w$]+(?: < [^()=]*? >)?(?: \[ \])? )?([\w$]+) \(/;
/** Names that runners call or read by themselves. */
const special =
  /^(?:pytest\w*|__\w+__|load_tests|(?:async)?set_?up\w*|(?:async)?tear_?down\w*|TestMain|main|init|collect_\w+|(?:before|after|around)\w*)$/i;

/**
 * Whether a statement takes nothing from what stands before or behind it: a further assertion, or a name that the file did not
 * have. `known`: the words of the file as it was.
 */
export function isHarmless(text: string, known: ReadonlySet<string>, isTop: boolean): boolean {
  const defined = isTop ? (defines.exec(text) ?? method.exec(text))?.[1] : undefined;
  if (defined !== undefined) return isNew(defined, known);
  if (
    /^(?:if|for|while|try|with|unless|else|switch|match|do|\{|beforeEach|afterEach|before|after)\b/.test(text) ||
    steers.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'))
  )
    return false;
  if (assertsFirst.test(text)) return !/^[\w$ .]+ = (?!=)/.test(text);
  const declared = declares.exec(text)?.[1];
  return declared !== undefined && (declared.match(/[\w$]+/g) ?? []).every((name) => isNew(name, known));
}

function isNew(name: string, known: ReadonlySet<string>): boolean {
  return !known.has(name) && !special.test(name);
}

/** All of a test but its name, as one text. */
export function textOf(unit: Unit): string {
  const known = texts.get(unit) ?? [unit.context, unit.head, ...unit.statements].join(" | ");
  texts.set(unit, known);
  return known;
}

/** Each is compared with many others. */
const texts = new WeakMap<Unit, string>();

/** Whether a test asserts all that it did, in the same way: as it was, with further assertions or further rows of its table. */
export function assertsAll(was: Unit, is: Unit, known: ReadonlySet<string>): boolean {
  if (was.context !== is.context || !(was.head === is.head || hasMoreRows(was.head, withoutNew(is.head, was.head)))) return false;
  let at = 0;
  for (const statement of is.statements) {
    const earlier = was.statements[at];
    if (earlier !== undefined && (earlier === statement || (isTable.test(earlier) && hasMoreRows(earlier, statement)))) at += 1;
    else if (!isHarmless(statement, known, false)) return false;
  }
  return at === was.statements.length;
}

/** Without rows that stand in annotations of their own and are not in `earlier`. */
function withoutNew(head: string, earlier: string): string {
  return head.replace(/\[ (?:InlineData|TestCase|DataRow) \([^\]]*\) \] /g, (row) => (earlier.includes(row) ? row : ""));
}

/** What a test goes through row by row. */
export const isTable =
  /^for\b|^(?:(?:const|let|var|my|final) )?(?:\w+ )*\w*(?:cases?|tests?|tables?|examples?|scenarios?|samples?)\b(?: :)? =/i;

/** Whether a text is the other with rows put into its lists, and nothing else. */
export function hasMoreRows(was: string, is: string): boolean {
  const [old, now] = [was.split(" "), is.split(" ")];
  const around: string[] = [];
  let at = 0;
  for (let index = 0; index < now.length; index += 1) {
    const word = now[index] ?? "";
    const row = rowAt(now, index, around.at(-1));
    if (row > 0 && !startsAlike(old, at, now, index, row)) {
      index += row - 1;
      continue;
    }
    if (old[at] !== word) return false;
    at += 1;
    if (/^[[({]$/.test(word)) around.push(word);
    else if (/^[\])}]$/.test(word)) around.pop();
  }
  return at === old.length;
}

/** How many words a row of a list has here, with its comma; 0 where none begins. */
function rowAt(words: readonly string[], from: number, around: string | undefined): number {
  if (around !== "[" && around !== "{") return 0;
  const comma = words[from] === "," ? 1 : 0;
  if (!/^[[({]$/.test(words[from + comma] ?? "")) return 0;
  let depth = 0;
  for (let at = from + comma; at < words.length; at += 1) {
    if (/^[[({]$/.test(words[at] ?? "")) depth += 1;
    else if (/^[\])}]$/.test(words[at] ?? "") && (depth -= 1) === 0) {
      const next = words[at + 1];
      if (comma === 1) return at + 1 - from;
      return next === "," ? at + 2 - from : 0;
    }
  }
  return 0;
}

function startsAlike(old: readonly string[], at: number, now: readonly string[], index: number, length: number): boolean {
  const row = now.slice(index, index + length);
  if (row.at(-1) === ",") row.pop();
  return row.every((word, offset) => old[at + offset] === word);
}
