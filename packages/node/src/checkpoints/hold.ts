import { closeSync, constants, openSync } from "node:fs";
import { UnusableTarget } from "../files/unusable.ts";
import { encodeName } from "../observer/names.ts";
import { isMissing, lookAt } from "../files/missing.ts";

/** Linux's O_PATH, which Node doesn't name: a handle to look names up from, whatever may be read there. */
const O_PATH = 0o10000000;
const hasHandles = process.platform === "linux";

/** A folder that is held open while something is done in it. */
export interface Held {
  /** The path of a name in this very folder. */
  of(name: string): string | Buffer;
  close(): void;
}

/**
 * Holds the folder at `parts` below `root` (a real path), each step of the way opened from the one before and none of them a
 * link: whatever is moved meanwhile, nothing outside is reached. Null where a folder on the way is missing or is none.
 */
export function holdBelow(root: string, parts: readonly string[]): Held | null {
  return hasHandles ? holdByHandles(root, parts) : holdByPath(root, parts);
}

function holdByHandles(root: string, parts: readonly string[]): Held | null {
  const flags = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  let fd: number;
  try {
    fd = openSync(root, flags);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  for (const part of parts) {
    const from = fd;
    try {
      fd = openSync(nameIn(`/proc/self/fd/${from}`, part), flags);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    } finally {
      closeSync(from);
    }
  }
  return { of: (name) => nameIn(`/proc/self/fd/${fd}`, name), close: () => closeSync(fd) };
}

function holdByPath(root: string, parts: readonly string[]): Held | null {
  let at = root;
  for (const part of parts) {
    at = `${at}/${part}`;
    const stat = lookAt(encoded(at));
    if (stat === undefined || !stat.isDirectory()) return null;
  }
  return { of: (name) => nameIn(at, name), close: () => undefined };
}

/** For one piece of work in the folder of `path`. Throws `UnusableTarget` where there is no such folder. */
export function inFolder<T>(root: string, path: string, work: (at: string | Buffer) => T): T {
  const parts = path.slice(root.length + 1).split("/");
  const name = parts.pop() ?? "";
  const held = holdBelow(root, parts);
  if (held === null) throw new UnusableTarget("ENOENT", "its folder is not there");
  try {
    return work(held.of(name));
  } finally {
    held.close();
  }
}

function nameIn(folder: string, name: string): string | Buffer {
  return encoded(`${folder}/${name}`);
}

export function encoded(path: string): string | Buffer {
  return path.isWellFormed() ? path : encodeName(path);
}
