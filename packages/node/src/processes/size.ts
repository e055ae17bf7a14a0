import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Bytes of all files in a folder, links not followed; 0 where there is none. What goes away meanwhile isn't counted. */
export async function sizeOfFolder(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += await sizeOfFolder(path);
    else sum += (await lstat(path).catch(() => null))?.size ?? 0;
  }
  return sum;
}
