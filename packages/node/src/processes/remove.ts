import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ownerNote } from "./owner-note.ts";

/** Deletes a folder and all in it, also what a program made read-only (Go's module cache). */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await makeWritable(path);
    await rm(path, { recursive: true, force: true });
  }
}

/**
 * Deletes a folder that says who uses it, that note at last: where we are killed on the way, what is left still names us,
 * and whoever looks for leftovers need not wait.
 */
export async function removeOwned(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (name !== ownerNote) await removeFolder(join(folder, name));
  await removeFolder(folder);
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
  }
}
