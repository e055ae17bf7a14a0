import type { Finding } from "./finding.ts";
import { choosing, isThing } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import type { Slot } from "./slots.ts";
import type { Piece } from "./source.ts";
import { tellingWords, withoutDomains } from "./words.ts";

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
