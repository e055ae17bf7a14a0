/** The line at which a TOML text sets a key or opens its table; that of the nearest table around it where it does neither. */
export type LineOf = (path: readonly string[]) => number;

/** A key, with what is in its table or list. */
interface Place {
  readonly line: number;
  readonly depth: number;
  /** Characters of all names that lead here. */
  readonly size: number;
  readonly inside: Map<string, Place>;
  /** Of `[[tables]]`: how many there are so far. */
  rows: number | null;
}

/** How deep a key may lie, elements of lists counted, and how long its full name may be: far more than any setting needs. */
export const mostParts = 32;
export const longestName = 1_000;

/**
 * Finds the lines of all keys of a text that is valid TOML. Elements of arrays have their index as key. The parser gives
 * values without places, and an error without a place is of little use. Throws what `refuse` makes of the line of a key
 * that lies too deep or whose name is too long: whatever reads the values may go down with them. Takes time that grows with
 * the text alone.
 */
export function readPositions(text: string, refuse: (line: number) => Error): LineOf {
  const top: Place = { line: 1, depth: 0, size: 0, inside: new Map(), rows: null };
  let at = 0;
  let line = 1;
  let counted = 0;

  /** The place of a part, noted with the line where it is met first. */
  const step = (from: Place, part: string): Place => {
    const known = from.inside.get(part);
    if (known !== undefined) return known;
    for (; counted < at; counted++) if (text[counted] === "\n") line += 1;
    const found: Place = { line, depth: from.depth + 1, size: from.size + part.length, inside: new Map(), rows: null };
    if (found.depth > mostParts || found.size > longestName) throw refuse(line);
    from.inside.set(part, found);
    return found;
  };
  const skip = (blank: RegExp): void => {
    blank.lastIndex = at;
    at += blank.exec(text)?.[0].length ?? 0;
  };
  const readKey = (): string[] => {
    const parts: string[] = [];
    for (;;) {
      skip(space);
      const start = at;
      if (text[at] === '"' || text[at] === "'") parts.push(readString());
      else {
        skip(bare);
        if (at === start) return parts;
        parts.push(text.slice(start, at));
      }
      skip(space);
      if (text[at] !== ".") return parts;
      at += 1;
    }
  };
  const readString = (): string => {
    const quote = text[at] ?? "";
    const fence = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
    const start = at + fence.length;
    at = start;
    while (at < text.length && !text.startsWith(fence, at)) at += quote === '"' && text[at] === "\\" ? 2 : 1;
    // Up to two quotes may stand right before the closing three.
    if (fence.length === 3) while (text[at + 3] === quote) at += 1;
    const inner = text.slice(start, at);
    at += fence.length;
    return quote === '"' ? unescape(inner) : inner;
  };
  const readValue = (place: Place): void => {
    skip(blank);
    const open = text[at];
    if (open === '"' || open === "'") readString();
    else if (open === "[" || open === "{") {
      at += 1;
      for (let index = 0; ; index++) {
        skip(separators);
        const start = at;
        if (text[at] === "]" || text[at] === "}" || at >= text.length) break;
        // A dotted key opens the tables before its last part, too.
        const inner = open === "[" ? step(place, String(index)) : readKey().reduce(step, place);
        if (open === "{") at += 1;
        readValue(inner);
        if (at === start) break;
      }
      at += 1;
    } else skip(scalar);
  };

  let table = top;
  for (;;) {
    skip(blank);
    const start = at;
    if (at >= text.length) break;
    if (text[at] === "[") {
      const isArray = text[at + 1] === "[";
      at += isArray ? 2 : 1;
      const keys = readKey();
      table = top;
      for (const [depth, part] of keys.entries()) {
        table = step(table, part);
        if (isArray && depth === keys.length - 1) table.rows = (table.rows ?? 0) + 1;
        if (table.rows !== null) table = step(table, String(table.rows - 1));
      }
      at += isArray ? 2 : 1;
    } else {
      const place = readKey().reduce(step, table);
      at += 1;
      readValue(place);
    }
    if (at === start) break;
  }
  return (path) => {
    let place = top;
    for (const part of path) {
      const next = place.inside.get(part);
      if (next === undefined) break;
      place = next;
    }
    return place.line;
  };
}

const space = /[ \t]*/y;
const blank = /(?:\s|#[^\n]*)*/y;
const separators = /(?:[\s,]|#[^\n]*)*/y;
const bare = /[A-Za-z0-9_-]*/y;
const scalar = /[^\s,\]}#]*/y;

function unescape(inner: string): string {
  return inner.replaceAll(/\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/g, (_, x, u, long, one: string | undefined) => {
    const hex = (x ?? u ?? long) as string | undefined;
    return hex === undefined ? (escapes[one ?? ""] ?? one ?? "") : String.fromCodePoint(Math.min(parseInt(hex, 16), 0x10ffff));
  });
}

const escapes: Readonly<Record<string, string>> = { b: "\b", t: "\t", n: "\n", f: "\f", r: "\r", e: "\u001b" };
