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
  /** It looks like what runs, by its mode, its name or its first line: not data that a program is given. */
  readonly isProgram: boolean;
}

const programName = /\.(?:sh|bash|zsh|fish|py|rb|pl|php|lua|[cm]?[jt]s|ps1|jar)$/i;

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
    const read = real.startsWith(`${top}${sep}`) ? await readNamed(real) : { content: `leads to ${real}`, isProgram: true };
    if (read !== null) found.push({ path, real, ...read });
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Null for what is no regular file. */
async function readNamed(path: string): Promise<Pick<NamedFile, "content" | "isProgram"> | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW).catch(() => null);
  if (file === null) return null;
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return null;
    const isNamedSo = (stat.mode & 0o111) !== 0 || programName.test(path);
    if (stat.size > largestRead) return { content: `${stat.size} bytes, changed ${stat.mtime.toISOString()}`, isProgram: isNamedSo };
    const bytes = await file.readFile();
    const isProgram = isNamedSo || bytes.subarray(0, 2).toString("latin1") === "#!";
    return { content: createHash("sha256").update(bytes).digest("hex"), isProgram };
  } finally {
    await file.close();
  }
}
