/** The line at which a TOML text sets a key or opens its table; that of the nearest table around it where it does neither. */
export type LineOf = (path: readonly string[]) => number;

/**
 * Finds the lines of all keys of a text that is valid TOML. Elements of arrays have their index as key. The parser gives
 * values without places, and an error without a place is of little use.
 */
export function readPositions(text: string): LineOf {
  const lines = new Map<string, number>();
  const lengths = new Map<string, number>();
  let at = 0;
  let line = 1;
  let counted = 0;

  const note = (path: readonly string[]): void => {
    for (; counted < at; counted++) if (text[counted] === "\n") line += 1;
    // A dotted key opens the tables before its last part, too.
    for (let length = path.length; length > 0; length--) {
      const id = JSON.stringify(path.slice(0, length));
      if (!lines.has(id)) lines.set(id, line);
    }
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
  const readValue = (path: readonly string[]): void => {
    skip(blank);
    const open = text[at];
    if (open === '"' || open === "'") readString();
    else if (open === "[" || open === "{") {
      at += 1;
      for (let index = 0; ; index++) {
        skip(separators);
        const start = at;
        if (text[at] === "]" || text[at] === "}" || at >= text.length) break;
        const inner = open === "[" ? [...path, String(index)] : [...path, ...readKey()];
        note(inner);
        if (open === "{") at += 1;
        readValue(inner);
        if (at === start) break;
      }
      at += 1;
    } else skip(scalar);
  };

  let table: readonly string[] = [];
  for (;;) {
    skip(blank);
    const start = at;
    if (at >= text.length) break;
    if (text[at] === "[") {
      const isArray = text[at + 1] === "[";
      at += isArray ? 2 : 1;
      const path: string[] = [];
      const keys = readKey();
      for (const [depth, part] of keys.entries()) {
        path.push(part);
        const id = JSON.stringify(path);
        const length = lengths.get(id);
        if (isArray && depth === keys.length - 1) {
          lengths.set(id, (length ?? 0) + 1);
          path.push(String(length ?? 0));
        } else if (length !== undefined) path.push(String(length - 1));
      }
      table = path;
      note(table);
      at += isArray ? 2 : 1;
    } else {
      const path = [...table, ...readKey()];
      note(path);
      at += 1;
      readValue(path);
    }
    if (at === start) break;
  }
  return (path) => {
    for (let length = path.length; length > 0; length--) {
      const found = lines.get(JSON.stringify(path.slice(0, length)));
      if (found !== undefined) return found;
    }
    return 1;
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
