/** A line break, with what the next line is set in by; also as it stands within JSON. */
export const lineBreak = String.raw`(?:\r?\n|(?:\\+r)?\\+n)[ \t]*`;

/** The digits at the ends of a piece that a secret decides in part: they go with it, and so does what fills the last group. */
export interface Edges {
  /** Matches the end of what stands before the piece. */
  readonly before: RegExp | null;
  /** Matches the beginning of what stands behind it. */
  readonly after: RegExp | null;
  /** Matches all that stands behind it where more of the edge may be to come. */
  readonly open: RegExp | null;
  /** The digits that may stand before it. */
  readonly digits: string;
}

/** Base64 digits that depend on a secret alone. */
export interface Piece {
  readonly text: string;
  readonly edges: Edges;
}

/** How far line breaks and what lines are set in by may part an edge from its piece. */
const farthest = 120;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Of each of the three ways to cut its bytes, in both alphabets, and as it stands within a URL. */
export function piecesOf(bytes: Uint8Array): readonly Piece[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = digitsOf(bytes, offset);
    const edges = edgesOf(bytes, offset);
    const url = text.replaceAll("+", "%2B").replaceAll("/", "%2F");
    const texts = [text, text.replaceAll("+", "-").replaceAll("/", "_"), url, url.replaceAll(/%2./g, (code) => code.toLowerCase())];
    return [...new Set(texts)].map((one) => ({ text: one, edges }));
  });
}

/** The digits that depend on these bytes alone, where `offset` others stand before them in their group of three. */
function digitsOf(bytes: Uint8Array, offset: number): string {
  const padded = "\0".repeat(offset) + String.fromCharCode(...bytes);
  const digits = btoa(padded).replace(/=+$/, "");
  // Six bits a digit: the first that holds none of what stands before, the last that is filled by the value's own bits.
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
}

function edgesOf(bytes: Uint8Array, offset: number): Edges {
  const first = bytes[0] ?? 0;
  const last = bytes.at(-1) ?? 0;
  const before = offset === 0 ? "" : digitsWhere((value) => (offset === 1 ? (value & 15) === first >> 4 : (value & 3) === first >> 6));
  const over = (offset + bytes.length) % 3;
  const after = over === 0 ? "" : digitsWhere((value) => (over === 1 ? value >> 4 === (last & 3) : value >> 2 === (last & 15)));
  const [one, fill] = [digit(after), "(?:=|%3[Dd])"];
  const more = over === 1 ? `(?:%3?|${fill}\\s*(?:%3?)?)?` : "(?:%3?)?";
  return {
    before: before === "" ? null : new RegExp(`${digit(before)}(?:${lineBreak})?$`),
    after: after === "" ? null : new RegExp(`^(?:${lineBreak})?${one}(?:(?:${lineBreak})?${fill}){0,${3 - over}}`),
    open: after === "" ? null : new RegExp(`^\\s*(?:%2?|${one}\\s*${more})?$`),
    digits: before,
  };
}

function digit(digits: string): string {
  return `(?:[${digits}]${digits.includes("+") ? "|%2[Bb]" : ""}${digits.includes("/") ? "|%2[Ff]" : ""})`;
}

/** As they stand within a class of a regular expression. */
function digitsWhere(isMeant: (value: number) => boolean): string {
  const meant = [...alphabet].filter((_, value) => isMeant(value)).join("");
  return `${meant}${meant.includes("+") ? "\\-" : ""}${meant.includes("/") ? "_" : ""}`;
}

export interface Range {
  readonly from: number;
  readonly to: number;
  /** Where the piece ends, before its edge. */
  readonly piece: number;
}

/** Where a piece stands in a text, with its edges. */
export function withEdges(text: string, from: number, to: number, edges: Edges | undefined): Range {
  const before = edges?.before?.exec(text.slice(Math.max(0, from - farthest), from))?.[0].length ?? 0;
  const after = edges?.after?.exec(text.slice(to, to + farthest))?.[0].length ?? 0;
  return { from: from - before, to: to + after, piece: to };
}
