/**
 * English words to their stems, after M. F. Porter, "An algorithm for suffix stripping" (Program 14/3, 1980). A stem need not
 * be a word; it only has to be the same for words of one family.
 */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return /^[a-z]{2,3}s$/.test(word) && !keepsS.test(word) ? word.slice(0, -1) : word;
  const known = irregular.get(word);
  if (known !== undefined) return known;
  let found = plural(word);
  found = past(found);
  if (/.y$/.test(found) && hasVowel(found.slice(0, -1))) found = `${found.slice(0, -1)}i`;
  for (const step of suffixes) found = strip(found, step);
  return tidy(found);
}

/** Short words whose `s` is no plural. */
const keepsS = /(?:ss|us|is|as|ns|os|[gms]ps)$/;

/** Words that the rules would put into a family that isn't theirs, or out of their own. */
const irregular = new Map([
  ["news", "news"],
  ["data", "data"],
  ["media", "media"],
  ["analysis", "analyz"],
  ["analyses", "analyz"],
  ["analyse", "analyz"],
  ["analysed", "analyz"],
  ["analysing", "analyz"],
  ["series", "series"],
  ["status", "status"],
  ["bought", "bui"],
  ["sold", "sell"],
  ["sent", "send"],
  ["written", "write"],
  ["wrote", "write"],
  ["writing", "write"],
  ["made", "make"],
  ["making", "make"],
  ["found", "find"],
  ["drawn", "draw"],
  ["drew", "draw"],
  ["built", "build"],
  ["paid", "pai"],
  ["children", "child"],
  ["people", "person"],
  ["persons", "person"],
  ["indices", "index"],
  ["indexes", "index"],
  ["matrices", "matrix"],
  ["vertices", "vertex"],
  ["universe", "universe"],
  ["university", "university"],
  ["universities", "university"],
  ["general", "general"],
  ["organization", "organization"],
  ["organizations", "organization"],
]);

function plural(word: string): string {
  if (word.endsWith("sses") || word.endsWith("ies")) return word.slice(0, -2);
  return word.endsWith("s") && !/(?:ss|us|is)$/.test(word) ? word.slice(0, -1) : word;
}

function past(word: string): string {
  if (word.endsWith("eed")) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const end = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  const root = word.slice(0, -end);
  if (end === 0 || !hasVowel(root)) return word;
  if (/(?:at|bl|iz)$/.test(root)) return `${root}e`;
  if (/([^aeiouylsz])\1$/.test(root)) return root.slice(0, -1);
  return measure(root) === 1 && endsShort(root) ? `${root}e` : root;
}

/** Each step: suffixes, longest first, what takes their place, and the measure that the rest must exceed. */
const suffixes: readonly (readonly (readonly [suffix: string, put: string, over: number])[])[] = [
  [
    ["ational", "ate", 0],
    ["ization", "ize", 0],
    ["iveness", "ive", 0],
    ["fulness", "ful", 0],
    ["ousness", "ous", 0],
    ["tional", "tion", 0],
    ["biliti", "ble", 0],
    ["entli", "ent", 0],
    ["ousli", "ous", 0],
    ["ation", "ate", 0],
    ["alism", "al", 0],
    ["aliti", "al", 0],
    ["iviti", "ive", 0],
    ["enci", "ence", 0],
    ["anci", "ance", 0],
    ["izer", "ize", 0],
    ["alli", "al", 0],
    ["ator", "ate", 0],
    ["logi", "log", 0],
    ["bli", "ble", 0],
    ["eli", "e", 0],
  ],
  [
    ["icate", "ic", 0],
    ["ative", "", 0],
    ["alize", "al", 0],
    ["iciti", "ic", 0],
    ["ical", "ic", 0],
    ["ness", "", 0],
    ["ful", "", 0],
  ],
  [
    ["ement", "", 1],
    ["ance", "", 1],
    ["ence", "", 1],
    ["able", "", 1],
    ["ible", "", 1],
    ["ment", "", 1],
    ["sion", "s", 1],
    ["tion", "t", 1],
    ["ant", "", 1],
    ["ent", "", 1],
    ["ism", "", 1],
    ["ate", "", 1],
    ["iti", "", 1],
    ["ous", "", 1],
    ["ive", "", 1],
    ["ize", "", 1],
    ["al", "", 1],
    ["er", "", 1],
    ["or", "", 1],
    ["ic", "", 1],
  ],
];

function strip(word: string, step: (typeof suffixes)[number]): string {
  const rule = step.find(([suffix]) => word.endsWith(suffix));
  if (rule === undefined) return word;
  const root = word.slice(0, -rule[0].length);
  return measure(root) > rule[2] ? root + rule[1] : word;
}

function tidy(word: string): string {
  const root = word.slice(0, -1);
  if (word.endsWith("e") && (measure(root) > 1 || (measure(root) === 1 && !endsShort(root)))) return root;
  return word.endsWith("ll") && measure(root) > 1 ? root : word;
}

/** How often a run of vowels is followed by one of consonants. */
function measure(word: string): number {
  return (shape(word).match(/v+c+/g) ?? []).length;
}

function hasVowel(word: string): boolean {
  return shape(word).includes("v");
}

/** Consonant, vowel, consonant other than w, x, y: a word that is short keeps or takes an `e`. */
function endsShort(word: string): boolean {
  return shape(word).endsWith("cvc") && !/[wxy]$/.test(word);
}

function shape(word: string): string {
  let found = "";
  for (const letter of word) {
    const isVowel = "aeiou".includes(letter) || (letter === "y" && found.endsWith("c"));
    found += isVowel ? "v" : "c";
  }
  return found;
}
