import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { HoldfastError } from "@holdfast/protocol/error";
import type { FileContent } from "@holdfast/runtime/ports/files";
import { pathOf } from "./held.ts";

/** Throws as the port says. A pipe or a device never makes it wait: only regular files are read. */
export async function readFile(realPath: string, maxBytes: number): Promise<FileContent> {
  const handle = await open(realPath, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)).catch((error) => {
    throw asRefusal(realPath, error);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) {
      const what = stat.isDirectory() ? "a folder" : "not a regular file";
      throw new HoldfastError("file_unreadable", `${realPath} is ${what}.`);
    }
    const at = pathOf(handle.fd);
    if (at !== null && at !== realPath) throw new HoldfastError("file_unreadable", `${realPath} leads elsewhere by now.`);
    const bytes = await readAll(handle, stat, realPath, maxBytes);
    return { bytes, digest: createHash("sha256").update(bytes).digest("hex"), mode: stat.mode & 0o7777 };
  } catch (error) {
    throw asRefusal(realPath, error);
  } finally {
    await handle.close();
  }
}

/** A change of the content always changes the time of the last status change, which no program can set. */
export async function stampOf(realPath: string): Promise<string> {
  const stat = await lstat(realPath, { bigint: true }).catch((error) => {
    throw asRefusal(realPath, error);
  });
  return `stat:${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

/** Reads on past the size that `stat` gave: it may grow, and files of /proc say 0. */
async function readAll(handle: FileHandle, stat: Stats, path: string, maxBytes: number): Promise<Uint8Array> {
  if (stat.size > maxBytes) throw tooLarge(path, stat.size, maxBytes);
  let bytes = new Uint8Array(Math.min(stat.size + 1, maxBytes + 1));
  let length = 0;
  for (;;) {
    if (length === bytes.length) {
      const larger = new Uint8Array(Math.min(bytes.length * 2 + 4096, maxBytes + 1));
      larger.set(bytes);
      bytes = larger;
    }
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    if (length > maxBytes) throw tooLarge(path, length, maxBytes);
  }
}

function tooLarge(path: string, size: number, maxBytes: number): HoldfastError {
  return new HoldfastError("file_unreadable", `${path} is too large: ${size} bytes or more, and at most ${maxBytes} are read at once.`);
}

function asRefusal(path: string, error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (error instanceof HoldfastError || code === undefined) return error;
  if (code === "ENOENT" || code === "ENOTDIR") return new HoldfastError("file_missing", `${path} does not exist.`, { cause: error });
  return new HoldfastError("file_unreadable", `${path} can't be read (${code}).`, { cause: error });
}
