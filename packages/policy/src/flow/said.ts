import { atomsOf } from "./atoms.ts";
import type { Day } from "./dates.ts";
import { daysOf } from "./dates.ts";
import { rowOf, tellingWords, withoutDomains, wordsOf } from "./words.ts";

/** What was said by the user, or by a trusted text. */
export interface Said {
  readonly rows: string[];
  readonly words: Set<string>;
  readonly atoms: Set<string>;
  readonly numbers: Set<number>;
  readonly days: Day[];
  /** Numbers of things: "#12". */
  readonly numbered: Set<string>;
  /** Addresses that were given as somebody's: "her address is ana@example.com". */
  readonly given: Set<string>;
  /** Stems of names behind words that say to or with whom: "email Nora", "for Bo". */
  readonly whom: Set<string>;
}

export function newSaid(): Said {
  return {
    rows: [],
    words: new Set(),
    atoms: new Set(),
    numbers: new Set(),
    days: [],
    numbered: new Set(),
    given: new Set(),
    whom: new Set(),
  };
}

export function say(said: Said, text: string): void {
  said.rows.push(rowOf(wordsOf(text)));
  for (const word of tellingWords(withoutDomains(text))) said.words.add(word);
  for (const atom of atomsOf(text)) said.atoms.add(atom.key);
  for (const number of numbersOf(text)) said.numbers.add(number);
  said.days.push(...daysOf(text));
  for (const [, number] of text.matchAll(/#(\d{1,9})\b/g)) said.numbered.add(number!);
  for (const sentence of text.split(/(?<=[.!?;])\s+|\n+/))
    if (giving.test(sentence)) for (const atom of atomsOf(sentence)) said.given.add(atom.key);
  for (const [, name] of text.matchAll(whom)) for (const word of tellingWords(name!)) said.whom.add(word);
}

const giving =
  /\b(?:his|her|their|its|my|our|your|the|whose|['’]s)\s+(?:[\w-]+\s+){0,2}(?:e-?mail|mail|address|account|iban|number|handle|phone|url|link|website|site|page)\b.{0,20}(?:\bis\b|[:=])/i;
const leading =
  "to with for cc bcc and or email e-mail mail message dm text send forward invite tell ask remind notify inform ping contact pay give let";
const whom = new RegExp(
  `\\b(?:${leading.replaceAll(/\S+/g, (word) => `[${word[0]!}${word[0]!.toUpperCase()}]${word.slice(1)}`).replaceAll(" ", "|")})` +
    String.raw`\s+(\p{Lu}[\p{L}'’-]+(?:\s\p{Lu}[\p{L}'’-]+)?)`,
  "gu",
);

/** Amounts and counts, not the digits of numbers that only name something. */
export function numbersOf(text: string): number[] {
  return [...text.matchAll(/(?<![\p{L}\p{N}.,-])[$€£¥]?(\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?|\d{1,9}(?:\.\d+)?)(?![\p{L}\p{N}])/gu)].map(
    (found) => Number(found[1]!.replaceAll(/[,' ]/g, "")),
  );
}
