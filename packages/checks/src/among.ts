import { loadsOf, sourceFolder } from "./loads.ts";
import { folderOf } from "./paths.ts";
import { namesTestLibrary } from "./reach/rules.ts";

/** Code; what else a glob matches may be what tests are made of, or compare with. */
const isCode =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|pyi|rb|pl|pm|php|lua|sh|bash|zsh|ksh|go|rs|c|cc|cpp|cxx|h|hh|hpp|hxx|m|mm|java|kt|kts|groovy|scala|cs|fs|swift|dart|ex|exs|erl|hs|ml|mli|jl|r|zig|nim|d|clj|el)$/i;
/** Names and folders of tests; where sources lie, fewer words say so. */
const testName =
  /(?:^|[/_.-])(?:x?tests?|xt|t|specs?|e2e|bats|testdata|fixtures?|__\w+__)(?=[/_.-])|(?:Tests?|TestCase|Spec|IT)\.\w+$|(?:^|\/)Test[A-Z]/i;
const testNameOutside =
  /(?:^|[/_.-])(?:checks?|checkers?|checking|verif\w*|validat\w*|asserts?|assertions?|expect\w*|goldens?|snapshots?|cases?|suites?|scenarios?|examples?|acceptance|smoke|qa|integration|regress\w*)(?=[/_.-])/i;
/** Assertions that stand by themselves, a program that asserts, and lines of a protocol of tests. */
const asserting =
  /^(?:assert\b|@Test\b|def test_|class \w+\(.*TestCase|(?:assert(?:\.\w+)?|test|describe|it|expect)\s*\()|^\s*(?:(?:public|static)\s+)*void\s+test\w*\(|#\[(?:\w+::)?test\]|["'](?:not )?ok[ \t]+[\d$%{]|["']not ok\b/m;
const program = /\bmain\s*\(/;
const asserts = /\bassert\w*\b\s*[^\s=;,.]|\bREQUIRE\w*\(|\bCHECK\w*\(/i;
/** A script's own end with a status, not one in a function of it. */
const endings =
  /^(?:\S[^\n]*)?(?:\bexit\s+["']?(?:[1-9]|\$)|\bprocess\.exit|\bdie\b)|^(?:if\b[^\n]*)?(?:throw|raise)\b|^(?:sys\.)?exit\(\s*(?!0?\s*\)|main\b|run\b|cli\b)|^if\b[^\n]*:[ \t]*\n[ \t]+(?:raise\b|(?:sys\.)?exit\()|^(?:if\b|for\b|while\b)[^\n]*\n(?:[ \t][^\n]*\n){0,20}[ \t]+exit[ \t]+["']?[1-9$]/m;
const compares = /\[\[?\s[^\n]*(?:=|-eq|-ne)|===?|!==?|\bdiff\b|\bcmp\b|\beq\b/;

/** Whether a file may be what is tested, by its path alone: code that is not named as a test. */
export function mayBeSource(path: string): boolean {
  return isCode.test(path) && !testName.test(path) && (sourceFolder.test(path) || !testNameOutside.test(path));
}

/** Whether code is a test by what it says: it names a test library, asserts by itself, or fails where what it loads is wrong. */
export function isTestText(path: string, whole: string, has: (path: string) => boolean): boolean {
  // Tests in a block of their own inside a source are a part of it, and told by themselves.
  const text = whole.replace(/#\[cfg\(test\)\]\s*mod\b[\s\S]*$/, "");
  if (namesTestLibrary(path, text) || asserting.test(text) || (program.test(text) && asserts.test(text))) return true;
  if (sourceFolder.test(path) || !endings.test(text) || !compares.test(text)) return false;
  const home = folderOf(path);
  const isElsewhere = (one: string): boolean => one !== path && folderOf(one) !== home && has(one);
  const sourced = [...text.matchAll(/^\s*(?:\.|source|sh|bash|node|python3?|perl|ruby)\s+["']?(?:\$\w+\/)?([\w./-]+)/gm)].map(
    ([, one = ""]) => one,
  );
  return sourced.some(isElsewhere) || [home, ""].some((folder) => loadsOf(text, folder).some(isElsewhere));
}
