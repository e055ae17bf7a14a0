import { nameOf } from "../paths.ts";

/** How tests are left out, in the forms of common runners. */
const skipping =
  /\b(?:it|test|describe|context|suite|specify)\s*(?:\.\s*\w+\s*)*\.\s*(?:skip\w*|todo\w*|fixme|fails|failing|runIf)\b|\b(?:this|t|ctx)\s*\.\s*(?:skip|todo|pending)\b|\bx(?:it|describe|test|context|specify)\b|\{\s*todo\s*:|[{,]\s*(?:skip|expectFailure)\s*:(?!\s*false\b)|\[\s*["'`](?:skip|todo)["'`]\s*\]|@(?:unittest\.)?(?:skip\w*|expectedFailure)\b|\bpytest\s*\.\s*(?:mark\s*\.\s*(?:skip\w*|xfail)|skip|xfail|importorskip|exit)\b|\bmark\s*\.\s*(?:skip\w*|xfail)|\bskipTest\b|\bSkipTest\b|\b__test__\s*=\s*False|\bcollect_ignore\w*|\bpytest_(?:collection_modifyitems|ignore_collect|collect_file|runtest_\w+|pyfunc_call)\b|\bload_tests\b|\bt\.Skip|\btesting\.Short\b|#\[\s*ignore|\bcfg_attr\b[^\n]*ignore|@(?:Disabled|Ignore|Enabled)\w*\b|\bAssum(?:e|ptions)\b|\b(?:skip_all|todo_skip)\b|\bSKIP\s*:|^\s*(?:skip|pending)\b(?!\s*[=:])|\bmarkTest(?:Skipped|Incomplete)\b|\(\s*Skip\s*=|\bGTEST_SKIP\b/gm;
const focusing =
  /\b(?:it|test|describe|context|suite|specify)\s*(?:\.\s*\w+\s*)*\.\s*only\b|\bf(?:it|describe|context|specify)\s*\(|[{,]\s*only\s*:\s*true|\[\s*["'`]only["'`]\s*\]|\b:?focus(?::\s*|\s*=>\s*)true/g;
/** How the configuration of a runner of tests leaves some out. */
const excluding =
  /\b(?:exclude|grep|invert|testIgnore|grepInvert|testNamePattern|norecursedirs)\s*["']?\s*[:=]|\b(?:test|module)PathIgnorePatterns\b|--(?:deselect|ignore\w*|exclude|skip|grep|filter)\b|(?:^|[\s"'])-k\b|-m\s+["']?not\b/g;
const isConfig =
  /^(?:(?:vitest|jest|ava|playwright|cypress|karma|wdio|bunfig|phpunit)\.|\.(?:mocharc|taprc|proverc|rspec)|\.?pytest\.|tox\.ini|noxfile)/;

export function skipsIn(path: string, code: string): number {
  return [...code.matchAll(skipping)].length + (isConfig.test(nameOf(path)) ? [...code.matchAll(excluding)].length : 0);
}

export function focusesIn(code: string): number {
  return [...code.matchAll(focusing)].length;
}
