/**
 * How a file's bytes stand for characters. `8-bit` is any encoding that is not Unicode: each byte is held as the character
 * with its number, so that whatever is not touched is written back as it was.
 */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "8-bit";

export interface TextFile {
  readonly encoding: Encoding;
  readonly hasBom: boolean;
  /** Without the byte order mark. */
  readonly text: string;
}

const boms: readonly (readonly [Encoding, readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16le", [0xff, 0xfe]],
  ["utf-16be", [0xfe, 0xff]],
];

/** Bytes in which a NUL makes a file binary: what git looks at too. */
const probeBytes = 8000;

/** Null for a binary file. Decoding loses nothing: `encodeText` gives the same bytes again. */
export function decodeText(bytes: Uint8Array): TextFile | null {
  for (const [encoding, mark] of boms) {
    if (!mark.every((byte, index) => bytes[index] === byte)) continue;
    const text = strictly(encoding, bytes.subarray(mark.length));
    return text === null ? null : { encoding, hasBom: true, text };
  }
  const head = bytes.subarray(0, probeBytes);
  if (head.includes(0)) return null;
  const text = strictly("utf-8", bytes);
  if (text !== null) return { encoding: "utf-8", hasBom: false, text };
  if (head.reduce((count, byte) => count + (isOddControl(byte) ? 1 : 0), 0) * 10 > head.length) return null;
  return { encoding: "8-bit", hasBom: false, text: fromBytes(bytes) };
}

/** Null where the encoding has no bytes for the text: in `8-bit` only ASCII is known to mean the same in all of them. */
export function encodeText(text: string, like: { readonly encoding: Encoding; readonly hasBom: boolean }): Uint8Array | null {
  const mark = like.hasBom ? (boms.find(([encoding]) => encoding === like.encoding)?.[1] ?? []) : [];
  switch (like.encoding) {
    case "utf-8":
      return join(mark, new TextEncoder().encode(text));
    case "utf-16le":
    case "utf-16be": {
      const view = new DataView(new ArrayBuffer(text.length * 2));
      for (let at = 0; at < text.length; at += 1) view.setUint16(at * 2, text.charCodeAt(at), like.encoding === "utf-16le");
      return join(mark, new Uint8Array(view.buffer));
    }
    case "8-bit": {
      const bytes = new Uint8Array(text.length);
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        if (code > 0xff) return null;
        bytes[at] = code;
      }
      return bytes;
    }
  }
}

export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

export function describeEncoding(file: TextFile): string | null {
  switch (file.encoding) {
    case "utf-8":
      return file.hasBom ? "UTF-8 with byte order mark" : null;
    case "utf-16le":
      return "UTF-16 little endian";
    case "utf-16be":
      return "UTF-16 big endian";
    case "8-bit":
      return "not UTF-8: shown as Latin-1; edits may only contain ASCII";
  }
}

function strictly(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Not `TextDecoder("latin1")`, which is Windows-1252 (https://encoding.spec.whatwg.org/#names-and-labels). */
function fromBytes(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return pieces.join("");
}

function isOddControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b;
}

function join(mark: readonly number[], bytes: Uint8Array): Uint8Array {
  if (mark.length === 0) return bytes;
  const all = new Uint8Array(mark.length + bytes.length);
  all.set(mark);
  all.set(bytes, mark.length);
  return all;
}
