import { createHash } from "node:crypto";
import type { BlobStore } from "@holdfast/runtime/ports/blobs";
import { writingsOfAll } from "@holdfast/runtime/writings";

/** Stands in a stored blob where a secret was: begins with bytes that no text has. */
const begin = Buffer.from("\u0000\u0001holdfast secret ");
const digits = 32;

/**
 * Blobs without secrets in them: on its way into the store each writing of a held secret becomes a mark, on its way out the
 * mark becomes what it was. So what is undone, or checked against its digest, is the same to the byte where the process
 * still holds the secret; elsewhere it isn't, and counts as changed.
 */
export function sealBlobs(blobs: BlobStore, values: () => readonly string[]): BlobStore {
  const known = new Map<string, Buffer>();
  const marks = (): [Buffer, Buffer][] =>
    writingsOfAll(values()).map((writing) => {
      const id = createHash("sha256").update(writing).digest("hex").slice(0, digits);
      const plain = known.get(id) ?? Buffer.from(writing, "utf8");
      known.set(id, plain);
      return [plain, Buffer.concat([begin, Buffer.from(id), Buffer.from([0])])];
    });
  return {
    ...blobs,
    put: async (bytes) => {
      const plainBytes = bufferOf(bytes);
      let sealed = plainBytes;
      for (const [plain, mark] of marks()) sealed = replaceAll(sealed, plain, mark);
      return blobs.put(sealed === plainBytes ? bytes : new Uint8Array(sealed));
    },
    get: async (id) => {
      const bytes = await blobs.get(id);
      if (bytes === null) return null;
      let opened = bufferOf(bytes);
      if (!opened.includes(begin)) return bytes;
      for (const [plain, mark] of marks()) opened = replaceAll(opened, mark, plain);
      return new Uint8Array(opened);
    },
  };
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function replaceAll(bytes: Buffer, from: Buffer, to: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (let found = bytes.indexOf(from); found !== -1; found = bytes.indexOf(from, at)) {
    pieces.push(bytes.subarray(at, found), to);
    at = found + from.length;
  }
  return at === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(at)]);
}
