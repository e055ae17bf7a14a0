import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { relative } from "node:path";
import { lookClosely } from "@holdfast/node/files/missing";
import { chunksOf, mostChunks } from "@holdfast/harness/documents/chunk";
import type { DocumentChunk, DocumentIndex, Files, KnownDocument } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { documentPattern } from "./sources.ts";

/** Documents of one folder, and bytes of one document; of larger ones the beginning is taken in. */
const mostDocuments = 50_000;
const mostBytes = 2 * 1024 * 1024;
/** Documents that are taken in at once: others get a turn between. */
const batch = 50;

/**
 * Brings an index up to what its folder holds: what has another size, time or inode than before is read, what has another content
 * is taken in anew, what is gone is taken out. Links are not followed, ignored files and folders with a dot are left out.
 * Returns what could not be looked at, a line each.
 */
export async function refreshIndex(index: DocumentIndex, folder: string, files: Files, signal: AbortSignal): Promise<string[]> {
  const { paths, truncated } = await files.glob(documentPattern, folder, mostDocuments);
  const known = new Map(index.known().map((one) => [one.path, one]));
  const present = new Set<string>();
  const changed: { path: string; stamp: string }[] = [];
  for (const path of paths) {
    if (/(?:^|\/)(?:\.|node_modules\/)/.test(relative(folder, path))) continue;
    const stat = lookClosely(path);
    if (stat === undefined || !stat.isFile()) continue;
    present.add(path);
    const stamp = `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.ino}`;
    if (known.get(path)?.stamp !== stamp) changed.push({ path, stamp });
  }
  // A list that was cut doesn't say what is gone.
  const gone = truncated ? [] : [...known.keys()].filter((path) => !present.has(path));
  if (gone.length > 0) index.remove(gone);
  for (let at = 0; at < changed.length; at += batch) {
    signal.throwIfAborted();
    const read = await Promise.all(changed.slice(at, at + batch).map(({ path, stamp }) => readDocument(path, stamp, known.get(path))));
    const isNew = (one: Read | null): one is Fresh => one !== null && "chunks" in one;
    for (const one of read) if (one !== null && !isNew(one)) index.touch(one.path, one.stamp);
    const fresh = read.filter(isNew);
    if (fresh.length > 0) index.put(fresh);
  }
  return truncated ? [`[only ${mostDocuments} documents of ${folder} are looked at]`] : [];
}

type Fresh = KnownDocument & { readonly chunks: readonly DocumentChunk[] };
type Read = Fresh | Pick<KnownDocument, "path" | "stamp">;

/** Null for what can't be read; one that is no text has no pieces. */
async function readDocument(path: string, stamp: string, known: KnownDocument | undefined): Promise<Read | null> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => null);
  if (handle === null) return null;
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) return null;
    const buffer = Buffer.alloc(Math.min(stat.size, mostBytes));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    const bytes = buffer.subarray(0, bytesRead);
    const digest = sha256(bytes);
    if (known?.digest === digest) return { path, stamp };
    const text = textOf(bytes);
    const chunks = text === null ? [] : chunksOf(text);
    return { path, stamp, digest, isWhole: stat.size <= mostBytes && chunks.length < mostChunks, chunks };
  } catch {
    return null;
  } finally {
    await handle.close();
  }
}

/** UTF-8, or UTF-16 where it says so; null for what is no text. */
function textOf(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  return bytes.includes(0) ? null : new TextDecoder().decode(bytes);
}
