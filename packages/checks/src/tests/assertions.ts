import { endOf, isName, isOpeningWord, isText, type Said } from "./words.ts";

/** What a word must be followed by to assert something. */
type Follows = (words: readonly string[], next: number) => boolean;

interface Form {
  readonly word: RegExp;
  readonly follows: Follows;
  /** Whether it begins its statement, or stands behind a name and a dot; anywhere else. */
  readonly isFirst?: true;
  readonly behind?: RegExp;
}

const isCall: Follows = (words, next) => words[next] === "(";
/** Not where it is only named: passed on, brought in, declared. */
const isSaid: Follows = (words, next) => next < words.length && !/^[=,):\]}]$/.test(words[next] ?? "");
/** No call that people wrote has more in its brackets. */
const mostWords = 5_000;
/** What a call gives is asked for something: without that it asserts nothing. */
const isAsked: Follows = (words, next) => {
  const at = words[next] === "." ? next + 2 : next;
  if (words[next - 2] === "#") return words[at] === "(";
  return isOpeningWord(words[at]) && /^(?:\.|to|not|to_not|not_to|-)$/.test(words[endOf(words, at, mostWords)] ?? "");
};
/** In brackets or without; brackets with nothing in them and a block begin a definition. */
const isList: Follows = (words, next) => words[next] === "(" || words[next] === "$" || words[next] === "\\" || isText(words[next]);

/** What fails where something is not as it should be, in the forms of common runners. */
const forms: readonly Form[] = [
  // assert, assertEquals, assert_eq!, Assert.Equal, self.assertEqual, XCTAssertEqual, t.assert, refute
  { word: /^(?:prop_|debug_)?[aA]ssert(?!ion)\w*$|^refute\w*$|^XCT(?:Assert|Fail|Unwrap)\w*$/, follows: isSaid },
  // Vitest, Jest, Chai, RSpec, Gomega, Swift Testing
  { word: /^(?:expect|Expect|Eventually|Consistently|verify)$/, follows: isAsked },
  { word: /^expect(?!Not)\w+$/, follows: isList },
  { word: /^is_expected$/, follows: (words, next) => words[next] === "." },
  // should.js, RSpec, ScalaTest, Kotest, FluentAssertions
  { word: /^[sS]hould\w*$/, follows: isSaid },
  // testify, Catch, Google Test
  {
    word: /^require$/,
    follows: (words, next) =>
      (words[next] === "." && !/^(?:resolve|cache|main|extensions)$/.test(words[next + 1] ?? "")) ||
      (words[next] === "(" && !isText(words[next + 1])),
  },
  { word: /^(?:EXPECT|ASSERT|CHECK|REQUIRE)(?:_\w+)?$/, follows: isCall },
  // Go: testing, is
  { word: /^(?:Error|Fatal|Fail)\w*$/, follows: isCall, behind: /^(?:t|tb|b)$/ },
  { word: /^(?:Equal|True|NoErr|Err|Fail)$/, follows: isCall, behind: /^is$/ },
  // AVA, tap, tape
  {
    word: /^(?:is|not|true|false|truthy|falsy|ok|notOk|pass|equals?|notEqual|deepEqual|notDeepEqual|like|same|notSame|match|notMatch|regex|notRegex|throws(?:Async)?|notThrows(?:Async)?|rejects|resolves|snapshot)$/,
    follows: isCall,
    behind: /^(?:t|tap)$/,
  },
  // pytest, node:assert by its names
  { word: /^(?:raises|rejects|throws)$/, follows: isCall },
  { word: /^ok$/, follows: isCall },
  {
    word: /^(?:equal|deepEqual|strictEqual|deepStrictEqual|not(?:Deep)?(?:Strict)?Equal|match|doesNot(?:Match|Throw|Reject))$/,
    follows: isCall,
    isFirst: true,
  },
  // Perl
  { word: /^is_deeply$/, follows: isList },
  { word: /^(?:is|isnt|ok|like|unlike|cmp_ok|isa_ok|can_ok|same|pass|check)$/, follows: isList, isFirst: true },
];

const defining = /^(?:def|fn|func|fun|function|sub|void|class|import|as|let|const|var)$/;

function isAssertionAt(words: readonly string[], at: number): boolean {
  const word = words[at] ?? "";
  if (!isName(word) || defining.test(words[at - 1] ?? "")) return false;
  return forms.some(({ word: one, follows, isFirst, behind }) => {
    if (!one.test(word) || !follows(words, at + 1)) return false;
    if (behind !== undefined) return words[at - 1] === "." && behind.test(words[at - 2] ?? "");
    return isFirst !== true || at === 0 || (at === 1 && words[0] === "await");
  });
}

function countIn({ words }: Said): number {
  // Bats: `[ "$status" -eq 0 ]`.
  let count = words[0] === "[" && words.length > 2 && endOf(words, 0) === words.length ? 1 : 0;
  for (let at = 0; at < words.length; at += 1) {
    if (!isAssertionAt(words, at)) continue;
    count += 1;
    while (words[at + 1] === "." && isName(words[at + 2])) at += 2;
  }
  return count;
}

export function assertionsIn(texts: readonly Said[]): number {
  return texts.reduce((sum, one) => sum + countIn(one), 0);
}

const subtest = /^(?:await )?t \. (?:test|Run|plan) \(|^subtest /;

/** Whether a statement is an assertion, or a test of its own inside of one. */
export function isAssertion(one: Said): boolean {
  const { text, words } = one;
  if (subtest.test(text)) return true;
  for (let at = 0; at < words.length; at += 1) {
    if (isAssertionAt(words, at)) return true;
    if (!/^(?:[\w$]+|[.#>-])$/.test(words[at] ?? "") || /^(?:and|or)$/.test(words[at] ?? "")) return false;
  }
  return false;
}
