import { atomsOf, hostOf, isAddress } from "./atoms.ts";
import type { Atom } from "./atoms.ts";
import { choosing, isThing, meet } from "./lexicon.ts";
import type { FlowMemory } from "./memory.ts";
import type { Asked } from "./request.ts";
import type { Piece, RecordOf, Source } from "./source.ts";
import { keyOf, rowOf, stem, tellingWords, withoutDomains, wordsOf } from "./words.ts";

/**
 * Where a value of a call stood. `user`: in the user's words, or in trusted text. `meant`: a field of a record that the
 * user's words point to. `field`: of another record. `prose`: only in text that others wrote. `none`: nowhere.
 */
export interface Origin {
  readonly from: "user" | "meant" | "field" | "prose" | "none";
  /** The tool in whose result it stood. */
  readonly tool: string | null;
  readonly pieces: readonly Piece[];
}

/** What is looked for where. */
export interface Sought {
  readonly isOfKind?: (piece: Piece) => boolean;
  /** It says who: what others call a thing doesn't count. */
  readonly isWhom?: boolean;
  /** A small number that the user didn't say as that of a thing: "before 3 pm" is no meeting's. */
  readonly isNumber?: boolean;
}

const nowhere: Origin = { from: "none", tool: null, pieces: [] };
const ofUser: Origin = { from: "user", tool: null, pieces: [] };

/** Where a value as a whole stood. */
export function originOf(
  memory: FlowMemory,
  value: string,
  { isOfKind = () => true, isWhom = false, isNumber = false }: Sought = {},
): Origin {
  const key = keyOf(value);
  if (key === "") return ofUser;
  const atoms = atomsOf(value);
  const single = atoms.length === 1 && atoms[0]!.text.length >= value.trim().length - 1 ? atoms[0] : undefined;
  if (!isNumber && isSaid(memory, value, single)) return ofUser;
  const fields = [
    ...(memory.named.get(key) ?? []),
    ...(single === undefined || single.key === key ? [] : (memory.named.get(single.key) ?? [])),
  ].filter((piece) => piece.kind === "named" && isOfKind(piece));
  const meant = fields.filter((piece) => isMeant(memory, piece.record, isWhom) || isNumberOfMade(piece));
  if (meant.length > 0) return { from: "meant", tool: meant[0]!.record.source.tool, pieces: meant };
  if (fields.length > 0) return { from: "field", tool: fields[0]!.record.source.tool, pieces: fields };
  const prose =
    single === undefined ? proseWith(memory, wordsOf(value)) : (memory.atoms.get(single.key) ?? proseWith(memory, wordsOf(value)));
  const titles = (memory.named.get(key) ?? []).filter(({ kind }) => kind === "title");
  const written = [...prose, ...titles];
  return written.length === 0 ? nowhere : { from: "prose", tool: written[0]!.record.source.tool, pieces: written };
}

/** The user said it, or a trusted text. */
export function isSaid({ user, trusted }: FlowMemory, value: string, atom?: Atom): boolean {
  return [user, trusted].some((said) => {
    if (atom !== undefined && atom.kind !== "code") return said.atoms.has(atom.key);
    const row = rowOf(wordsOf(value));
    return row.trim() !== "" && said.rows.some((text) => text.includes(row));
  });
}

/** The user said a number as that of a thing: "meeting 3", "files 4 and 5", "with the id 7", "#7". */
export function isSaidAsNumber({ user, trusted }: FlowMemory, value: string, things: ReadonlySet<string>): boolean {
  const isThing = (word: string): boolean =>
    /^(?:id|ids|no|nr|num|number|numbers|ref|reference)$/.test(word) || things.has(stem(word)) || meet([stem(word)], things);
  return [user, trusted].some(({ rows, numbered }) => {
    if (numbered.has(value)) return true;
    return rows.some((row) => {
      const words = row.trim().split(" ");
      return words.some(
        (word, at) => word === value.toLowerCase() && isThing(words.slice(0, at).findLast((one) => !/^(?:\d+|and|or|is)$/.test(one)) ?? ""),
      );
    });
  });
}

/** Texts of others in which these words stand in a row. */
export function proseWith({ prose }: FlowMemory, words: readonly string[]): readonly Piece[] {
  let fewest: readonly Piece[] | null = null;
  for (const word of words) {
    const pieces = prose.get(word);
    if (pieces === undefined) return [];
    if (fewest === null || pieces.length < fewest.length) fewest = pieces;
  }
  if (fewest === null || words.length === 1) return fewest ?? [];
  const row = rowOf(words);
  return fewest.filter((piece) => piece.row.includes(row));
}

/**
 * The user's words point to a record: they hold words of its fields, and none beside it fits clearly better; or it is the
 * one answer to a question that was asked in the user's words.
 */
export function isMeant(memory: FlowMemory, record: RecordOf, isWhom = false): boolean {
  const { group, source } = record;
  const score = scoreOf(memory, record, isWhom);
  if (group.records.length <= 1) return score >= 1 || isAskedInWords(memory, source);
  return score > 0 && score * 2 >= Math.max(...group.records.slice(0, mostCompared).map((other) => scoreOf(memory, other, isWhom)));
}

/** The number of what this session itself has made; what else such an answer holds, others may have written. */
function isNumberOfMade({ field, record }: Piece): boolean {
  return record.source.isMade && record.group.isRoot && field.has("id");
}

/** As `isMeant`, or all that stand beside it are: then nothing tells which. */
function isAmongMeant(memory: FlowMemory, record: RecordOf): boolean {
  return isMeant(memory, record) || scoreOf(memory, record, false, 1) >= 1 / record.group.records.length;
}

const mostCompared = 200;

/** How much the user's words say of a record: a word counts the more, the fewer records beside it hold it. `isWhom`: of whose it is. */
function scoreOf({ user, names }: FlowMemory, { words, titles, amounts, group }: RecordOf, isWhom: boolean, mostShared = 0.5): number {
  let score = 0;
  const size = group.records.length;
  for (const word of words) {
    if (!user.words.has(word) || choosing.has(word) || /^\d{1,2}$/.test(word)) continue;
    // "Nora Lind" as the subject of a mail makes nobody her.
    if (isWhom && titles.has(word) && (names.has(word) || user.whom.has(word))) continue;
    const count = group.counts.get(word) ?? 1;
    if (size > 1 && count > size * mostShared && count > 1) continue;
    score += (isThing(word) ? 0.5 : 1) / count;
  }
  for (const amount of amounts) if (amount >= 5 && user.numbers.has(amount)) score += 1 / (group.amounts.get(amount) ?? 1);
  return score;
}

/** What the call that brought it was asked with, the user had said. */
export function isAskedInWords(memory: FlowMemory, { asked }: Source): boolean {
  return asked.some((text) => {
    const words = tellingWords(withoutDomains(text));
    const [atom] = atomsOf(text);
    if (isSaid(memory, text, atom)) return keyOf(text).length >= 3;
    return words.some((word) => !isThing(word)) && words.every((word) => memory.user.words.has(word));
  });
}

/** The user named the very place where a text stands: a file, a page, by its name. */
export function isNamedSource(memory: FlowMemory, { record }: Piece): boolean {
  return record.source.asked.some((text) => text.length >= 4 && isSaid(memory, text, atomsOf(text)[0]) && /[./\d]/.test(text));
}

/** The user's words point to where a text stands, or to the kind of thing that it is. */
export function isProseMeant(memory: FlowMemory, piece: Piece): boolean {
  return isPointedTo(memory, piece) || isKindMeant(memory, piece.record.source);
}

/** The user's words point to where a text stands: the place, what was asked for, the record. */
export function isPointedTo(memory: FlowMemory, piece: Piece): boolean {
  const { record } = piece;
  return isNamedSource(memory, piece) || isAskedInWords(memory, record.source) || isAmongMeant(memory, record);
}

function isKindMeant({ user }: FlowMemory, { toolWords }: Source): boolean {
  return meet(user.words, toolWords);
}

/**
 * A value that stands in the text of a place which the user named, and that is itself called as the user's words call
 * somebody: `dora@example.com` for "Dora", from the page that was named. It counts where nothing else there is called so.
 */
export function isPickedOut(memory: FlowMemory, atom: Atom, pieces: readonly Piece[], isLoose = false): boolean {
  const ofPlace = pieces.filter((piece) => (isLoose ? isPointedTo(memory, piece) : isNamedSource(memory, piece)));
  if (ofPlace.length === 0 || !isCalled(memory, atom)) return false;
  const rivals = new Set(
    ofPlace
      .flatMap(({ text }) => atomsOf(text))
      .filter((other) => other.kind === atom.kind && isCalled(memory, other))
      .map(({ key }) => key),
  );
  const known = memory.addresses.some((other) => other.key !== atom.key && other.kind === atom.kind && isCalled(memory, other));
  return rivals.size === 1 && !known;
}

/** Whether a clause says to whom: it holds an address, or the name of somebody who was found. */
export function saysWhom({ names, user }: FlowMemory, { words, quoted }: Asked): boolean {
  if (quoted.some((text) => atomsOf(text).some(isAddress))) return true;
  for (const word of words) if (names.has(word) || (word.length >= 10 && /\d{6}/.test(word) && user.atoms.has(word))) return true;
  return false;
}

/** Whether a clause calls an address by name: the address's own, or another in the same record. */
export function isCalledIn({ words, quoted }: Asked, value: string, pieces: readonly Piece[]): boolean {
  if (quoted.some((text) => keyOf(text).includes(keyOf(value)))) return true;
  const own = tellingWords(withoutDomains(value));
  if (own.some((word) => words.has(word))) return true;
  return pieces.some(({ kind, record }) => kind === "named" && [...record.names].some((word) => words.has(word)));
}

const commonInAddresses = new Set(
  "mail email info contact hello news support team admin office website site page blog post article web online company my our the new home shop store link".split(
    " ",
  ),
);

function isCalled({ user }: FlowMemory, atom: Atom): boolean {
  const name = atom.kind === "email" ? atom.key.slice(0, atom.key.lastIndexOf("@")) : atom.key;
  return tellingWords(withoutDomains(name)).some(
    (word) => word.length >= 3 && user.words.has(word) && !commonInAddresses.has(word) && !isThing(word),
  );
}

/** Whether others' text speaks of a value, or of the record that it stands in, and the user doesn't. */
export function isSpokenOf(memory: FlowMemory, value: string, pieces: readonly Piece[]): boolean {
  const isIn = (text: string, from?: RecordOf): boolean => proseWith(memory, wordsOf(text)).some(({ record }) => record !== from);
  if (isIn(value)) return true;
  return pieces.some(({ record }) => [...record.keys].some((key) => isIn(key, record)));
}

export function isKnownHost({ user, trusted }: FlowMemory, atom: Atom): boolean {
  const host = hostOf(atom);
  return [user, trusted].some(({ atoms }) => atoms.has(host) || [...atoms].some((key) => key.startsWith(`${host}/`)));
}
