import type { Json, TrustLabel } from "@holdfast/protocol";
import { parseLoosely } from "./loose-json.ts";
import { keyOf, nameWords, rowOf, stem, tellingWords, withoutDomains, wordsOf } from "./words.ts";

/**
 * How a piece of a result came to be. `named`: a field that names something (a name, an address, a number). `title`: what a
 * thing is called by whoever made it. `prose`: text that somebody wrote, and in which anything can stand.
 */
export type PieceKind = "named" | "title" | "prose";

export interface Piece {
  readonly kind: PieceKind;
  readonly text: string;
  /** Of prose: its words in a row, to look into. */
  readonly row: string;
  /** Stems of the names of the fields that lead to it. */
  readonly field: ReadonlySet<string>;
  readonly record: RecordOf;
}

/** The fields that belong together: one object of a result, or one entry of a table. */
export interface RecordOf {
  readonly source: Source;
  /** Stems of what its fields say, without its prose. */
  readonly words: Set<string>;
  /** Those that only its titles say: whoever made it chose them. */
  readonly titles: Set<string>;
  /** What its fields say, as they are compared; not numbers alone. */
  readonly keys: Set<string>;
  /** Those of its fields that are called a name. */
  readonly names: Set<string>;
  /** Numbers of its fields that aren't ids. */
  readonly amounts: Set<number>;
  /** The records beside it: those of one list. */
  readonly group: Group;
}

export interface Group {
  /** The result as a whole. */
  readonly isRoot: boolean;
  readonly records: RecordOf[];
  /** In how many of the records a stem stands. */
  readonly counts: Map<string, number>;
  readonly amounts: Map<number, number>;
}

/** One result, or one message that isn't the user's. */
export interface Source {
  readonly callId: string;
  readonly tool: string;
  /** Stems of the things that the tool's name speaks of. */
  readonly toolWords: ReadonlySet<string>;
  readonly label: TrustLabel;
  /** What the call was asked with, as texts. */
  readonly asked: readonly string[];
  /** The call brings one text that somebody wrote, whatever it looks like: a page, a file, a note. */
  readonly isText: boolean;
  /** The call made something: the number that its answer gives is its own doing. */
  readonly isMade: boolean;
}

const titleField = /^(?:title|subject|headline|heading|topic|summary|label)$/;
const proseField =
  /^(?:body|bodies|content|contents|text|texts|message|messages|description|descriptions|comment|comments|review|reviews|note|notes|bio|about|details|html|markdown|snippet|excerpt|abstract|transcript|caption|instructions|feedback|memo|remarks|output|stdout|stderr|data|reason|quote)$/;
const longestName = 80;
const mostNameWords = 9;
const mostPieces = 5_000;

const secretField = new Set(
  [
    "password",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "pin",
    "credential",
    "cvv",
    "cvc",
    "ssn",
    "passport",
    "licence",
    "license",
    "otp",
    "code",
    "key",
  ].map(stem),
);

/** Whether a field is called as what nobody tells: a password, the number of a passport. */
export function isSecretField(field: ReadonlySet<string>): boolean {
  for (const word of field) if (secretField.has(word)) return true;
  return false;
}

/** Takes a result apart into its pieces. What is no JSON is a list of names where all its lines are short, and otherwise prose. */
export function piecesOf(text: string, source: Source): Piece[] {
  const pieces: Piece[] = [];
  const root = newGroup(true);
  // What commands and files of this machine show, the model may have written there itself: nothing in it is a field.
  const found = source.label === "tool" ? undefined : parseLoosely(text);
  const value = found?.value;
  const isRecord =
    value !== undefined && (typeof value === "object" || typeof value === "number") && (!source.isText || isWrapped(value, source.asked));
  if (isRecord) {
    walk(value, [], newRecord(source, root), root);
    for (const part of found!.rest) add("prose", part, [], newRecord(source, newGroup()));
    return pieces;
  }
  const plain = typeof value === "string" ? value : text;
  const lines = plain.split("\n").filter((line) => line.trim() !== "");
  const record = newRecord(source, root);
  if (
    source.label !== "tool" &&
    !source.isText &&
    lines.length > 0 &&
    lines.length <= 1_000 &&
    lines.every((line) => isName(line.trim()))
  ) {
    for (const line of lines) {
      const [, label, rest] = /^([^:]{1,40}):\s+(.+)$/.exec(line) ?? [];
      add("named", (rest ?? line).trim(), label === undefined ? [] : [label], lines.length === 1 ? record : newRecord(source, root));
    }
  } else if (plain.trim() !== "") add("prose", plain, [], record);
  return pieces;

  function add(kind: PieceKind, content: string, path: readonly string[], of: RecordOf): void {
    if (pieces.length >= mostPieces) return;
    const field = new Set(path.flatMap((name) => nameWords(name).map(stem)));
    pieces.push({ kind, text: content, row: kind === "prose" ? rowOf(wordsOf(content)) : "", field, record: of });
    if (kind === "prose") return;
    const key = keyOf(content);
    if (key.length >= 5 && !/^\d+$/.test(key)) of.keys.add(key);
    const amount = Number(content);
    if (Number.isFinite(amount) && !field.has("id") && !of.amounts.has(amount)) {
      of.amounts.add(amount);
      of.group.amounts.set(amount, (of.group.amounts.get(amount) ?? 0) + 1);
    }
    // What others call a thing is no name of anybody.
    const isCalled = kind === "named" && (isNameOf(content) || field.has("nam") || field.has("user") || field.has("sender"));
    for (const word of new Set(tellingWords(withoutDomains(content)))) {
      if (kind === "named") of.titles.delete(word);
      else if (!of.words.has(word)) of.titles.add(word);
      note(of, word);
      if (isCalled) of.names.add(word);
    }
    const company = companyOf(content);
    if (company !== null) note(of, company);
  }

  function walk(node: Json, path: readonly string[], record: RecordOf, group: Group): void {
    if (node === null || typeof node === "boolean") return;
    if (typeof node === "string" || typeof node === "number") {
      add(kindOf(node, path.at(-1) ?? ""), String(node), path, record);
      return;
    }
    if (Array.isArray(node)) {
      const beside = newGroup();
      const isOfRecord = (entry: Json): boolean => path.length > 0 && (typeof entry !== "object" || entry === null);
      for (const entry of node) walk(entry, path, isOfRecord(entry) ? record : newRecord(source, beside), beside);
      return;
    }
    const entries = Object.entries(node as { readonly [key: string]: Json });
    const isTable = entries.length > 0 && entries.every(([key]) => !isFieldName(key));
    for (const [key, entry] of entries) {
      if (isTable) {
        const row = newRecord(source, group);
        add("named", key, [], row);
        walk(entry, [...path, key], row, newGroup());
      } else if (typeof entry === "object" && entry !== null && !Array.isArray(entry)) {
        walk(entry, [...path, key], newRecord(source, newGroup(), record), newGroup());
      } else walk(entry, [...path, key], record, group);
    }
  }
}

/** The server's own words around a text, `{"id": …, "content": "…"}`: it gives the number that it was asked with. */
function isWrapped(value: Json, asked: readonly string[]): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value as { readonly [key: string]: Json });
  const isNumber = ([key, entry]: [string, Json]): boolean =>
    nameWords(key).includes("id") && (typeof entry === "string" || typeof entry === "number") && asked.includes(String(entry));
  return entries.some(isNumber) && entries.some(([key, entry]) => proseField.test(key.toLowerCase()) && typeof entry === "string");
}

/** "The mail from Gadgetworld": whose address it is says its domain, where that is one word. */
function companyOf(content: string): string | null {
  const [, label = null] = /^[^\s@]{1,64}@(?:[a-z\d-]+\.)*?([a-z\d]{3,40})(?:\.[a-z]{2,3})?\.[a-z]{2,12}$/i.exec(content.trim()) ?? [];
  return label === null ? null : stem(label.toLowerCase());
}

/** What somebody or something is called, or an address of mail, which says who. */
export function isNameOf(text: string): boolean {
  return /^\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+){0,2}$/u.test(text) || /^[^\s@]{1,64}@[^\s@]{1,200}$/.test(text);
}

function kindOf(value: string | number, name: string): PieceKind {
  if (typeof value === "number") return "named";
  const last = name.toLowerCase();
  if (proseField.test(last)) return "prose";
  const isShort = isName(value);
  if (titleField.test(last)) return isShort ? "title" : "prose";
  return isShort ? "named" : "prose";
}

/** Short, on one line, and no sentence. */
function isName(text: string): boolean {
  return (
    text.length <= longestName &&
    !/[\n\r]/.test(text) &&
    wordsOf(text).length <= mostNameWords + (/\d/.test(text) ? 5 : 0) &&
    !/[.!?]\s+\p{L}/u.test(text.replaceAll(/\b\p{L}{1,3}\.\s/gu, ""))
  );
}

/** `first_name`, `ID Number`: what programs call a field; `Luxury Palace` is the key of a table where no other key is one. */
function isFieldName(key: string): boolean {
  return /^[a-z_$][\w$-]*$/.test(key) || /\b(?:name|number|address|email|phone|date|id|type|status|city|time)\b/i.test(key);
}

function newGroup(isRoot = false): Group {
  return { isRoot, records: [], counts: new Map(), amounts: new Map() };
}

function newRecord(source: Source, group: Group, within?: RecordOf): RecordOf {
  const record: RecordOf = {
    source,
    words: new Set(within?.words ?? []),
    titles: new Set(within?.titles ?? []),
    keys: new Set(),
    names: new Set(within?.names ?? []),
    amounts: new Set(),
    group,
  };
  group.records.push(record);
  return record;
}

function note(record: RecordOf, word: string): void {
  if (record.words.has(word)) return;
  record.words.add(word);
  record.group.counts.set(word, (record.group.counts.get(word) ?? 0) + 1);
}
