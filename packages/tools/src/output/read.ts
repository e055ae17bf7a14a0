import { characterLength, decodeOutput } from "./decode.ts";
import { endOfLine, startOfLine, windowBytes, type Decode, type ReadOutput } from "./window.ts";

const maxMatches = 50;
const maxLine = 300;
const chunkBytes = 1024 * 1024;

/** A part of an output from byte `offset`, or its end where that is null, under a line that says which part it is. */
export async function outputPart(read: ReadOutput, offset: number | null, decode: Decode = decodeOutput): Promise<string> {
  const from = offset ?? Math.max(0, (await read(0, 0)).size - windowBytes);
  const { bytes, size } = await read(from, windowBytes);
  if (size === 0) return "no output";
  if (bytes.length === 0) return `[the output has ${size} bytes]`;
  const start = offset === null ? (from > 0 ? startOfLine(bytes) : 0) : await restOfCharacter(read, from, bytes);
  const end = from + bytes.length < size ? endOfLine(bytes) : bytes.length;
  const text = decode(bytes.subarray(start, end)).slice(0, windowBytes * 2);
  const isWhole = from + start === 0 && from + end === size;
  return isWhole ? text : `[bytes ${from + start} to ${from + end} of ${size}]\n${text}`;
}

/** How many bytes at the start of `bytes` belong to a character that begins before them. */
async function restOfCharacter(read: ReadOutput, from: number, bytes: Uint8Array): Promise<number> {
  if (((bytes[0] ?? 0) & 0xc0) !== 0x80) return 0;
  const before = (await read(Math.max(0, from - 3), Math.min(3, from))).bytes;
  for (let back = 1; back <= before.length; back += 1) {
    const around = new Uint8Array([...before.slice(before.length - back), ...bytes.slice(0, 3)]);
    const length = characterLength(around);
    if (length > 0) return Math.max(0, length - back);
  }
  return 0;
}

/** Lines that hold `wanted`, each with the byte it starts at. Lines are cut; a match across two of them is none. */
export async function searchOutput(read: ReadOutput, wanted: string, offset: number, decode: Decode = decodeOutput): Promise<string> {
  const found: string[] = [];
  let held: Uint8Array = new Uint8Array(0);
  let at = offset;
  for (;;) {
    const { bytes, size } = await read(at + held.length, chunkBytes);
    const all = new Uint8Array(held.length + bytes.length);
    all.set(held);
    all.set(bytes, held.length);
    const isLast = bytes.length === 0 || at + all.length >= size;
    // A line longer than a chunk is searched in pieces.
    const newline = all.lastIndexOf(0x0a) + 1;
    const end = isLast || (newline === 0 && all.length > chunkBytes) ? all.length : newline;
    for (let start = 0; start < end;) {
      const next = all.indexOf(0x0a, start);
      const stop = next === -1 || next >= end ? end : next;
      const line = decode(all.subarray(start, stop));
      const place = line.indexOf(wanted);
      if (place !== -1 && found.length === maxMatches) {
        return `${found.join("\n")}\n[more matches; go on with offset ${at + start}]`;
      }
      if (place !== -1) found.push(`${at + start}: ${around(line, place)}`);
      start = stop + 1;
    }
    at += end;
    held = all.slice(end);
    if (isLast) break;
  }
  return found.length === 0 ? "No line contains it." : found.join("\n");
}

function around(line: string, place: number): string {
  if (line.length <= maxLine) return line;
  const from = Math.max(0, place - maxLine / 2);
  return `${from > 0 ? "…" : ""}${line.slice(from, from + maxLine)}…`;
}
