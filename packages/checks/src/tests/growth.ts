import { isAssertion } from "./assertions.ts";
import { changesKnown, declaredBy, type Known } from "./effects.ts";
import { growsTable, hasMoreRows } from "./rows.ts";
import { codeOf, isText, type Said } from "./words.ts";
import type { Unit } from "./units.ts";

const begins = /^(?:if|for|while|try|with|unless|else|switch|match|do|beforeEach|afterEach|beforeAll|afterAll|before|after)\b/;
const steers =
  /\b(?:exit|_exit|abort|skip\w*|todo|mock\w*|stub\w*|spyOn|monkeypatch|patch|setattr|prototype|goto|die|process|globalThis|global)\b|\bexpect \. (?:extend|assertions|hasAssertions)\b|^[^{]*\b(?:return|throw|raise|break|continue|yield)\b/;
const defines =
  /^(?:export )?(?:async )?(?:function|def|class|struct|type|interface|enum|fn|func|fun|sub|record|trait)(?: \*)? (?:\( [^()]* \) |self \. )?([\w$]+)/;
const method =
  /^(?:(?:public|private|protected|internal|static|final|async|override) )+(?:function )?(?:[\w$]+(?: < [^()=]*? >)?(?: \[ \])? )?([\w$]+) \(/;
const shellFunction = /^([\w-]+) \( \) \{/;
const lazy = /^(?:let|subject) \( : (\w+) \) [{d]/;
/** Names that runners call or read by themselves. */
const special =
  /^(?:pytest\w*|__\w+__|load_tests|(?:async)?set_?up\w*|(?:async)?tear_?down\w*|TestMain|main|init|initialize|collect_\w+|(?:before|after|around)\w*|run(?:_?bare|_?tests?|nable_methods)?|invoke_?test|perform_?test|_?call_?\w*|on_?not_?successful\w*|default_?test\w*|test_?order|do_?cleanups?|dispose\w*|inherited|method_missing)$/i;

/**
 * Whether a statement takes nothing from what stands before or behind it: a further assertion, or a name that the file did not
 * have, by which nothing is changed that it had.
 */
export function isHarmless(one: Said, known: Known, isTop: boolean): boolean {
  const { text, words } = one;
  // What a test or a file says of itself, or an assertion that needs nothing.
  if (words.length === 1) return /^"(?:"""|''')|^(?:assert|refute)_/.test(words[0] ?? "");
  const code = codeOf(one);
  const defined = (isTop ? lazy.exec(text)?.slice(1) : undefined) ?? definedIn(one);
  if (defined !== undefined) return isTop && defined.every((name) => isNew(name, known));
  if (begins.test(code) || steers.test(code)) return false;
  const declared = declaredBy(words);
  if (declared !== null) return declared.names.every((name) => isNew(name, known)) && !changesKnown(words, declared.value, known);
  return isAssertion(one) && !changesKnown(words, 0, known);
}

/** The name that a definition gives, in a list. */
export function definedIn({ text }: Said): string[] | undefined {
  return (defines.exec(text) ?? method.exec(text) ?? shellFunction.exec(text))?.slice(1, 2);
}

function isNew(name: string, known: Known): boolean {
  return !known.words.has(name) && !special.test(name);
}

/** Whether a statement acts on the tests beside it, as a hook does: what only says something, or gives it a name, doesn't. */
export function acts(one: Said): boolean {
  const { words } = one;
  if (words.length < 2) return !isText(words[0]);
  const name = definedIn(one)?.[0];
  if (name !== undefined) return special.test(name);
  return declaredBy(words) === null && !isAssertion(one);
}

/** All of a test but its name, as one text. */
export function textOf(unit: Unit): string {
  const known = texts.get(unit) ?? [unit.context, unit.head.text, ...unit.statements.map(({ text }) => text)].join(" | ");
  texts.set(unit, known);
  return known;
}

/** Each is compared with many others. */
const texts = new WeakMap<Unit, string>();

/** Whether a test asserts all that it did, in the same way: as it was, with further assertions or further rows of its table. */
export function assertsAll(was: Unit, is: Unit, known: Known): boolean {
  if (was.context !== is.context) return false;
  if (was.head.text !== is.head.text && !hasMoreRows(was.head.words, withoutNew(is.head.words, was.head.text))) return false;
  let at = 0;
  for (const statement of is.statements) {
    const earlier = was.statements[at];
    if (earlier !== undefined && (earlier.text === statement.text || growsTable(earlier, statement))) at += 1;
    else if (!isHarmless(statement, known, false)) return false;
  }
  return at === was.statements.length;
}

/** Without rows that stand in annotations of their own and are not in `earlier`. */
function withoutNew(words: readonly string[], earlier: string): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const begins = words[at] === "[" && /^(?:InlineData|TestCase|DataRow)$/.test(words[at + 1] ?? "");
    const end = begins ? words.indexOf("]", at) + 1 : 0;
    const row = words.slice(at, end).map((word) => (isText(word) ? word.slice(1) : word));
    if (begins && words[end - 2] === ")" && !earlier.includes(row.join(" "))) at = end - 1;
    else kept.push(words[at] ?? "");
  }
  return kept;
}
