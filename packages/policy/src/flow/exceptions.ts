import type { FlowMemory } from "./memory.ts";
import type { Finding } from "./finding.ts";
import { choosing, isThing } from "./lexicon.ts";
import type { Slot } from "./slots.ts";
import type { Piece } from "./source.ts";
import { tellingWords, withoutDomains } from "./words.ts";

/** "All except Zed", "but never to ana@example.com": up to where the clause ends; a full stop within an address ends none. */
const excepting =
  /\b(?:(?:but |and |or )?(?:not|never)(?: \w+)? (?:to|with|for) (?=["'‘“#]?(?:\S*@|\p{Lu}|www|https?:))|except(?: for)?\b|excluding\b|apart from\b|aside from\b|other than\b|(?:all|every|everyone|everybody|anyone|anybody) but\b|but not\b)(?:[^,.;:!?\n]|[.:](?=\S))*/gu;

/** What a text leaves out of what it asks for, and the text without that. */
export function exceptionsIn(text: string): { readonly rest: string; readonly left: readonly string[] } {
  const left: string[] = [];
  const rest = text.replaceAll(excepting, (found) => {
    left.push(found);
    return /^(?:all|every)/.exec(found) === null ? " " : `${found.replace(/ but\b.*$/s, "")} `;
  });
  return { rest, left };
}

/** Whom and what the user's words leave out is not meant, though "all" is asked for. */
export function judgeException({ user, excepted }: FlowMemory, { path, value }: Slot, pieces: readonly Piece[]): Finding[] {
  if (excepted.size === 0) return [];
  const words = [
    ...tellingWords(withoutDomains(String(value))),
    ...pieces.filter(({ kind }) => kind === "named").flatMap(({ record }) => [...record.words]),
  ];
  const out = words.find((word) => excepted.has(word) && !user.words.has(word) && !isThing(word) && !choosing.has(word));
  if (out === undefined) return [];
  const sentence = `${path}, ${JSON.stringify(String(value).slice(0, 80))}, is what your words leave out.`;
  return [{ type: "unproven", id: "left_out", path, value: String(value), sentence }];
}
