import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { holdFolder, pathOf } from "./held.ts";

/** Where ripgrep begins: a folder or a file that is held open, so that no link can take its place meanwhile. */
export interface SearchStart {
  /** The process starts here, so that relative ignore rules hold. */
  readonly folder: string;
  /** A descriptor for its standard input. */
  readonly input: number | null;
  /** What it is told to search. */
  readonly argument: string;
  /** The real path of what it reports. */
  pathOf(reported: string): string;
  close(): void;
}

/** `path` is absolute and real. Throws `file_missing`, or `file_unreadable` where it leads elsewhere or is neither. */
export function openStart(path: string): SearchStart {
  try {
    return lstatSync(path).isDirectory() ? startAtFolder(path) : startAtFile(path);
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") throw new HoldfastError("file_missing", `${path} does not exist.`, { cause: error });
    throw new HoldfastError("file_unreadable", `${path} can't be searched: ${message}.`, { cause: error });
  }
}

function startAtFolder(path: string): SearchStart {
  const held = holdFolder(path);
  return { folder: held.at, input: null, argument: ".", pathOf: (reported) => join(path, reported), close: held.close };
}

function startAtFile(path: string): SearchStart {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  const at = pathOf(fd);
  if (!fstatSync(fd).isFile() || (at !== null && at !== path)) {
    closeSync(fd);
    throw new HoldfastError("file_unreadable", `${path} leads elsewhere by now, or is no regular file.`);
  }
  const argument = process.platform === "win32" ? path : "/dev/stdin";
  return { folder: dirname(path), input: fd, argument, pathOf: () => path, close: () => closeSync(fd) };
}
