import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { brokenWritings, wholeWritings, writingsOfAll } from "@holdfast/runtime/writings";

const pieceBytes = 1024 * 1024;

/**
 * Overwrites secrets in a file, in place and with as many characters: who reads on by offsets finds what was there before.
 * What a command puts out is kept raw while it runs; of what it printed of a secret, nothing stays.
 */
export function scrubFile(path: string, secrets: readonly string[]): void {
  const writings = writingsOfAll(secrets).map((writing) => Buffer.from(writing, "utf8"));
  if (writings.length === 0) return;
  // One that is broken into lines takes more room.
  const longest = 2 * Math.max(...writings.map((writing) => writing.length));
  let file: number;
  try {
    file = openSync(path, "r+");
  } catch {
    return;
  }
  try {
    const buffer = Buffer.alloc(pieceBytes + longest);
    for (let at = 0; ; at += pieceBytes) {
      const length = readSync(file, buffer, 0, buffer.length, at);
      if (length === 0) return;
      const piece = buffer.subarray(0, length);
      const overwrite = (from: number, to: number): void => {
        piece.fill("*", from, to);
        writeSync(file, piece, from, to - from, at + from);
      };
      for (const writing of writings) {
        // In bytes, as offsets in a text are others where a character has several of them.
        if (piece.includes(writing))
          for (const { from, to } of wholeWritings(piece.toString("latin1"), writing.toString("latin1"), secrets)) overwrite(from, to);
      }
      for (const { from, to } of brokenWritings(piece.toString("latin1"), secrets)) overwrite(from, to);
      if (length < buffer.length) return;
    }
  } finally {
    closeSync(file);
  }
}
