import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type BigIntStats } from "node:fs";
import type { FileEdit } from "@holdfast/runtime/ports/files";
import { holdFolders, type HeldFolders } from "./held.ts";
import { UnusableTarget } from "./unusable.ts";

/** A file as an edit finds it; both null where there is none. */
export interface Found {
  readonly digest: string | null;
  readonly stat: BigIntStats | null;
}

/** Throws `UnusableTarget`, or the file system's own error. */
export function look(path: string, folders: HeldFolders): Found {
  const reached = folders.reach(path);
  const stat = reached === null ? null : statOf(reached);
  if (reached === null || stat === null) return { digest: null, stat: null };
  if (stat.isSymbolicLink()) throw new UnusableTarget("ELOOP", "it has become a link");
  if (stat.isDirectory()) throw new UnusableTarget("EISDIR", "it is a folder");
  if (!stat.isFile()) throw new UnusableTarget("EINVAL", "it is not a regular file");
  return digestOf(reached);
}

/** Where the files of an edit stand; see `Files.probe`. */
export function standing(edits: readonly FileEdit[]): "before" | "after" | "mixed" | "unknown" {
  const folders = holdFolders();
  const digests = edits.map((edit) => {
    try {
      return look(edit.path, folders).digest;
    } catch {
      return undefined;
    }
  });
  folders.close();
  const isBefore = edits.map((edit, at) => digests[at] === edit.before);
  const isAfter = edits.map((edit, at) => digests[at] === edit.afterDigest);
  if (isBefore.every(Boolean)) return "before";
  if (isAfter.every(Boolean)) return "after";
  return edits.every((_, at) => isBefore[at] || isAfter[at]) ? "mixed" : "unknown";
}

/** Whether nobody wrote to it since it was looked at, as far as its metadata tells. */
export function isUntouched(path: string, then: BigIntStats): boolean {
  const now = statOf(path);
  return now !== null && now.ino === then.ino && now.size === then.size && now.mtimeNs === then.mtimeNs;
}

export function statOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return null;
    throw error;
  }
}

function digestOf(path: string): Found {
  // A pipe could have taken its place since it was looked at.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (!stat.isFile()) throw new UnusableTarget("EINVAL", "it is not a regular file");
    const hash = createHash("sha256");
    const chunk = new Uint8Array(Number(stat.size < 1_048_576n ? stat.size + 1n : 1_048_576n));
    for (let length = readSync(fd, chunk); length > 0; length = readSync(fd, chunk)) hash.update(chunk.subarray(0, length));
    return { digest: hash.digest("hex"), stat };
  } finally {
    closeSync(fd);
  }
}
