import { nameOf } from "../paths.ts";
import { type Family, familyOf } from "./languages.ts";
import { optionsIn } from "./options.ts";
import { tokensOf } from "./tokens.ts";
import type { Token } from "./token.ts";

/** How tests are left out or put before others, in the forms of each language's runners; over words with a space between them. */
interface Forms {
  readonly skipping: readonly RegExp[];
  readonly focusing: readonly RegExp[];
}

/** First on a line. What goes on like a variable is one. */
const bare = /^(?:skip|pending)(?= *$| "| \(| if\b| unless\b| [;}]| \$)/gm;
const forms: Readonly<Partial<Record<Family, Forms>>> = {
  js: { skipping: [bare], focusing: [] },
  python: {
    skipping: [
      /@ (?:unittest \. )?(?:skip\w*|expectedFailure)\b/g,
      /\b(?:pytest \. )?mark \. (?:skip\w*|xfail)\b|\bpytest \. (?:skip|xfail|importorskip|exit)\b/g,
      /\bskipTest\b|\bSkipTest\b|\b__test__ = False\b|\bcollect_ignore\w*|\bload_tests\b/g,
      /\bpytest_(?:collection_modifyitems|ignore_collect|collect_file|runtest_\w+|pyfunc_call)\b/g,
      bare,
    ],
    focusing: [],
  },
  go: {
    skipping: [/\b(?:t|tb|b|f|T \( \)) \. Skip|\btesting \. Short\b/g, /\b[PX](?:It|Describe|Context|Entry|When|Specify) \(/g],
    focusing: [/\bF(?:It|Describe|Context|Entry|When|Specify) \(/g],
  },
  rust: { skipping: [/# \[ ignore\b|\bcfg_attr \([^\]]{0,200}\bignore\b/g], focusing: [] },
  ruby: {
    skipping: [bare, /^x(?:it|describe|context|specify|example|feature|scenario)\b/gm],
    focusing: [/\bfocus(?: :| = >) true\b/g, /^(?:RSpec \. )?f(?:it|describe|context|specify|example|feature|scenario) ["(]/gm],
  },
  elixir: { skipping: [bare, /@ (?:module|describe)?tag (?:: skip\b|skip : (?!false\b))/g], focusing: [] },
  perl: { skipping: [/\b(?:skip_all|todo_skip)\b|\bSKIP :|\bTODO :|\$TODO =/g, bare], focusing: [] },
  shell: { skipping: [bare], focusing: [] },
};
const others: Forms = {
  skipping: [
    /@ (?:Disabled|Ignore|Enabled)\w*/g,
    /\bAssum(?:e|ptions)\b|\bassume(?:True|False|That|Not\w+)\b|\[ Ignore\b|[(,] Skip =|\bAssert \. (?:Ignore|Inconclusive)\b/g,
    /\bmarkTest(?:Skipped|Incomplete)\b|\bGTEST_SKIP\b|\bXCTSkip\w*|\. disabled \(/g,
    bare,
  ],
  focusing: [],
};

/** How the configuration of a runner of tests leaves some out. */
const excluding =
  /\b(?:exclude|grep|invert|testIgnore|grepInvert|testNamePattern|norecursedirs)\s{0,20}["']?\s{0,20}[:=]|\b(?:test|module)PathIgnorePatterns\b|--(?:deselect|ignore\w*|exclude|skip|grep|filter)\b|(?:^|[\s"'])-k\b|-m\s{1,20}["']?not\b/g;
const configName =
  /^(?:(?:vitest|jest|ava|playwright|cypress|karma|wdio|bunfig|phpunit)\.|\.(?:mocharc|taprc|proverc|rspec)|\.?pytest\.|tox\.ini|noxfile)/;

export function skipsIn(path: string, text: string): number {
  return marksIn(path, text, "skipping") + (configName.test(nameOf(path)) ? [...text.matchAll(excluding)].length : 0);
}

export function focusesIn(path: string, text: string): number {
  return marksIn(path, text, "focusing");
}

function marksIn(path: string, text: string, kind: keyof Forms): number {
  const family = familyOf(path);
  if (family === null) return 0;
  const tokens = tokensOf(path, text);
  const said = wordsOf(tokens);
  const count = (forms[family] ?? others)[kind].reduce((sum, form) => sum + [...said.matchAll(form)].length, 0);
  return count + (family === "js" || family === "ruby" ? optionsIn(tokens, family)[kind] : 0);
}

/** Lines of words; what stands in strings is data. */
function wordsOf(tokens: readonly Token[]): string {
  const parts: string[] = [];
  for (const { text, indent, isString } of tokens) parts.push(indent === null ? " " : "\n", isString ? '""' : text);
  return parts.join("").trimStart();
}
