/**
 * Turns the bytes of a command's output into text that can be shown, stored and sent anywhere. Bytes that are no UTF-8
 * become `\xNN`, control characters too, except newline and tab; CRLF and a lone CR become a newline; terminal sequences
 * go. It works on pieces: however the bytes are cut, the joined text is the same.
 */
export interface OutputDecoder {
  push(bytes: Uint8Array): string;
  /** What was still waiting for its other half. */
  end(): string;
}

export function outputDecoder(): OutputDecoder {
  const utf8 = utf8Decoder();
  const terminal = terminalFilter();
  return {
    push: (bytes) => terminal.push(utf8.push(bytes)),
    end: () => terminal.push(utf8.end()) + terminal.end(),
  };
}

export function decodeOutput(bytes: Uint8Array): string {
  const decoder = outputDecoder();
  return decoder.push(bytes) + decoder.end();
}

/** The text alone; each byte that is no UTF-8 is a lone surrogate. */
export function decodeUtf8(bytes: Uint8Array): string {
  const decoder = utf8Decoder();
  return decoder.push(bytes) + decoder.end();
}

/** Index of the first byte at or after `at` that can begin a character. */
export function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start < bytes.length && start < at + 3 && (bytes[start]! & 0xc0) === 0x80) start += 1;
  return start;
}

/** Bytes of the character that stands at the start; 0 where none does. */
export function characterLength(bytes: Uint8Array): number {
  return Math.max(0, sequenceLength(bytes, 0));
}

/** A byte that is no part of UTF-8 goes through the terminal filter as a lone surrogate, which valid UTF-8 never gives. */
const invalidBase = 0xdc00;

function utf8Decoder(): OutputDecoder {
  let pending: Uint8Array = new Uint8Array(0);
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  function decode(bytes: Uint8Array, isLast: boolean): string {
    const all = pending.length === 0 ? bytes : concat(pending, bytes);
    const pieces: string[] = [];
    let from = 0;
    let at = 0;
    while (at < all.length) {
      const length = sequenceLength(all, at);
      if (length > 0) {
        at += length;
        continue;
      }
      if (length === -1 && !isLast) break;
      pieces.push(strict.decode(all.subarray(from, at)), String.fromCharCode(invalidBase + all[at]!));
      at += 1;
      from = at;
    }
    pieces.push(strict.decode(all.subarray(from, at)));
    pending = all.slice(at);
    return pieces.join("");
  }
  return { push: (bytes) => decode(bytes, false), end: () => decode(new Uint8Array(0), true) };
}

/** Length of the character that starts here; 0 where none does, -1 where more bytes are needed to tell (Unicode, table 3-7). */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return 1;
  const length = lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return -1;
    const low = index > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const high = index > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (byte < low || byte > high) return 0;
  }
  return length;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

/** Longer than any sequence a program means to send: then it is shown instead of swallowing what follows. */
const maxSequence = 4096;

// Terminal sequences of ECMA-48: CSI, strings (OSC, DCS, SOS, PM, APC) up to BEL or ST, and two- or three-character ones.
const sequences =
  /^\x1b(?:\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]|[\]PX^_][^\x07\x1b\x18\x1a]*(?:\x07|\x1b\\)|[\x20-\x2f]+[\x30-\x7e]|[\x30-\x4f\x51-\x57\x59\x5a\x5c\x60-\x7e])/;
const unfinished = /^\x1b(?:\[[\x30-\x3f]*[\x20-\x2f]*|[\]PX^_][^\x07\x1b\x18\x1a]*\x1b?|[\x20-\x2f]*)$/;
const special = /[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]/u;

function terminalFilter(): { push(text: string): string; end(): string } {
  let held = "";
  function filter(text: string, isLast: boolean): string {
    let rest = held + text;
    held = "";
    const pieces: string[] = [];
    for (let at = rest.search(special); at !== -1; at = rest.search(special)) {
      pieces.push(rest.slice(0, at));
      rest = rest.slice(at);
      if (!isLast && (rest === "\r" || (unfinished.test(rest) && rest.length < maxSequence))) {
        held = rest;
        return pieces.join("");
      }
      const [shown, length] = replacement(rest);
      pieces.push(shown);
      rest = rest.slice(length);
    }
    pieces.push(rest);
    return pieces.join("");
  }
  return { push: (text) => filter(text, false), end: () => filter("", true) };
}

/** What stands for the special character at the start, and how much of the text it takes. */
function replacement(text: string): readonly [string, number] {
  if (text.startsWith("\r")) return ["\n", text[1] === "\n" ? 2 : 1];
  const sequence = text.startsWith("\x1b") ? sequences.exec(text) : null;
  if (sequence !== null && sequence[0].length <= maxSequence) return ["", sequence[0].length];
  const code = text.charCodeAt(0);
  const byte = code >= invalidBase ? code - invalidBase : code;
  return [`\\x${byte.toString(16).padStart(2, "0")}`, 1];
}
