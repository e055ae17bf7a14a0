import type { Mandate } from "./action.ts";
import { atomsOf, isAddress } from "./atoms.ts";
import type { Finding } from "./finding.ts";
import { meet } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import { isPickedOut, isPointedTo, isProseMeant, isSaid, originOf, proseWith } from "./origin.ts";
import { privateParts } from "./private.ts";
import type { Slot } from "./slots.ts";
import type { Piece } from "./source.ts";
import type { DescribedTool } from "./tool.ts";
import { rowOf, wordsOf } from "./words.ts";

const links = new Set(["link", "url", "address", "site", "websit", "page"]);
/** So many words in a row are a quotation: of a title, and of a text. */
const quotedTitle = 4;
const quotedText = 6;
const window = 4;
const longestRun = 12;
const mostCompared = 2_000;

/** What a call says: nothing that leads elsewhere, nothing that was nobody's to tell, nothing that others dictated. */
export function judgeContent(memory: FlowMemory, tool: DescribedTool, slots: readonly Slot[], mandate: Mandate): Finding[] {
  const said = slots.filter(({ role, value }) => (role === "content" || role === "title" || role === "place") && typeof value === "string");
  const findings = said.flatMap((slot) => [
    ...judgeAddressesIn(memory, slot, mandate),
    ...(tool.hints.reachesOut === false ? [] : judgePrivate(memory, slot)),
    ...judgeQuotation(memory, slot),
  ]);
  return [...findings, ...judgeDictation(said, mandate)];
}

/** Links, addresses and accounts in a text lead its reader somewhere. */
function judgeAddressesIn(memory: FlowMemory, { path, value }: Slot, { by }: Mandate): Finding[] {
  const wantsLink = by.some(({ words }) => meet(words, links));
  return atomsOf(String(value))
    .filter(isAddress)
    .flatMap((atom): Finding[] => {
      const { from, pieces, tool } = originOf(memory, atom.text);
      if (from === "user" || from === "meant" || from === "field") return [];
      if (from === "prose" && isPickedOut(memory, atom, pieces, wantsLink)) return [];
      const where =
        from === "prose"
          ? `stands only in text that others wrote (${tool ?? "a message"})`
          : "is neither in your words nor in anything that was read";
      return [
        {
          type: from === "prose" ? "tainted" : "unproven",
          id: "leads",
          path,
          value: atom.text,
          sentence: `${path} leads to ${JSON.stringify(atom.text.slice(0, 80))}, which ${where}.`,
          isPointedTo: wantsLink && pieces.some((piece) => isPointedTo(memory, piece)),
        },
      ];
    });
}

function judgePrivate(memory: FlowMemory, { path, value }: Slot): Finding[] {
  const [part] = privateParts(memory, String(value));
  if (part === undefined) return [];
  return [
    {
      type: "tainted",
      id: "private",
      path,
      value: part.text,
      sentence: `${path} tells ${JSON.stringify(part.text.slice(0, 40))} (${part.what}), which your words don't speak of.`,
    },
  ];
}

/** A long piece of others' text, word for word, that the user's words don't point to. */
function judgeQuotation(memory: FlowMemory, { path, value, role }: Slot): Finding[] {
  const words = wordsOf(String(value)).slice(0, mostCompared);
  const least = role === "title" ? quotedTitle : quotedText;
  // Every run of so many words holds one of these windows whole.
  for (let at = 0; at + window <= words.length; at += least - window + 1) {
    for (const piece of proseWith(memory, words.slice(at, at + window))) {
      const run = runIn(piece, words, at);
      if (run.length < least || isSaid(memory, run.join(" ")) || isField(memory, run)) continue;
      if (role !== "title" && isProseMeant(memory, piece)) continue;
      return [
        {
          type: "tainted",
          id: "quotes",
          path,
          value: run.join(" "),
          sentence: `${path} repeats text that others wrote (${piece.record.source.tool}).`,
          isPointedTo: isPointedTo(memory, piece),
        },
      ];
    }
  }
  return [];
}

/** The words around a window that stand in a text in the same row. */
function runIn({ row }: Piece, words: readonly string[], at: number): readonly string[] {
  let [from, to] = [at, at + window];
  while (from > 0 && row.includes(rowOf(words.slice(from - 1, to)))) from -= 1;
  while (to < words.length && to - from < longestRun && row.includes(rowOf(words.slice(from, to + 1)))) to += 1;
  return words.slice(from, to);
}

/** It stands in a field as well: an address, a name. */
function isField({ named }: FlowMemory, run: readonly string[]): boolean {
  return named.has(run.join(" "));
}

/** Where the user said word for word what is to be told, it is told. `{name}`, `<name>` and `[name]` stand for anything. */
function judgeDictation(said: readonly Slot[], { by }: Mandate): Finding[] {
  const dictated = by
    .flatMap(({ quoted }) => quoted)
    .filter((text) => /\s/.test(text.trim()) && wordsOf(text).length >= 2 && atomsOf(text).length === 0);
  const texts = said.map(({ value }) => rowOf(wordsOf(String(value))));
  if (dictated.length === 0 || texts.length === 0) return [];
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
