import type { Range } from "./base64-pieces.ts";

/** What programs write before the digits of a byte: C, JavaScript, Python, a page, a URL. */
const prefix = String.raw`(?:\\+x|\\+u00|0x|&#x|%)`;
/** What parts one byte from the next: blanks, colons, commas, a line's end; also as it stands within JSON. */
const gap = String.raw`(?:(?:[\s:,;-]|\\+[nrt]){1,4}${prefix}?|${prefix})`;
const gaps = new RegExp(`(?<=[0-9a-f]{2})${gap}(?=[0-9a-f]{2})`, "gi");
/** The characters of such bytes and of what is between them. */
const part = /[0-9a-fxurnt\\&#%:,;\s-]/i;
/** A digit, or what stands before one. At the end of a text it may have only begun. */
const pieces = /\\+(?:x|u00|u0?$|[nrt]|$)|0x|&#x|([0-9a-f])/gi;

/** Where a text holds one of these values in hex with something between its bytes. `hexes`: in lower case. */
export function spacedHex(text: string, hexes: readonly string[]): Range[] {
  if (hexes.length === 0) return [];
  const bare = text.replace(gaps, "");
  if (bare.length === text.length) return [];
  const lower = bare.toLowerCase();
  return hexes
    .filter((hex) => lower.includes(hex))
    .flatMap((hex) => {
      const pattern = new RegExp(`${(hex.match(/../g) ?? []).join(`${gap}?`)}`, "gi");
      return [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
        from: index,
        to: index + found.length,
        piece: index + found.length,
      }));
    });
}

/** Where the end of a text may be the beginning of such a value whose rest is still to come; the text's length where it is none. */
export function beginningOfHex(text: string, hexes: readonly string[]): number {
  if (hexes.length === 0 || !part.test(text.at(-1) ?? "")) return text.length;
  const most = Math.max(0, ...hexes.map((hex) => hex.length)) * 6;
  let start = text.length;
  while (start > 0 && text.length - start < most && part.test(text[start - 1] ?? "")) start -= 1;
  const end = text.slice(start);
  const digits = [...end.matchAll(pieces)].flatMap(({ 1: digit, index }) =>
    digit === undefined ? [] : [{ digit: digit.toLowerCase(), at: start + index }],
  );
  // The last digit may also be the beginning of `0x`.
  return Math.min(...[digits, digits.slice(0, -1)].map((some) => begun(some, hexes) ?? text.length));
}

function begun(digits: readonly { readonly digit: string; readonly at: number }[], hexes: readonly string[]): number | null {
  const line = digits.map(({ digit }) => digit).join("");
  const longest = Math.max(0, ...hexes.map((hex) => lengthBegun(hex, line)));
  return longest === 0 ? null : (digits[digits.length - longest]?.at ?? null);
}

/** How much of a writing's beginning a text ends with, short of the whole. */
export function lengthBegun(writing: string, text: string): number {
  for (let length = Math.min(writing.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(writing.slice(0, length))) return length;
  }
  return 0;
}
