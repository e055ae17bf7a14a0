import { isAscii, type TextFile } from "./encoding.ts";
import { commonEnding, splitLines, withEndingsOf } from "./lines.ts";
import { nearMisses } from "./similar.ts";

export interface Replacement {
  readonly old: string;
  readonly new: string;
  readonly all: boolean;
}

export type Replaced =
  | { readonly type: "replaced"; readonly text: string; readonly notes: readonly string[] }
  /** Says which edit can't be made, and what is near. */
  | { readonly type: "refused"; readonly text: string };

/** A piece of the original text and what takes its place. */
interface Span {
  readonly edit: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Literal replacements, each looked up in the original text, so none can shift or feed another. `old` must occur exactly
 * once unless `all`. A newline in it matches LF and CRLF alike, and the new text gets the endings of what it replaces;
 * an `old` that spells out CRLF and occurs so is matched and replaced to the letter.
 */
export function replace(file: TextFile, edits: readonly Replacement[]): Replaced {
  const notes: string[] = [];
  const spans: Span[] = [];
  const view = viewOf(file.text);
  for (const [index, edit] of edits.entries()) {
    const name = edits.length === 1 ? "" : `edits[${index}]: `;
    const found = spansOf(view, file, edit, index, notes);
    if (typeof found === "string") return { type: "refused", text: name + found + fedBy(edits, index) };
    spans.push(...found);
  }
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  const clash = spans.findIndex((span, at) => at > 0 && span.start < spans[at - 1]!.end);
  if (clash > 0) {
    const line = lineOf(file.text, spans[clash]!.start);
    return {
      type: "refused",
      text: `edits[${spans[clash - 1]!.edit}] and edits[${spans[clash]!.edit}] overlap at line ${line}. Make them one edit.`,
    };
  }
  const pieces: string[] = [];
  let from = 0;
  for (const span of spans) {
    pieces.push(file.text.slice(from, span.start), span.text);
    from = span.end;
  }
  pieces.push(file.text.slice(from));
  const text = pieces.join("");
  return text === file.text ? { type: "refused", text: "The edit changes nothing." } : { type: "replaced", text, notes };
}

/** The text with LF for every CRLF, and the way back to the original's offsets. */
interface View {
  readonly plain: string;
  original(offset: number): number;
}

function viewOf(text: string): View {
  if (!text.includes("\r\n")) return { plain: text, original: (offset) => offset };
  const dropped: number[] = [];
  for (let at = text.indexOf("\r\n"); at !== -1; at = text.indexOf("\r\n", at + 2)) dropped.push(at - dropped.length);
  return { plain: text.replaceAll("\r\n", "\n"), original: (offset) => offset + countBelow(dropped, offset) };
}

function countBelow(sorted: readonly number[], value: number): number {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function spansOf(view: View, file: TextFile, edit: Replacement, index: number, notes: string[]): Span[] | string {
  if (edit.old === "") return "`old` is empty. To make or fill a file use write_file.";
  if (edit.old === edit.new) return "`old` and `new` are the same.";
  if (file.encoding === "8-bit" && !(isAscii(edit.old) && isAscii(edit.new))) {
    return "The file is not UTF-8, and only ASCII text can be edited in it safely.";
  }
  const exact = edit.old.includes("\r\n") ? occurrences(file.text, edit.old, edit.all) : [];
  if (exact.length > 0) {
    return single(file, edit, exact) ?? exact.map((start) => ({ edit: index, start, end: start + edit.old.length, text: edit.new }));
  }
  let old = edit.old.replaceAll("\r\n", "\n");
  let fresh = edit.new.replaceAll("\r\n", "\n");
  let found = occurrences(view.plain, old, edit.all);
  if (found.length === 0 && old.length > 1 && old.endsWith("\n") && view.plain.endsWith(old.slice(0, -1))) {
    old = old.slice(0, -1);
    fresh = fresh.replace(/\n$/, "");
    found = [view.plain.length - old.length];
    notes.push("The file has no final newline: matched and kept without it.");
  }
  if (found.length === 0) return `\`old\` was not found in the file. ${nearMisses(view.plain, old)}`;
  const places = found.map((start) => ({ start: view.original(start), end: view.original(start + old.length) }));
  const starts = places.map((place) => place.start);
  const problem = single(file, edit, starts);
  if (problem !== null) return problem;
  return places.map(({ start, end }) => {
    const text = withEndingsOf(splitLines(file.text.slice(start, end)), fresh, endingNear(file.text, end));
    return { edit: index, start, end, text };
  });
}

/** Without `all`, overlapping occurrences count: which of them is meant is not known either. */
function occurrences(text: string, wanted: string, all: boolean): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + (all ? wanted.length : 1))) found.push(at);
  return found;
}

function single(file: TextFile, edit: Replacement, starts: readonly number[]): string | null {
  if (starts.length > 1 && !edit.all) {
    const lines = starts.slice(0, 10).map((start) => lineOf(file.text, start));
    const more = starts.length > 10 ? ", …" : "";
    return `\`old\` occurs ${starts.length} times (lines ${lines.join(", ")}${more}). Add lines around it until it is unique, or set \`all\`.`;
  }
  // The second byte of a character in GBK, Big5 or Shift JIS can look like ASCII.
  const half = file.encoding === "8-bit" ? starts.find((start) => start > 0 && file.text.charCodeAt(start - 1) > 0x7f) : undefined;
  if (half === undefined) return null;
  return `The file is not UTF-8, and at line ${lineOf(file.text, half)} \`old\` may begin inside a character. Let it begin further left, after an ASCII character.`;
}

/** The ending of the line that ends at or after `offset`, else of the one before. */
function endingNear(text: string, offset: number): "\n" | "\r\n" {
  const after = text.indexOf("\n", offset);
  const at = after === -1 ? text.lastIndexOf("\n") : after;
  if (at === -1) return commonEnding([]);
  return text[at - 1] === "\r" ? "\r\n" : "\n";
}

function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

function fedBy(edits: readonly Replacement[], index: number): string {
  const source = edits.findIndex((edit, at) => at !== index && edit.new.includes(edits[index]!.old));
  return source === -1 || edits[index]!.old === ""
    ? ""
    : `\nIt occurs in the new text of edits[${source}], but each edit is looked up in the file as it is now.`;
}
