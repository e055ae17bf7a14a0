import type { BlobStore } from "@holdfast/runtime";
import type { Kept } from "./manifest.ts";

const packSize = 4 * 1024 * 1024;

/**
 * Contents kept for later, many in one blob: a blob a file would cost a disk flush each.
 * Knows by digest what was kept before, so that the same content is kept once.
 */
export interface KeptContents {
  /** Where the content with this digest is kept, null where it is not (or no longer). */
  find(digest: string): Promise<Kept | null>;
  /** Tells of content that an earlier manifest refers to. */
  know(digest: string, kept: Kept): void;
  /** Keeps contents by digest; resolves once they are durable. */
  add(contents: ReadonlyMap<string, Uint8Array>): Promise<void>;
  read(kept: Kept, size: number): Promise<Uint8Array | null>;
}

export function createKeptContents(blobs: BlobStore): KeptContents {
  const known = new Map<string, Kept>();
  const present = new Set<string>();
  let last: { readonly blob: string; readonly bytes: Uint8Array } | null = null;

  const flush = async (pack: readonly (readonly [string, Uint8Array])[]): Promise<void> => {
    if (pack.length === 0) return;
    const blob = await blobs.put(Buffer.concat(pack.map(([, bytes]) => bytes)));
    present.add(blob);
    let offset = 0;
    for (const [digest, bytes] of pack) {
      known.set(digest, { blob, offset });
      offset += bytes.length;
    }
  };

  return {
    async find(digest) {
      const kept = known.get(digest);
      if (kept === undefined) return null;
      if (!present.has(kept.blob)) {
        if (!(await blobs.has(kept.blob))) {
          known.delete(digest);
          return null;
        }
        present.add(kept.blob);
      }
      return kept;
    },
    know(digest, kept) {
      if (!known.has(digest)) known.set(digest, kept);
    },
    async add(contents) {
      let pack: (readonly [string, Uint8Array])[] = [];
      let size = 0;
      for (const entry of contents) {
        pack.push(entry);
        size += entry[1].length;
        if (size < packSize) continue;
        await flush(pack);
        pack = [];
        size = 0;
      }
      await flush(pack);
    },
    async read(kept, size) {
      if (last?.blob !== kept.blob) {
        const bytes = await blobs.get(kept.blob);
        if (bytes === null) return null;
        last = { blob: kept.blob, bytes };
      }
      return last.bytes.subarray(kept.offset, kept.offset + size);
    },
  };
}
