/** Shorter values would hit ordinary words. */
export const shortestSecret = 8;

/** The shortest piece of a base64 or hex text that counts as a secret's: what is shorter could stand there by chance. */
const shortestPiece = 9;

const known = new Map<string, readonly string[]>();

/**
 * The texts in which a secret may stand, itself first: as within JSON, within a URL, in base64 and in hex. In base64 also as
 * a part of something larger (`user:secret`): of each of the three ways to cut its bytes, the digits that it alone decides.
 */
export function writingsOf(secret: string): readonly string[] {
  const found = known.get(secret);
  if (found !== undefined) return found;
  // Values that are refreshed come and go.
  if (known.size > 500) known.clear();
  const bytes = new TextEncoder().encode(secret);
  // A terminal writes its own line breaks.
  const plain = [secret, ...["\n", "\r\n"].map((end) => secret.replaceAll(/\r?\n/g, end))].flatMap(plainWritings);
  const encoded = [0, 1, 2].map((offset) => base64Piece(bytes, offset));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const pieces = [...encoded, ...encoded.map((piece) => piece.replaceAll("+", "-").replaceAll("/", "_")), hex, hex.toUpperCase()];
  const writings = [...new Set([...plain, ...pieces.filter((piece) => piece.length >= shortestPiece)])];
  known.set(secret, writings);
  return writings;
}

function plainWritings(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const url = encodeURIComponent(text.toWellFormed());
  const nested = [json, JSON.stringify(json).slice(1, -1), json.replaceAll("/", "\\/")];
  return [text, ...nested, ...nested.map(withoutMarkup), asHtml(text, "&#39;"), asHtml(text, "&#x27;"), ...urlWritings(url)];
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

/** The base64 digits that depend on these bytes alone, where `offset` others stand before them in their group of three. */
function base64Piece(bytes: Uint8Array, offset: number): string {
  const padded = "\0".repeat(offset) + String.fromCharCode(...bytes);
  const digits = btoa(padded).replace(/=+$/, "");
  // Six bits a digit: the first that holds none of what stands before, the last that is filled by the value's own bits.
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

interface Writings {
  /** Longest first, so that no part of a longer value is left. */
  readonly all: readonly string[];
  /** As they stand within one more JSON text. */
  readonly inJson: readonly string[];
  /** Those that a program may break into lines wherever it likes. */
  readonly breakable: readonly string[];
}

/** A store gives the same list while it holds the same values. */
const lists = new WeakMap<readonly string[], Writings>();

function listsOf(secrets: readonly string[]): Writings {
  const found = lists.get(secrets);
  if (found !== undefined) return found;
  const each = secrets.filter((secret) => secret.length >= shortestSecret).flatMap(writingsOf);
  const all = [...new Set(each)].sort((a, b) => b.length - a.length);
  const inJson = [...new Set(all.map((writing) => JSON.stringify(writing).slice(1, -1)))];
  const made = { all, inJson, breakable: all.filter((writing) => /^[\w+/-]+$/.test(writing)) };
  lists.set(secrets, made);
  return made;
}

/** Everything that is to be looked for, longest first. */
export function writingsOfAll(secrets: readonly string[]): readonly string[] {
  return listsOf(secrets).all;
}

/** A line break, with what the next line is set in by; also as it stands within JSON. */
const lineBreak = String.raw`(?:\r?\n|(?:\\+r)?\\+n)[ \t]*`;
const breaks = new RegExp(`(?<=[\\w+/-])${lineBreak}(?=[\\w+/-])`, "g");

/** Where a text holds a secret that was broken into lines, as base64 and hex are. */
export function brokenWritings(text: string, secrets: readonly string[]): { readonly from: number; readonly to: number }[] {
  const { breakable } = listsOf(secrets);
  if (breakable.length === 0) return [];
  const whole = text.replace(breaks, "");
  if (whole.length === text.length) return [];
  return breakable
    .filter((writing) => whole.includes(writing))
    .flatMap((writing) => {
      const pattern = new RegExp([...writing].map((digit) => (digit === "+" ? "\\+" : digit)).join(`(?:${lineBreak})?`), "g");
      return [...text.matchAll(pattern)].map(({ 0: found, index }) => ({ from: index, to: index + found.length }));
    });
}

/** Whether any string of a value, given as its JSON text, holds any of them, in whatever writing. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return listsOf(secrets).inJson.some((writing) => text.includes(writing)) || brokenWritings(text, secrets).length > 0;
}

/** The text with a mark in place of each. */
export function withoutSecrets(text: string, secrets: readonly string[], mark: string): string {
  let clean = text;
  for (const writing of writingsOfAll(secrets)) if (clean.includes(writing)) clean = clean.replaceAll(writing, mark);
  const broken = brokenWritings(clean, secrets).sort((a, b) => b.from - a.from);
  for (const { from, to } of broken) clean = clean.slice(0, from) + mark + clean.slice(to);
  return clean;
}

/**
 * Where the end of a text may be the beginning of a secret whose rest is still to come; the text's length where it is none.
 */
export function beginningOfSecret(text: string, secrets: readonly string[]): number {
  const { all, breakable } = listsOf(secrets);
  const longest = all[0]?.length ?? 0;
  const start = Math.max(0, text.length - 2 * longest);
  const tail = text.slice(start);
  const begun = (writings: readonly string[], end: string): number => Math.max(0, ...writings.map((writing) => lengthBegun(writing, end)));
  let broken = begun(breakable, tail.replaceAll(/[\r\n \t]/g, ""));
  let at = text.length;
  for (; broken > 0; at -= 1) if (!/[\r\n \t]/.test(text[at - 1] ?? "")) broken -= 1;
  return Math.min(text.length - begun(all, tail), at);
}

/** How much of a writing's beginning a text ends with, short of the whole. */
function lengthBegun(writing: string, text: string): number {
  for (let length = Math.min(writing.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(writing.slice(0, length))) return length;
  }
  return 0;
}
