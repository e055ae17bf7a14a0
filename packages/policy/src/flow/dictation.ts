import type { Mandate } from "./action.ts";
import { atomsOf } from "./atoms.ts";
import type { Finding } from "./finding.ts";
import type { Slot } from "./slots.ts";
import { rowOf, tellingWords, withoutDomains, wordsOf } from "./words.ts";

/** Whether what stands in quotes is something to be said, and no name, title or address. */
export function isDictation(text: string): boolean {
  return /\s/.test(text.trim()) && wordsOf(text).length >= 2 && atomsOf(text).length === 0;
}

/** Where the user said word for word what is to be told, it is told. `{name}`, `<name>` and `[name]` stand for anything. */
export function judgeDictation(said: readonly Slot[], { by }: Mandate, slots: readonly Slot[]): Finding[] {
  const whom = slots.flatMap(({ role, value }) => (role === "address" ? tellingWords(withoutDomains(String(value))) : []));
  const ofThem = by.filter(({ words }) => whom.some((word) => words.has(word)));
  const dictations = (ofThem.length > 0 ? ofThem : by).map(({ quoted }) => quoted.filter(isDictation));
  const dictated = dictations.flat();
  const texts = said.map(({ value }) => rowOf(wordsOf(String(value))));
  // One of the requests that it may be leaves the words open.
  if (dictated.length === 0 || texts.length === 0 || (ofThem.length > 0 && dictations.some((quotes) => quotes.length === 0))) return [];
  const isTold = dictated.some((quote) => {
    const parts = quote
      .split(/\{[^{}]*\}|<[^<>]*>|\[[^[\]]*\]/)
      .map((part) => rowOf(wordsOf(part)))
      .filter((part) => part.trim() !== "");
    return texts.some((text) => parts.every((part) => text.includes(part)));
  });
  return isTold
    ? []
    : [
        {
          type: "unproven",
          id: "dictated",
          path: said[0]!.path,
          value: String(said[0]!.value),
          sentence: "It isn't what you said word for word.",
        },
      ];
}
