import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { unlessMissing } from "./failure.ts";
import { blobPlaces } from "./places.ts";
import { saltBytes } from "./salt.ts";

/** What a look at the contents that sessions refer to found. */
export interface ContentsLook {
  /** Without it no content can be told from another. `none`: nothing was ever kept. */
  readonly salt: "whole" | "lost" | "none";
  readonly missing: readonly string[];
  /** Not what was put. */
  readonly damaged: readonly string[];
  /** There, and not read. */
  readonly unread: number;
}

/** Looks whether each is there, and reads them, the youngest first, until so many bytes were read. Changes nothing. */
export async function examineContents(
  folder: string,
  referenced: ReadonlySet<string>,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<ContentsLook> {
  const places = blobPlaces(resolve(folder));
  const missing: string[] = [];
  const there: { id: string; path: string; size: number; at: number }[] = [];
  for (const id of referenced) {
    const found = places.isId(id) ? ((await at(places.of(id))) ?? (await at(places.ofDoomed(id)))) : undefined;
    if (found === undefined) missing.push(id);
    else there.push({ id, ...found });
  }
  const salt = await unlessMissing(readFile(join(places.folder, "salt")));
  if (salt?.length !== saltBytes) {
    const isNew = salt === undefined && there.length === 0;
    return { salt: isNew ? "none" : "lost", missing, damaged: [], unread: there.length };
  }
  there.sort((a, b) => b.at - a.at);
  const damaged: string[] = [];
  let [unread, left] = [0, mostBytes];
  for (const { id, path, size } of there) {
    left -= size;
    const bytes = left < 0 ? null : await unlessMissing(readFile(path));
    if (bytes === null) unread += 1;
    // Gone since: an erasure or a deletion took it.
    else if (bytes !== undefined && createHash("sha256").update(salt).update(bytes).digest("hex") !== id) damaged.push(id);
  }
  return { salt: "whole", missing, damaged, unread };
}

async function at(path: string): Promise<{ readonly path: string; readonly size: number; readonly at: number } | undefined> {
  const found = await unlessMissing(stat(path));
  return found === undefined ? undefined : { path, size: found.size, at: found.mtimeMs };
}
