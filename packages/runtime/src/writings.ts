import { lineBreak, piecesOf, withEdges, type Edges, type Range } from "./base64-pieces.ts";
import { programWritings } from "./program-writings.ts";
import { beginningOfHex, lengthBegun, spacedHex } from "./spaced-hex.ts";

/** Shorter values would hit ordinary words. */
export const shortestSecret = 8;

/** The shortest piece of a base64 or hex text that counts as a secret's: what is shorter could stand there by chance. */
const shortestPiece = 9;

interface Writing {
  readonly text: string;
  readonly edges?: Edges;
}

const known = new Map<string, readonly Writing[]>();

/**
 * The texts in which a secret may stand, itself first: as within JSON, within a URL, in base64 and in hex. In base64 also as
 * a part of something larger (`user:secret`): of each of the three ways to cut its bytes, the digits that it alone decides,
 * and at their ends those that it decides in part.
 */
function writingsOf(secret: string): readonly Writing[] {
  const found = known.get(secret);
  if (found !== undefined) return found;
  // Values that are refreshed come and go.
  if (known.size > 500) known.clear();
  const bytes = new TextEncoder().encode(secret);
  // A terminal writes its own line breaks.
  const plain = [secret, ...["\n", "\r\n"].map((end) => secret.replaceAll(/\r?\n/g, end))].flatMap(plainWritings);
  const hex = hexOf(secret);
  const encoded: Writing[] = [...piecesOf(bytes), ...piecesOf(utf16(secret)), { text: hex }, { text: hex.toUpperCase() }];
  const writings = [...[...new Set(plain)].map((text) => ({ text })), ...encoded.filter(({ text }) => text.length >= shortestPiece)];
  known.set(secret, writings);
  return writings;
}

function hexOf(secret: string): string {
  return Array.from(new TextEncoder().encode(secret), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** As Windows encodes a text before it is written in base64. */
function utf16(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length * 2 }, (_, index) => (text.charCodeAt(index >> 1) >> (index % 2 === 0 ? 0 : 8)) & 255);
}

function plainWritings(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text.toWellFormed());
  const nested = [json, JSON.stringify(json).slice(1, -1), json.replaceAll("/", "\\/")];
  return [
    text,
    ...nested,
    ...nested.map(withoutMarkup),
    asHtml(text, "&#39;"),
    asHtml(text, "&#x27;"),
    ...urlWritings(url),
    ...programWritings(text),
  ];
}

/** As encoders write URLs: some leave `!'()*` as they are and some the slash, with digits of either size. */
function urlWritings(url: string): string[] {
  const strict = url.replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const each = [url, strict].flatMap((one) => [one, one.replaceAll("%2F", "/")]).flatMap((one) => [one, one.replaceAll("%20", "+")]);
  return [...each, ...each.map((one) => one.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/** As JSON is written where it may stand within a page. */
function withoutMarkup(json: string): string {
  return json.replaceAll(/[&<>]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
}

function asHtml(text: string, apostrophe: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": apostrophe };
  return text.replaceAll(/[&<>"']/g, (sign) => names[sign] ?? sign);
}

interface Writings {
  /** Longest first, so that no part of a longer value is left. */
  readonly all: readonly string[];
  /** As they stand within one more JSON text. */
  readonly inJson: readonly string[];
  /** Those that a program may break into lines wherever it likes. */
  readonly breakable: readonly string[];
  /** The values in hex, in lower case. */
  readonly hexes: readonly string[];
  /** Of those in base64. */
  readonly edges: ReadonlyMap<string, Edges>;
  /** Matches the end of a text that may be a digit before one of them. */
  readonly before: RegExp | null;
}

/** A store gives the same list while it holds the same values. */
const lists = new WeakMap<readonly string[], Writings>();

function listsOf(secrets: readonly string[]): Writings {
  const found = lists.get(secrets);
  if (found !== undefined) return found;
  const each = secrets.filter((secret) => secret.length >= shortestSecret).flatMap(writingsOf);
  const all = [...new Set(each.map(({ text }) => text))].sort((a, b) => b.length - a.length);
  const edges = new Map(each.flatMap(({ text, edges: own }) => (own === undefined ? [] : [[text, own] as const])));
  const digits = [...edges.values()].map((one) => one.digits).join("");
  const inJson = [...new Set(all.map((writing) => JSON.stringify(writing).slice(1, -1)))];
  const made = {
    all,
    inJson,
    breakable: all.filter((writing) => /^[\w+/-]+$/.test(writing)),
    hexes: secrets.filter((secret) => secret.length >= shortestSecret).map(hexOf),
    edges,
    before: digits === "" ? null : new RegExp(`[${digits}]$`),
  };
  lists.set(secrets, made);
  return made;
}

/** Everything that is to be looked for, longest first. */
export function writingsOfAll(secrets: readonly string[]): readonly string[] {
  return listsOf(secrets).all;
}

const breaks = new RegExp(`(?<=[\\w+/-])${lineBreak}(?=[\\w+/-])`, "g");

/** Where a text holds a secret that was broken into lines, as base64 and hex are. */
function brokenIntoLines(text: string, secrets: readonly string[]): Range[] {
  const { breakable, edges } = listsOf(secrets);
  if (breakable.length === 0) return [];
  const whole = text.replace(breaks, "");
  if (whole.length === text.length) return [];
  return breakable
    .filter((writing) => whole.includes(writing))
    .flatMap((writing) => {
      const pattern = new RegExp([...writing].map((digit) => (digit === "+" ? "\\+" : digit)).join(`(?:${lineBreak})?`), "g");
      return [...text.matchAll(pattern)].map(({ 0: found, index }) => withEdges(text, index, index + found.length, edges.get(writing)));
    });
}

/** The same, and in hex with something between the bytes. */
export function brokenWritings(text: string, secrets: readonly string[]): Range[] {
  return [...brokenIntoLines(text, secrets), ...spacedHex(text, listsOf(secrets).hexes)];
}

/** Whether any string of a value, given as its JSON text, holds any of them, in whatever writing. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return listsOf(secrets).inJson.some((writing) => text.includes(writing)) || brokenWritings(text, secrets).length > 0;
}

/** Where a text holds one of the writings unbroken; in base64 with its edges. */
export function wholeWritings(text: string, writing: string, secrets: readonly string[]): Range[] {
  const edges = listsOf(secrets).edges.get(writing);
  const found: Range[] = [];
  for (let at = text.indexOf(writing); at !== -1; at = text.indexOf(writing, at + writing.length))
    found.push(withEdges(text, at, at + writing.length, edges));
  return found;
}

/** The text with a mark in place of each. */
export function withoutSecrets(text: string, secrets: readonly string[], mark: string): string {
  let clean = text;
  for (const writing of writingsOfAll(secrets))
    if (clean.includes(writing)) clean = marked(clean, wholeWritings(clean, writing, secrets), mark);
  return marked(clean, brokenWritings(clean, secrets), mark);
}

function marked(text: string, ranges: readonly Range[], mark: string): string {
  if (ranges.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    if (from >= at) pieces.push(text.slice(at, from), mark);
    at = Math.max(at, to);
  }
  return pieces.join("") + text.slice(at);
}

/**
 * Where the end of a text may be the beginning of a secret whose rest is still to come, or of the digits at its ends; the
 * text's length where it is none.
 */
export function beginningOfSecret(text: string, secrets: readonly string[]): number {
  const { all, breakable, before, hexes } = listsOf(secrets);
  const longest = all[0]?.length ?? 0;
  const start = Math.max(0, text.length - 2 * longest);
  const tail = text.slice(start);
  const begun = (writings: readonly string[], end: string): number => Math.max(0, ...writings.map((writing) => lengthBegun(writing, end)));
  let broken = begun(breakable, tail.replaceAll(/[\r\n \t]/g, ""));
  let at = text.length;
  for (; broken > 0; at -= 1) if (!/[\r\n \t]/.test(text[at - 1] ?? "")) broken -= 1;
  const from = Math.min(text.length - begun(all, tail), at, beginningOfHex(text, hexes));
  const edge = from < text.length ? text.slice(start, from).trimEnd().length + start : from;
  return edge > start && before?.test(text.slice(edge - 1, edge)) === true ? edge - 1 : from;
}

/** Where a piece in base64 begins at whose end a digit or what fills its last group may be still to come; else the text's length. */
export function openEdge(text: string, secrets: readonly string[]): number {
  const { all, edges } = listsOf(secrets);
  const start = Math.max(0, text.length - 3 * (all[0]?.length ?? 0));
  const tail = text.slice(start);
  const joined = tail.replaceAll(/[\r\n \t]/g, "");
  const open = [...edges].flatMap(([writing, own]): number[] => {
    if (own.open === null || !joined.includes(writing)) return [];
    const found = [...wholeWritings(tail, writing, secrets), ...brokenIntoLines(tail, secrets)];
    return found.flatMap(({ from, piece }) => (own.open?.test(tail.slice(piece)) === true ? [start + from] : []));
  });
  return Math.min(text.length, ...open);
}
