import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { unlessMissing } from "./failure.ts";
import { blobPlaces } from "./places.ts";

export interface BlobLook {
  /** What `collect` with the same grace period would delete. */
  readonly orphans: number;
  readonly bytes: number;
}

/** Looks at a content store without changing it. */
export async function inspectBlobs(folder: string, referenced: ReadonlySet<string>, graceMs: number): Promise<BlobLook> {
  const places = blobPlaces(resolve(folder));
  const namesIn = async (path: string): Promise<string[]> => (await unlessMissing(readdir(path))) ?? [];
  const shards = (await namesIn(places.folder)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const paths = new Map<string, string>();
  for (const shard of shards) for (const id of await namesIn(join(places.folder, shard))) if (places.isId(id)) paths.set(id, places.of(id));
  // A collection that was killed leaves what it was about to delete.
  for (const id of await namesIn(places.doomed)) paths.set(id, places.ofDoomed(id));
  const oldest = Date.now() - graceMs;
  let orphans = 0;
  let bytes = 0;
  for (const [id, path] of paths) {
    const found = referenced.has(id) ? undefined : await unlessMissing(stat(path));
    if (found === undefined || found.mtimeMs > oldest) continue;
    orphans += 1;
    bytes += found.size;
  }
  return { orphans, bytes };
}
