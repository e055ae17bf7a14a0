import { createReadStream } from "node:fs";

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

/** A file's size says nothing of a device or a pipe: what is read is counted. Null where it is more. */
export async function readBoundedFile(path: string, mostBytes: number): Promise<Buffer | null> {
  return readBounded(createReadStream(path), mostBytes);
}
