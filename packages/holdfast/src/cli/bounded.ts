import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { HoldfastError } from "@holdfast/protocol/error";

/** All that comes, where that is at most `mostBytes`; null where it is more, and then no more of it is read. */
export async function readBounded(source: AsyncIterable<unknown>, mostBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += (chunk as Buffer).length;
    if (size > mostBytes) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/**
 * A file's size says nothing of a device or a pipe: what is read is counted. Null where it is more. Throws for a pipe that has a
 * name: where nobody writes to it, it would be waited for without end. Those that a shell hands over (`<(…)`) have none.
 */
export async function readBoundedFile(path: string, mostBytes: number): Promise<Buffer | null> {
  if (!/^\/(?:dev|proc)\//.test(path) && (await stat(path)).isFIFO())
    throw new HoldfastError("file_unreadable", "it is a pipe, which would be waited for");
  return readBounded(createReadStream(path), mostBytes);
}
