import { createHash, randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Checkpoint, ContentPlace, TreeNode } from "@holdfast/protocol";
import type { BlobStore } from "@holdfast/runtime";
import { readDigest, smallFile } from "../observer/digest.ts";
import type { Git } from "../observer/git.ts";
import type { KeptContents } from "../observer/kept.ts";
import type { CachedDigest } from "../observer/stat-cache.ts";
import type { Budget } from "./budget.ts";
import { lookAt } from "../files/missing.ts";

/** A file whose content is to be kept, by its path for the file system. */
export interface Wanted {
  readonly path: string;
  readonly at: string | Buffer;
  readonly entry: CachedDigest;
  readonly bytes: Buffer | null;
}

export interface Keeping {
  /** Blobs that were written. */
  readonly blobs: readonly string[];
  readonly unkept: NonNullable<Checkpoint["unkept"]>;
  /** Bytes of older content that were let go for it. */
  readonly gone: number;
}

export interface Keeper {
  /** Where content with this digest is kept; null where it isn't, or no longer. */
  placeOf(digest: string): Promise<ContentPlace | null>;
  /** Keeps what isn't kept yet; resolves once it is durable. Never throws for want of room. */
  keep(wanted: readonly Wanted[]): Promise<Keeping>;
}

const packSize = 4 * 1024 * 1024;
/** One file takes no more than this part of all that may be kept. */
const largestPart = 4;

/**
 * Keeps contents in blobs of some MB, each begun with random bytes: so none is equal to a blob that something else refers
 * to, and what is let go is nobody else's. `snapshots`: what the turns' snapshots keep anyway.
 */
export function createKeeper(blobs: BlobStore, snapshots: KeptContents, budget: Budget, mostBytes: number): Keeper {
  const known = new Map<string, ContentPlace>();
  const stillThere = async (place: ContentPlace): Promise<boolean> => {
    const ids = "blobs" in place ? place.blobs : "blob" in place ? [place.blob] : [];
    for (const id of ids) if (!(await blobs.has(id))) return false;
    return true;
  };
  const placeOf: Keeper["placeOf"] = async (digest) => {
    const place = known.get(digest);
    if (place !== undefined) {
      if (await stillThere(place)) return place;
      known.delete(digest);
    }
    return snapshots.find(digest);
  };

  return {
    placeOf,
    async keep(wanted) {
      const written: string[] = [];
      const unkept: { path: string; why: "too_large" | "unreadable" | "no_room" }[] = [];
      let gone = 0;
      let isFull = false;
      let pack: { readonly path: string; readonly digest: string; readonly bytes: Buffer }[] = [];
      let size = 0;
      const put = async (pieces: readonly Buffer[]): Promise<string> => {
        const whole = Buffer.concat([randomBytes(nonce), ...pieces]);
        const blob = await blobs.put(whole);
        written.push(blob);
        gone += await budget.enter(blob, whole.length);
        return blob;
      };
      const flush = async (): Promise<void> => {
        const flushed = pack;
        pack = [];
        size = 0;
        if (flushed.length === 0) return;
        try {
          if (isFull) throw new NoRoom();
          const blob = await put(flushed.map(({ bytes }) => bytes));
          let offset = nonce;
          for (const { digest, bytes } of flushed) {
            known.set(digest, { blob, offset });
            offset += bytes.length;
          }
        } catch (error) {
          if (!isRoom(error)) throw error;
          isFull = true;
          for (const { path } of flushed) unkept.push({ path, why: "no_room" });
        }
      };
      const packed = new Set<string>();
      for (const { path, at, entry, bytes } of wanted) {
        if (packed.has(entry.digest) || (await placeOf(entry.digest)) !== null) continue;
        if (entry.size > mostBytes / largestPart) unkept.push({ path, why: "too_large" });
        else if (entry.size > smallFile) {
          try {
            if (isFull) throw new NoRoom();
            const place = await keepLarge(at, entry, put);
            if (place === null) unkept.push({ path, why: "unreadable" });
            else known.set(entry.digest, place);
          } catch (error) {
            if (!isRoom(error)) throw error;
            isFull = true;
            unkept.push({ path, why: "no_room" });
          }
        } else {
          const content = bytes ?? (await readAgain(at, entry));
          if (content === null) {
            unkept.push({ path, why: "unreadable" });
            continue;
          }
          packed.add(entry.digest);
          pack.push({ path, digest: entry.digest, bytes: content });
          size += content.length;
          if (size >= packSize) await flush();
        }
      }
      await flush();
      return { blobs: written, unkept, gone };
    },
  };
}

const nonce = 16;

class NoRoom extends Error {}

function isRoom(error: unknown): boolean {
  return error instanceof NoRoom || isHoldfastError(error, "store_full");
}

/** In pieces, so that no large file is held in memory. Null where it is another by now. */
async function keepLarge(
  at: string | Buffer,
  entry: CachedDigest,
  put: (pieces: readonly Buffer[]) => Promise<string>,
): Promise<ContentPlace | null> {
  const ids: string[] = [];
  const hash = createHash("sha256");
  let fd: number;
  try {
    fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(fd).isFile()) return null;
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafe(packSize);
      const read = readSync(fd, chunk, 0, packSize, position);
      if (read === 0) break;
      position += read;
      hash.update(chunk.subarray(0, read));
      ids.push(await put([chunk.subarray(0, read)]));
    }
  } finally {
    closeSync(fd);
  }
  return hash.digest("hex") === entry.digest ? { blobs: ids } : null;
}

async function readAgain(at: string | Buffer, entry: CachedDigest): Promise<Buffer | null> {
  const stat = lookAt(at);
  const read = stat === undefined || stat.size > smallFile ? null : await readDigest(at, stat, 0);
  return read?.digest === entry.digest ? read.bytes : null;
}

/** The content of a file or link piece by piece; null where it is kept nowhere any more. Empty for what has none. */
export async function* contentOf(git: Git, blobs: BlobStore, node: TreeNode): AsyncGenerator<Uint8Array | null> {
  const place = node.content;
  if (node.kind !== "file" && node.kind !== "link") return;
  if (place === null) yield null;
  else if ("oid" in place) {
    const object = await git(place.folder, ["cat-file", "blob", place.oid]);
    yield object.code === 0 ? object.stdout : null;
  } else if ("whole" in place) yield await blobs.get(place.whole);
  else if ("blob" in place) {
    const bytes = await blobs.get(place.blob);
    yield bytes === null || bytes.length < place.offset + node.size ? null : bytes.subarray(place.offset, place.offset + node.size);
  } else {
    for (const id of place.blobs) {
      const bytes = await blobs.get(id);
      yield bytes === null ? null : bytes.subarray(nonce);
    }
  }
}
