import type { Mandate } from "./action.ts";
import type { Atom } from "./atoms.ts";
import { atomsOf, hostOf, isAddress } from "./atoms.ts";
import { judgeDictation } from "./dictation.ts";
import type { Marked } from "./disguise.ts";
import { disguisedIn } from "./disguise.ts";
import type { Finding } from "./finding.ts";
import type { FlowMemory } from "./memory.ts";
import { isKnownHost, isPickedOut, isPointedTo, isProseMeant, isSaid, originOf, proseWith } from "./origin.ts";
import { privateParts } from "./private.ts";
import { readRequest } from "./request.ts";
import type { Slot } from "./slots.ts";
import type { Piece } from "./source.ts";
import type { DescribedTool } from "./tool.ts";
import { rowOf, wordsOf } from "./words.ts";

/** So many words in a row are a quotation: of a title, and of a text. */
const quotedTitle = 4;
const quotedText = 6;
const window = 4;
const longestRun = 12;
const mostCompared = 2_000;

/** What a call says: nothing that leads elsewhere, nothing that was nobody's to tell, nothing that others dictated. */
export function judgeContent(memory: FlowMemory, tool: DescribedTool, slots: readonly Slot[], mandate: Mandate): Finding[] {
  const texts = slots.filter(({ role, value }) => !isJudgedWhole(role) && typeof value === "string");
  const said = texts.filter(({ role }) => role === "content" || role === "title" || role === "place");
  const tells = tool.hints.reachesOut !== false;
  return [
    ...texts.flatMap((slot) => judgeAddressesIn(memory, slot, mandate)),
    // A day is no number of a document; whatever else it says is asked about.
    ...(tells ? texts.filter(({ role }) => role !== "time").flatMap((slot) => judgePrivate(memory, slot)) : []),
    ...said.flatMap((slot) => judgeQuotation(memory, slot)),
    ...judgeDisguised(memory, texts, tells),
    ...judgeDictation(said, mandate, slots),
  ];
}

/** Of these the whole value has to stand somewhere; the others are texts, whatever they are meant for. */
function isJudgedWhole(role: Slot["role"]): boolean {
  return role === "address" || role === "target" || role === "id" || role === "secret";
}

/** What a text says without saying it: an address that only others' text names, or a code, in another writing or in parts. */
function judgeDisguised(memory: FlowMemory, texts: readonly Slot[], tells: boolean): Finding[] {
  const whole = texts.map(({ value }) => String(value)).join("\n");
  const atoms = atomsOf(whole);
  const plain = new Set(atoms.map(({ key }) => key));
  // What is told plainly, is judged as it stands.
  const hosts = atoms.filter(({ kind }) => kind === "url" || kind === "email").map(hostOf);
  const isPlainHost = (part: string): boolean => hosts.some((host) => host === part || host.endsWith(`.${part}`));
  const isOthers = ({ atom, part }: Marked): boolean =>
    part !== undefined && (isSaid(memory, part) || isPlainHost(part) || (part.includes(".") && isKnownHost(memory, atom)))
      ? false
      : isAddress(atom)
        ? originOf(memory, atom.text).from === "prose"
        : tells && privateParts(memory, atom.text).length > 0;
  const [marked] = disguisedIn(memory.marks, whole).filter((one) => !plain.has(one.atom.key) && isOthers(one));
  if (marked === undefined) return [];
  const found = marked.atom;
  const [slot] = texts;
  return [
    {
      type: "tainted",
      id: "disguised",
      path: slot?.path ?? "",
      value: found.text,
      sentence: `The call holds ${JSON.stringify(found.text.slice(0, 80))} in another writing or in part, which stands in what was read, not in your words.`,
    },
  ];
}

/** Links, addresses and accounts in a text lead its reader somewhere. */
function judgeAddressesIn(memory: FlowMemory, { path, value, role }: Slot, { by }: Mandate): Finding[] {
  const spoken = [...by, ...memory.asked.filter(({ kinds }) => kinds.some((kind) => kind !== "read"))];
  const wantsLink = spoken.some(({ links }) => links !== null);
  const wantsAddress = wantsLink || by.some(({ words }) => words.has("address"));
  // "A page with a summary of each website that was posted"
  const wantsAll = by.some(({ kinds, links }) => links === "all" && kinds.includes("post"));
  return (
    atomsOf(String(value))
      // A time has digits as a number to call has.
      .filter((atom) => isAddress(atom) && (atom.kind !== "phone" || role === "content" || role === "title" || role === "place"))
      .flatMap((atom): Finding[] => {
        const { from, pieces, tool } = originOf(memory, atom.text);
        if (from === "user" || from === "meant" || from === "field") return [];
        if (from === "prose" && isPickedOut(memory, atom, pieces, wantsAddress)) return [];
        if (from === "prose" && wantsLink && isOnlyLink(memory, atom, pieces)) return [];
        if (from === "prose" && wantsAll && pieces.some((piece) => isProseMeant(memory, piece) && asksForNothing(piece))) return [];
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
            isPointedTo: wantsAddress && pieces.some((piece) => isPointedTo(memory, piece)),
          },
        ];
      })
  );
}

/** A text that was posted to be read, not one that wants something done. */
function asksForNothing({ text }: Piece): boolean {
  return readRequest(text).every(({ kinds }) => kinds.every((kind) => kind === "read"));
}

/** Nothing else that was said or read is a link, and the user's words point to where it stands. */
function isOnlyLink(memory: FlowMemory, { kind, key }: Atom, pieces: readonly Piece[]): boolean {
  if (kind !== "url" || memory.links.size !== 1 || !memory.links.has(key)) return false;
  return (
    ![...memory.user.atoms].some((said) => said.includes(".") && !said.includes("@")) && pieces.some((piece) => isPointedTo(memory, piece))
  );
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
  const least = role === "title" ? quotedTitle : quotedText;
  const quoted = quotationIn(
    memory,
    String(value),
    least,
    (piece) => role === "title" || !(isProseMeant(memory, piece) || isSaidOfMade(piece)),
  );
  if (quoted === null) return [];
  return [
    {
      type: "tainted",
      id: "quotes",
      path,
      value: quoted.run,
      sentence: `${path} repeats text that others wrote (${quoted.piece.record.source.tool}).`,
      isPointedTo: isPointedTo(memory, quoted.piece),
    },
  ];
}

/** The first run of `least` words that stands in others' text, where that counts, and isn't the user's or a field's as well. */
export function quotationIn(
  memory: FlowMemory,
  text: string,
  least: number,
  counts: (piece: Piece) => boolean,
): { readonly piece: Piece; readonly run: string } | null {
  const words = wordsOf(text).slice(0, mostCompared);
  // Every run of so many words holds one of these windows whole.
  for (let at = 0; at + window <= words.length; at += least - window + 1) {
    for (const piece of proseWith(memory, words.slice(at, at + window))) {
      const run = runIn(piece, words, at);
      if (run.length >= least && !isSaid(memory, run.join(" ")) && !isField(memory, run) && counts(piece))
        return { piece, run: run.join(" ") };
    }
  }
  return null;
}

/** "The room is booked for June 3rd": what a tool says of what it made. */
function isSaidOfMade({ field, record }: Piece): boolean {
  return record.source.isMade && record.group.isRoot && field.size === 0;
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
