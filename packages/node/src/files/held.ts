import { closeSync, constants, openSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UnusableTarget } from "./unusable.ts";
import { lookAt } from "./missing.ts";

/** Linux's O_PATH, which Node doesn't name: a handle to look names up from, whatever may be read there. */
const O_PATH = 0o10000000;
const hasHandles = process.platform === "linux";

/**
 * A folder that is held open. Names below `at` are looked up in this very folder: whoever moves it away and puts a link in
 * its place leads nobody elsewhere. Where the system has no such handles, `at` is the folder's path, checked once.
 */
export interface HeldFolder {
  readonly at: string;
  /** Throws `UnusableTarget` where it is no longer at its path. */
  verify(): void;
  close(): void;
}

/** `folder` is real. Throws `UnusableTarget` where it leads elsewhere by now, or the file system's own error. */
export function holdFolder(folder: string): HeldFolder {
  if (!hasHandles) {
    const verify = (): void => {
      if (realpathSync(folder) !== folder) throw moved();
    };
    verify();
    return { at: folder, verify, close: () => undefined };
  }
  const fd = openSync(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const verify = (): void => {
    if (pathOf(fd) !== folder) throw moved();
  };
  try {
    verify();
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return { at: `/proc/self/fd/${fd}`, verify, close: () => closeSync(fd) };
}

/** Where the file behind a descriptor is now; null where the system can't tell. */
export function pathOf(fd: number): string | null {
  return hasHandles ? readlinkSync(`/proc/self/fd/${fd}`) : null;
}

/** Folders that an edit works in, each held from its first use to the end. */
export interface HeldFolders {
  /** The file of this real path, by way of its held folder; null where that folder is missing. */
  reach(path: string): string | null;
  /** Makes what is missing of the way to a file with `mkdir`, and reaches it. */
  make(path: string, mkdir: (path: string) => void): string;
  verify(): void;
  close(): void;
}

export function holdFolders(): HeldFolders {
  const held = new Map<string, HeldFolder>();
  const hold = (folder: string): HeldFolder | null => {
    try {
      const fresh = held.get(folder) ?? holdFolder(folder);
      held.set(folder, fresh);
      return fresh;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return null;
      throw code === "ENOTDIR" && isLink(folder) ? moved() : error;
    }
  };
  const make = (path: string, mkdir: (path: string) => void): string => {
    const folder = dirname(path);
    if (hold(folder) === null) mkdir(make(folder, mkdir));
    const made = hold(folder);
    if (made === null) throw moved();
    return join(made.at, basename(path));
  };
  const reach = (path: string): string | null => {
    const folder = hold(dirname(path));
    if (folder !== null) return join(folder.at, basename(path));
    // The missing ones will be made in the nearest that exists: that must be where the path says.
    reach(dirname(path));
    return null;
  };
  return {
    reach,
    make,
    verify: () => {
      for (const each of held.values()) each.verify();
    },
    close: () => {
      for (const each of held.values()) each.close();
      held.clear();
    },
  };
}

function isLink(path: string): boolean {
  return lookAt(path)?.isSymbolicLink() === true;
}

function moved(): UnusableTarget {
  return new UnusableTarget("ELOOP", "a folder above it has become a link, or was moved");
}
