import type { Token } from "./token.ts";

/** A program while it is read. Nothing in it is looked at again and again: what was sought in vain from a place is known there. */
export interface Source {
  readonly text: string;
  /** A bit for each kind of end that was not found from here on. */
  readonly vain: Uint8Array;
  readonly tokens: readonly Token[];
  /** Heredocs whose bodies begin with the next line. */
  readonly pending: { readonly end: number; readonly next: number }[];
  /** Lines by their first word; made when it is asked for. */
  lines: Map<string, HereLines> | null;
}

/** Where heredocs of a name may end; those before `at` are done with. */
interface HereLines {
  at: number;
  readonly all: { readonly start: number; readonly end: number }[];
}

/** What a literal or comment is, and where it ends. `says` stands for a comment that decides how tests run. */
export interface Read {
  readonly end: number;
  readonly isComment?: true;
  readonly says?: readonly string[];
}

export type Reader = (source: Source, at: number) => Read | null;

const bits: Readonly<Record<string, number>> = { '"': 1, "'": 2, "`": 4, "/": 8, class: 16 };

interface Quotes {
  /** Whether it may go on in the next line. */
  readonly isLong?: boolean;
  /** Whether a backslash is a sign like any other. */
  readonly isRaw?: boolean;
  /** Whether the end is no end in square brackets. */
  readonly hasClasses?: boolean;
}

/** Right behind the quote that closes the one at `at`; -1 where none does. */
export function quotedEnd({ text, vain }: Source, at: number, quote: string, { isLong, isRaw, hasClasses }: Quotes = {}): number {
  let inClass = false;
  for (let index = at + 1; index < text.length; index += 1) {
    const bit = bits[inClass ? "class" : quote] ?? 0;
    if (((vain[index] ?? 0) & bit) !== 0) return -1;
    vain[index] = (vain[index] ?? 0) | bit;
    const sign = text[index];
    if (sign === "\\" && isRaw !== true) index += 1;
    else if (sign === "\n" && isLong !== true) return -1;
    else if (hasClasses === true && (sign === "[" || sign === "]")) inClass = sign === "[";
    else if (sign === quote && !inClass) return index + 1;
  }
  return -1;
}

export function quoted(quote: string, how: Quotes = {}): Reader {
  return (source, at) => {
    if (source.text[at] !== quote) return null;
    const end = quotedEnd(source, at, quote, how);
    return end < 0 ? null : { end };
  };
}

/** What goes on to a given text, or to the end of the file. */
export function until(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at < 0 ? text.length : at + end.length;
}

/** A literal with a beginning that a pattern knows, up to what `ending` makes of its groups. */
export function enclosed(begin: RegExp, ending: (groups: readonly string[]) => string): Reader {
  return ({ text }, at) => {
    const found = matchAt(begin, text, at);
    return found === null ? null : { end: until(text, ending(found), at + found[0].length) };
  };
}

export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const partners: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "<": ">" };

/** The end of a text between signs of one's choice, which may stand in one another where they are brackets. */
export function delimitedEnd(text: string, at: number, isNested = true): number {
  const open = text[at] ?? "";
  const close = partners[open] ?? open;
  let depth = 1;
  for (let index = at + 1; index < text.length; index += 1) {
    const sign = text[index];
    if (sign === "\\") index += 1;
    else if (sign === close && (depth -= 1) === 0) return index + 1;
    else if (isNested && sign === open && open !== close) depth += 1;
  }
  return text.length;
}

/** Heredocs: the body is read where its line ends. One whose end is nowhere is none. `isAlone`: no other word is in the last line. */
export function heredoc(begin: RegExp, isAlone: boolean): Reader {
  return (source, at) => {
    const found = source.text[at] === "<" ? matchAt(begin, source.text, at) : null;
    const newline = found === null || source.pending.length > 0 ? -1 : source.text.indexOf("\n", at);
    const from = newline < 0 ? source.pending.at(-1)?.next : newline + 1;
    if (found === null || from === undefined) return null;
    const [all, mark = "", , name = ""] = found;
    source.lines ??= linesByWord(source.text, isAlone);
    const lines = source.lines.get(mark === "" && isAlone ? `^${name}` : name);
    if (lines === undefined) return null;
    while ((lines.all[lines.at]?.start ?? from) < from) lines.at += 1;
    const line = lines.all[lines.at];
    if (line === undefined) return null;
    source.pending.push({ end: line.start, next: line.end });
    return { end: at + all.length };
  };
}

/** Those that stand in no further are there by `^word`, too. */
function linesByWord(text: string, isAlone: boolean): Map<string, HereLines> {
  const lines = new Map<string, HereLines>();
  const pattern = isAlone ? /^([ \t]*)(\w+)(?=[ \t]*\r?$)/gm : /^([ \t]*)(\w+)/gm;
  for (const { index, 0: all, 1: space = "", 2: word = "" } of text.matchAll(pattern)) {
    const line = { start: index, end: index + (isAlone ? all.length : 0) };
    for (const key of space === "" ? [word, `^${word}`] : [word]) {
      const known = lines.get(key);
      if (known === undefined) lines.set(key, { at: 0, all: [line] });
      else known.all.push(line);
    }
  }
  return lines;
}
