import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Root } from "@holdfast/protocol";
import { createGit } from "@holdfast/node/observer/git";
import type { BlobStore, Checkpoints } from "@holdfast/runtime";
import type { Versions } from "./file-states.ts";

/** Larger files are not compared line by line. */
const mostBytes = 8 * 1024 * 1024;

/** Where contents are. */
export interface Kept {
  /** Of the file, absolute. */
  readonly path: string;
  readonly roots: readonly Root[];
  readonly blobs: BlobStore;
  readonly checkpoints: Pick<Checkpoints, "content"> | undefined;
  readonly home: string;
}

/** The text of a version of a file, from where it is kept; null where it is gone, too large or no text. */
export async function textOf(
  digest: string | null,
  versions: Versions,
  { path, roots, blobs, checkpoints, home }: Kept,
): Promise<string | null> {
  if (digest === null) return "";
  const place = versions.get(digest);
  if (place === undefined) return null;
  if (place === "disk") return decoded(await readFile(path).catch(() => null));
  if ("node" in place) return decoded((await checkpoints?.content(place.node, mostBytes).catch(() => null)) ?? null);
  if ("blob" in place) return decoded(await blobs.get(place.blob));
  if (place.size > mostBytes) return null;
  if (place.kept !== null) {
    const pack = await blobs.get(place.kept.blob);
    if (pack !== null) return decoded(pack.subarray(place.kept.offset, place.kept.offset + place.size));
  }
  const root = roots.find(({ id }) => id === place.root)?.path;
  if (place.oid === null || root === undefined) return null;
  const git = createGit(home, [root]);
  const { code, stdout } = await git(join(root, place.repo ?? ""), ["cat-file", "blob", place.oid]).catch(() => ({
    code: 1,
    stdout: null,
  }));
  return code === 0 ? decoded(stdout) : null;
}

function decoded(bytes: Uint8Array | null): string | null {
  if (bytes === null || bytes.length > mostBytes) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
