import type { OutputSlice } from "@holdfast/runtime/ports/processes";
import { characterStart, decodeOutput } from "./decode.ts";

/** Reads a command's raw output. */
export type ReadOutput = (offset: number, length: number) => Promise<OutputSlice>;

/** Bytes of the beginning and of the end that a result shows; the end says how it went. */
const headBytes = 6_000;
const tailBytes = 10_000;
export const windowBytes = headBytes + tailBytes;

/** Makes text of a piece of raw output. */
export type Decode = (bytes: Uint8Array) => string;

export interface OutputWindow {
  readonly text: string;
  /** Bytes of the whole output. */
  readonly size: number;
  readonly isWhole: boolean;
}

/** The beginning and the end of an output, or all of it. `rest` tells where to find what is left out of the middle. */
export async function outputWindow(read: ReadOutput, rest: string, decode: Decode = decodeOutput): Promise<OutputWindow> {
  const first = await read(0, windowBytes);
  if (first.size <= windowBytes) {
    const { text, isWhole } = clip(decode(first.bytes), windowBytes * 2, rest);
    return { text, size: first.size, isWhole };
  }
  const head = first.bytes.subarray(0, endOfLine(first.bytes.subarray(0, headBytes)));
  const last = await read(first.size - tailBytes, tailBytes);
  const tail = last.bytes.subarray(startOfLine(last.bytes));
  const left = first.size - head.length - tail.length;
  const before = clip(decode(head), headBytes * 2, rest).text;
  const gap = `${before.endsWith("\n") ? "" : "\n"}[${left} bytes left out; ${rest}]\n`;
  return { text: before + gap + decode(tail).slice(-tailBytes * 2), size: first.size, isWhole: false };
}

/** Output that is mostly escapes grows when it is decoded. */
function clip(text: string, max: number, rest: string): { text: string; isWhole: boolean } {
  return text.length <= max ? { text, isWhole: true } : { text: `${text.slice(0, max)}…\n[more left out; ${rest}]`, isWhole: false };
}

/** Where to end a piece: after its last line, else after its last whole character. */
export function endOfLine(bytes: Uint8Array): number {
  const newline = bytes.lastIndexOf(0x0a);
  if (newline > bytes.length / 2) return newline + 1;
  let end = bytes.length;
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    if (length > back) end = bytes.length - back;
    break;
  }
  return end;
}

/** Where to begin one: with a line, else with a whole character. */
export function startOfLine(bytes: Uint8Array): number {
  const newline = bytes.indexOf(0x0a);
  return newline !== -1 && newline < bytes.length / 2 ? newline + 1 : characterStart(bytes, 0);
}
