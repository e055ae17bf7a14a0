import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file that must not exist yet, private, and flushes it. */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

export function writeDurablySync(path: string, bytes: Uint8Array): void {
  const file = openSync(path, "wx", 0o600);
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A new, renamed or deleted name in a folder is durable once the folder is flushed. Windows does so by itself. */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Makes the folder and what is missing above it, private to the user; durable when it returns. */
export function makeFolder(path: string): void {
  const highest = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (highest === undefined) return;
  for (let at = path; ; at = dirname(at)) {
    syncFolder(dirname(at));
    if (at === highest) return;
  }
}

/** The code the operating system gave, such as ENOENT; null where there is none. */
export function systemCode(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
