import type { CallOutcome, Json } from "@holdfast/protocol";
import { noteOf } from "../notes/note-write.ts";
import type { ArchivedLine } from "./lines.ts";

/** What a call did to a file or a note, as far as its input tells: the lines that it took out, or all that is there now. */
export interface Change {
  readonly seq: number;
  readonly callId: string;
  /** The file's path, or `note:` and the section. */
  readonly of: string;
  readonly removed: readonly string[];
  /** Null where it isn't known: a command did it. Undefined where it changed only what it took out. */
  readonly now?: ReadonlySet<string> | null;
}

/** Fields of an edit that hold what it replaces, and those that hold a patch. */
const oldField = /^old(?:_|$|[A-Z])/;
const patchField = /^(?:patch|diff)$/;
/** Shorter ones stand in too many lines. */
const shortestRemoved = 3;

/** What a call's input says: its texts as they are meant, not as JSON writes them. Of an edit only what it puts in. */
export function plainOf(input: string, isEdit = false): string {
  const lines: string[] = [];
  readFields(input, (name, value) => {
    if (isEdit && oldField.test(name)) return;
    const text = isEdit && patchField.test(name) ? linesOf(value, (line) => !line.startsWith("-")).join("\n") : value;
    lines.push(text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`);
  });
  return lines.length === 0 ? input : lines.join("\n");
}

/** What a call that ended well changed. `input`: of the tool that is meant, as JSON. */
export function changesOf(tool: string, input: string, { changed = [] }: CallOutcome, seq: number, callId: string): Change[] {
  if (tool === "note_write") {
    const note = noteOf(parsedInput(input));
    return note === null || note.isAppended ? [] : [{ seq, callId, of: subjectOf(note), removed: [], now: new Set() }];
  }
  if (changed.length === 0) return [];
  const [olds, news] = [new Set<string>(), new Set<string>()];
  let content: string | null = null;
  readFields(input, (name, value) => {
    if (patchField.test(name)) {
      for (const line of linesOf(value, (one) => one.startsWith("-"))) olds.add(line.slice(1).trim());
      for (const line of linesOf(value, (one) => /^[+ ]/.test(one))) news.add(line.slice(1).trim());
    } else {
      const to = oldField.test(name) ? olds : news;
      for (const line of linesOf(value)) to.add(line.trim());
      if (name === "content") content = value;
    }
  });
  const removed = [...olds].filter((line) => line.length >= shortestRemoved && !news.has(line));
  return changed.map(({ path, afterDigest }) => {
    const isEdit = olds.size > 0 && afterDigest !== null;
    if (isEdit) return { seq, callId, of: path, removed };
    const now = afterDigest === null ? new Set<string>() : content === null ? null : news;
    return { seq, callId, of: path, removed: [], now };
  });
}

/** The note that a call writes, as what its lines are from. */
export function subjectOf({ section }: { readonly section: string }): string {
  return `note:${section}`;
}

export function isNote(of: string): boolean {
  return of.startsWith("note:");
}

/** A call's own input, as what its lines are from. */
export function inputOf(callId: string): string {
  return `input:${callId}`;
}

export function isInput(of: string): boolean {
  return of.startsWith("input:");
}

/** What it means that a change was taken back: what it put in is gone, and what was seen since may be. */
export function undone({ callId, of }: Change, seq: number): Change[] {
  const back = { seq, callId, removed: [] };
  return [
    { ...back, of: inputOf(callId), now: new Set() },
    { ...back, of, now: null },
  ];
}

/** How a line stands after the changes since: the event that took it out, or that may have. */
export interface LineChange {
  readonly by: number;
  readonly isSure: boolean;
}

export function lineChange({ text, origin }: Pick<ArchivedLine, "text" | "origin">, changes: readonly Change[]): LineChange | null {
  let found: LineChange | null = null;
  for (const { seq, of, removed, now } of changes) {
    if (seq <= origin.seq || origin.speaker === "user") continue;
    const isFrom = origin.of?.includes(of) === true;
    if (isFrom && now instanceof Set && !now.has(bare(text))) return { by: seq, isSure: true };
    if (now !== undefined) {
      if ((isFrom && now === null) || isNamed(of, origin.from)) found ??= { by: seq, isSure: false };
      continue;
    }
    if (!isFrom && !isNamed(of, `${origin.from}\n${text}`)) continue;
    if (removed.some((line) => holdsWhole(text, line))) return { by: seq, isSure: true };
  }
  return found;
}

/** A line as `read_file` shows it, without its number. */
function bare(text: string): string {
  return text.replace(/^\d+\t/, "").trim();
}

function isNamed(path: string, words: string): boolean {
  return holdsWhole(words, path.slice(path.lastIndexOf("/") + 1));
}

/** Not within a longer word or number. */
function holdsWhole(text: string, piece: string): boolean {
  for (let at = text.indexOf(piece); at >= 0; at = text.indexOf(piece, at + 1)) {
    if (!isWord(text, at - 1, at) && !isWord(text, at + piece.length, at + piece.length - 1)) return true;
  }
  return false;
}

/** Whether the character at `at` goes on with the word that the one beside it is of. */
function isWord(text: string, at: number, beside: number): boolean {
  const word = /[\p{L}\p{N}_]/u;
  return word.test(text[at] ?? "") && word.test(text[beside] ?? "");
}

function linesOf(text: string, is: (line: string) => boolean = () => true): string[] {
  return text.split("\n").filter(is);
}

/** Null where it is no JSON. */
export function parsedInput(input: string): Json {
  try {
    return JSON.parse(input) as Json;
  } catch {
    return null;
  }
}

/** Each text of an input by the name of its nearest field. */
function readFields(input: string, take: (name: string, value: string) => void): void {
  const read = (value: unknown, name: string): void => {
    if (typeof value === "object" && value !== null) for (const [key, inner] of Object.entries(value)) read(inner, key);
    else take(name, String(value));
  };
  const value = parsedInput(input);
  if (value !== null) read(value, "input");
}
