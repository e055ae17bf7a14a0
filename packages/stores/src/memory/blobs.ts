import type { BlobStore } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime";

const saltBytes = 32;

export function createMemoryBlobs(): BlobStore {
  const salt = crypto.getRandomValues(new Uint8Array(saltBytes));
  const blobs = new Map<string, { readonly bytes: Uint8Array; readonly putAt: number }>();

  return {
    async put(bytes) {
      const salted = new Uint8Array(saltBytes + bytes.length);
      salted.set(salt);
      salted.set(bytes, saltBytes);
      const id = sha256(salted);
      // Put again, it is new again: whoever put it now has yet to commit a reference.
      blobs.set(id, { bytes: bytes.slice(), putAt: Date.now() });
      return id;
    },
    async get(id) {
      return blobs.get(id)?.bytes.slice() ?? null;
    },
    async has(id) {
      return blobs.has(id);
    },
    async size(id) {
      return blobs.get(id)?.bytes.length ?? 0;
    },
    async delete(id) {
      blobs.delete(id);
    },
    async collect(referenced, graceMs, among) {
      const newestToGo = Date.now() - graceMs;
      const doomed = [...blobs].filter(([id, blob]) => !referenced.has(id) && among?.has(id) !== false && blob.putAt <= newestToGo);
      for (const [id] of doomed) blobs.delete(id);
      return doomed.length;
    },
  };
}
