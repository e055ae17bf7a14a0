import type { Item, Json, TrustLabel } from "@holdfast/protocol";
import { trustLabels } from "@holdfast/protocol/trust";
import type { Atom } from "./atoms.ts";
import { atomsOf, isAddress } from "./atoms.ts";
import type { Day } from "./dates.ts";
import { daysOf } from "./dates.ts";
import { exceptionsIn } from "./exceptions.ts";
import type { Marks } from "./disguise.ts";
import { mark } from "./disguise.ts";
import { isThing } from "./lexicon.ts";
import type { Asked } from "./request.ts";
import { isDelegating, readRequest } from "./request.ts";
import type { Said } from "./said.ts";
import { newSaid, numbersOf, say } from "./said.ts";
import type { Piece, Source } from "./source.ts";
import { isNameOf, isSecretField, piecesOf } from "./source.ts";
import { actionOf, isReadName } from "./tool.ts";
import { keyOf, nameWords, tellingWords, withoutDomains, wordsOf } from "./words.ts";

/** What a session's items say, kept so that a value can be traced to where it stood. It grows by an item at a time. */
export interface FlowMemory {
  /** How many items of the window it has taken in. */
  items: number;
  readonly calls: Map<string, { readonly tool: string; readonly input: Json }>;
  /** Those that have no result yet, in their order. */
  readonly open: Set<string>;
  readonly user: Said;
  /** What the last request of the user's asks for; an answer such as "yes, do it" leaves the one before. */
  asked: readonly Asked[];
  /** Stems of what it leaves out: "all except Zed". */
  excepted: ReadonlySet<string>;
  /** The model has answered without a call: what comes next begins anew. */
  isAnswered: boolean;
  /** It leaves it to another's text what is to be done. */
  isDelegated: boolean;
  /** Texts that are trusted as data: the runtime's own, those of a trusted project. */
  readonly trusted: Said;
  /** Fields of results, by their value. */
  readonly named: Map<string, Piece[]>;
  /** Stems of what people and places in results are called. */
  readonly names: Set<string>;
  /** Addresses that are fields of results. */
  readonly addresses: Atom[];
  /** Fields that hold secrets. */
  readonly secrets: Map<string, Piece[]>;
  /** What text of others asks for. */
  readonly suggested: Asked[];
  /** Texts that others wrote: by each word, by the atoms and by the numbers in them. */
  readonly prose: Map<string, Piece[]>;
  readonly atoms: Map<string, Piece[]>;
  /** Addresses and codes that were read, to be found in other writings. */
  readonly marks: Marks;
  readonly hosts: Set<string>;
  /** The links that stand in them. */
  readonly links: Set<string>;
  readonly numbers: Map<number, Piece[]>;
  readonly days: { readonly day: Day; readonly piece: Piece }[];
  /** The largest number that stands in a field of a result or in the user's words. */
  largest: number;
  /** Numbers of results' fields, and days. */
  readonly fieldNumbers: Set<number>;
  readonly fieldDays: Day[];
  /** What calls that were carried out were asked with, by tool. */
  readonly done: Map<string, Json[]>;
}

export function newMemory(): FlowMemory {
  return {
    items: 0,
    calls: new Map(),
    open: new Set(),
    user: newSaid(),
    asked: [],
    excepted: new Set(),
    isAnswered: false,
    isDelegated: false,
    trusted: newSaid(),
    named: new Map(),
    names: new Set(),
    addresses: [],
    secrets: new Map(),
    suggested: [],
    prose: new Map(),
    atoms: new Map(),
    marks: new Map(),
    hosts: new Set(),
    links: new Set(),
    numbers: new Map(),
    days: [],
    largest: 0,
    fieldNumbers: new Set(),
    fieldDays: [],
    done: new Map(),
  };
}

/** Takes in the items that came since the last time. */
export function remember(memory: FlowMemory, items: readonly Item[]): void {
  for (; memory.items < items.length; memory.items += 1) take(memory, items[memory.items]!);
}

function take(memory: FlowMemory, item: Item): void {
  switch (item.kind) {
    case "user_message": {
      const text = item.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      if (item.trust === "user" || item.trust === "system") hear(memory, text, !memory.isAnswered);
      else read(memory, text, sourceOf("", "message", item.trust, null));
      break;
    }
    case "tool_call":
      memory.calls.set(item.callId, callOf(item.name, item.input));
      memory.open.add(item.callId);
      memory.isAnswered = false;
      break;
    case "tool_result": {
      memory.open.delete(item.callId);
      const { tool = "", input = null } = memory.calls.get(item.callId) ?? {};
      // The runtime's own words repeat what the model wrote ("there is no tool …"): they are no source.
      if (item.status === "denied" || item.trust === "system") break;
      // An answer is the person's own; a skill of theirs informs, and asks for nothing.
      if (item.trust === "user" && tool === asking) hear(memory, item.text);
      else read(memory, item.text, sourceOf(item.callId, tool, item.trust, input, item.status === "completed"));
      if (item.status === "completed" && !isReadName(ownName(tool))) memory.done.set(tool, [...(memory.done.get(tool) ?? []), input]);
      break;
    }
    case "notice":
      if (trustLabels.indexOf(item.trust) > trustLabels.indexOf("project"))
        read(memory, item.text, sourceOf("", "notice", item.trust, null));
      break;
    case "assistant_message":
      memory.isAnswered = true;
      break;
    case "reasoning":
      // What the model says is no source: it has read the rest.
      break;
  }
}

/** A call that passes another on counts as that one. */
function callOf(name: string, text: string): { tool: string; input: Json } {
  let input: Json = null;
  try {
    input = JSON.parse(text) as Json;
  } catch {
    return { tool: name, input: null };
  }
  if (name !== "use_tool" || typeof input !== "object" || input === null || Array.isArray(input)) return { tool: name, input };
  const { name: inner, input: given } = input as { readonly [key: string]: Json };
  return typeof inner === "string" ? { tool: inner, input: given ?? null } : { tool: name, input };
}

/** The tool by which the model asks the person. */
const asking = "ask_user";

/** Tools called so make something, whose number their answer tells. */
const making =
  /^(?:create|add|make|schedule|book|reserve|order|buy|new|insert|register|save|draft|post|publish|upload|generate|copy|duplicate|clone)$/;

function sourceOf(callId: string, tool: string, label: TrustLabel, input: Json, isDone = false): Source {
  const { things, verb } = actionOf({ name: ownName(tool), description: "" });
  const isMade = isDone && label === "untrusted" && tool.startsWith("mcp__") && making.test(verb);
  const asked = textsOf(input);
  return { callId, tool, toolWords: things, label, asked, isText: bringsText(ownName(tool), asked), isMade };
}

const textThings = new Set([
  "page",
  "webpage",
  "website",
  "site",
  "article",
  "file",
  "document",
  "doc",
  "note",
  "text",
  "content",
  "body",
  "transcript",
]);
const manyOf =
  /^(?:list|search|find|query|lookup|count|all|directory|directories|folder|folders|tree|info|metadata|stat|stats|status|size|name|names)$/;

const place = /^(?:\.{0,2}|~)\/\S+$|^[^\s@]*[a-z_][^\s@]*\.[a-z][a-z\d]{0,4}$|^[a-z]+:\/\//i;

/** A look that is asked with an address or a path, or is called after the one thing that it brings: `fetch_page`, `get_note`. */
function bringsText(name: string, asked: readonly string[]): boolean {
  const words = nameWords(name);
  const { kinds, verb } = actionOf({ name, description: "" });
  if ((kinds.length > 0 && kinds[0] !== "read" && verb !== "open") || words.some((word) => manyOf.test(word))) return false;
  return words.some((word) => textThings.has(word)) || asked.some((text) => place.test(text));
}

/** A tool's name at its server. */
export function ownName(tool: string): string {
  return tool.replace(/^mcp__[^_]+(?:_[^_]+)*?__/, "");
}

export function textsOf(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

const takingBack = /\b(?:stop|wait|instead|cancel that|never ?mind|forget|no,|not any more|anymore|rather|now)\b/i;

/** Its object stands in what was said before. */
function isOfBefore({ words, quoted }: Asked): boolean {
  return (words.has("it") || words.has("them")) && quoted.length === 0 && ![...words].some(isThing);
}

function hear(memory: FlowMemory, said: string, isOn = false): void {
  const { rest: text, left } = exceptionsIn(said);
  const asked = readRequest(text);
  // What comes while the turn goes on adds to the request, and so does "make it short"; "stop, do … instead" doesn't.
  if ((isOn ? memory.asked.length > 0 : asked.length > 0 && asked.every(isOfBefore)) && !takingBack.test(text)) {
    memory.asked = [...memory.asked, ...asked];
    memory.isDelegated ||= isDelegating(text);
  } else if (asked.length > 0 || wordsOf(text).length > 6) {
    memory.asked = asked;
    memory.isDelegated = isDelegating(text);
    memory.excepted = new Set();
  }
  if (left.length > 0) memory.excepted = new Set([...memory.excepted, ...left.flatMap((part) => tellingWords(withoutDomains(part)))]);
  say(memory.user, text);
  for (const number of memory.user.numbers) memory.largest = Math.max(memory.largest, number);
}

const mostSuggested = 2_000;
const longestRequest = 20_000;
const mostPieces = 64;

function read(memory: FlowMemory, text: string, source: Source): void {
  if (trustLabels.indexOf(source.label) <= trustLabels.indexOf("project")) {
    say(memory.trusted, text);
    return;
  }
  for (const piece of piecesOf(text, source)) {
    if (piece.kind === "prose") readProse(memory, piece);
    else {
      if (piece.kind === "named" && isNameOf(piece.text)) {
        for (const word of tellingWords(withoutDomains(piece.text))) if (!isThing(word)) memory.names.add(word);
      }
      if (isSecretField(piece.field)) push(memory.secrets, keyOf(piece.text), piece);
      for (const atom of atomsOf(piece.text)) {
        mark(memory.marks, atom);
        if (isAddress(atom) && !memory.named.has(atom.key)) memory.addresses.push(atom);
        if (atom.key !== keyOf(piece.text)) push(memory.named, atom.key, piece);
      }
      push(memory.named, keyOf(piece.text), piece);
      const number = Number(piece.text);
      if (piece.text !== "" && Number.isFinite(number)) {
        memory.fieldNumbers.add(number);
        if (!piece.field.has("id")) memory.largest = Math.max(memory.largest, number);
      } else for (const one of numbersOf(piece.text)) memory.fieldNumbers.add(one);
      memory.fieldDays.push(...daysOf(piece.text));
    }
  }
}

function readProse(memory: FlowMemory, piece: Piece): void {
  // What a tool says of itself asks for nothing.
  if (piece.record.source.tool !== "search_tools" && memory.suggested.length < mostSuggested)
    memory.suggested.push(...readRequest(piece.text.slice(0, longestRequest)));
  for (const word of new Set(wordsOf(piece.text))) push(memory.prose, word, piece);
  for (const atom of atomsOf(piece.text)) {
    push(memory.atoms, atom.key, piece);
    mark(memory.marks, atom);
    if (atom.kind === "url") memory.links.add(atom.key);
    if (atom.kind === "url" && piece.record.source.label === "untrusted") memory.hosts.add(atom.key.replace(/[/?#:].*$/, ""));
  }
  for (const number of numbersOf(piece.text)) push(memory.numbers, number, piece);
  for (const day of daysOf(piece.text)) memory.days.push({ day, piece });
}

function push<K>(map: Map<K, Piece[]>, key: K, piece: Piece): void {
  const found = map.get(key);
  if (found === undefined) map.set(key, [piece]);
  else if (found.at(-1) !== piece && found.length < mostPieces) found.push(piece);
}
