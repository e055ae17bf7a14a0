import { chmod, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { randomBytes } from "node:crypto";

/** Where Holdfast keeps everything of its own: `$HOLDFAST_HOME`, else `~/.holdfast`. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  const named = env["HOLDFAST_HOME"];
  return named ? resolve(cwd, named) : join(env["HOME"] || homedir(), ".holdfast");
}

/** Makes the home and closes it to everybody else. */
export async function ensureHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const { mode } = await stat(home);
  if ((mode & 0o077) !== 0) await chmod(home, 0o700);
}

/**
 * Replaces a file in one step: a reader finds the old content or the new, never a part. A link keeps pointing where it
 * did; what is no regular file (`/dev/stdout`, a pipe) is simply written to.
 */
export async function writeAtomically(path: string, content: string, mode: number): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => null);
  if (found !== null && !found.isFile()) {
    const file = await open(target, "w");
    await file.writeFile(content).finally(() => file.close());
    return;
  }
  const fresh = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}`);
  try {
    const file = await open(fresh, "wx", found === null ? mode : found.mode & 0o777);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, target);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
