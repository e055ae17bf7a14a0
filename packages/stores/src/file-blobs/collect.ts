import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unlessMissing } from "./failure.ts";
import type { BlobPlaces } from "./places.ts";

/** A draft this old is what a killed process left, not one being written. */
const draftLifetimeMs = 60 * 60 * 1000;

/**
 * Deletes what may go and nobody put lately; returns how many. Another process can put such a blob again at
 * any moment, which only makes its file young. So a file is moved aside first and looked at again there: either it was
 * made young before the move and goes back, or whoever puts it later finds nothing and writes it anew.
 */
export async function collectBlobs(places: BlobPlaces, mayGo: (id: string) => boolean, graceMs: number): Promise<number> {
  const now = Date.now();
  const isOld = async (path: string, ageMs: number): Promise<boolean> => {
    const found = await unlessMissing(stat(path));
    // File times are finer than the clock's milliseconds.
    return found !== undefined && Math.floor(found.mtimeMs) <= now - ageMs;
  };

  for (const shard of await readdir(places.folder)) {
    if (!/^[0-9a-f]{2}$/.test(shard)) continue;
    for (const id of await readdir(join(places.folder, shard))) {
      if (!places.isId(id) || !mayGo(id) || !(await isOld(places.of(id), graceMs))) continue;
      await unlessMissing(rename(places.of(id), places.ofDoomed(id)));
    }
  }

  let deleted = 0;
  // Includes what a collection that was killed left here.
  for (const id of await readdir(places.doomed)) {
    const path = places.ofDoomed(id);
    if (mayGo(id) && (await isOld(path, graceMs))) {
      await rm(path, { force: true });
      deleted += 1;
    } else {
      await mkdir(dirname(places.of(id)), { recursive: true, mode: 0o700 });
      await unlessMissing(rename(path, places.of(id)));
    }
  }

  for (const name of await readdir(places.drafts)) {
    if (await isOld(join(places.drafts, name), draftLifetimeMs)) await rm(join(places.drafts, name), { force: true });
  }
  return deleted;
}
