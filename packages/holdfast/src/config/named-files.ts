import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";

/** More than any command line names; what comes after isn't looked up. */
const mostWords = 100;
const largestRead = 20 * 1024 * 1024;

/** A file of a project that a command line names. */
export interface NamedFile {
  /** Relative to the project's folder. */
  readonly path: string;
  /** Where it really is. */
  readonly real: string;
  /** SHA-256 of its content, hex; or where a link leads that leaves the project. */
  readonly content: string;
}

/**
 * The files of a project that the words of a command line name, where it runs in the project's folder: what it does is what
 * they say. A variable, a file that another file names, and a folder are not seen.
 */
export async function namedFiles(root: string, texts: readonly string[]): Promise<NamedFile[]> {
  const top = await realpath(root).catch(() => root);
  const words = texts.flatMap((text) => text.split(/[\s"'`;|&()<>=$]+/)).filter((word) => word !== "" && !word.includes("\0"));
  const paths = new Set(words.slice(0, mostWords).map((word) => relative(top, resolve(top, word))));
  const found: NamedFile[] = [];
  for (const path of paths) {
    if (path === "" || path === ".." || path.startsWith(`..${sep}`)) continue;
    const real = await realpath(resolve(top, path)).catch(() => null);
    if (real === null) continue;
    const content = real.startsWith(`${top}${sep}`) ? await contentOf(real) : `leads to ${real}`;
    if (content !== null) found.push({ path, real, content });
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Null for what is no regular file. */
async function contentOf(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => null);
  if (file === null) return null;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return null;
    if (stat.size > largestRead) return `${stat.size} bytes, changed ${stat.mtime.toISOString()}`;
    return createHash("sha256")
      .update(await file.readFile())
      .digest("hex");
  } finally {
    await file.close();
  }
}
