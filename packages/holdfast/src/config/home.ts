import { chmod, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { randomBytes } from "node:crypto";

/** Where Holdfast keeps everything of its own: `$HOLDFAST_HOME`, else `~/.holdfast`. */
export function homeFolder(env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  const named = env["HOLDFAST_HOME"];
  return named ? resolve(cwd, named) : join(env["HOME"] || homedir(), ".holdfast");
}

/** Makes the home and closes it to everybody else. */
export async function ensureHome(home: string): Promise<void> {
  try {
    await makeFolder(home);
    const { mode } = await stat(home);
    if ((mode & 0o077) !== 0) await chmod(home, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = (code === undefined ? undefined : reasons[code]) ?? (error instanceof Error ? error.message : String(error));
    throw new HoldfastError(code === "ENOSPC" ? "store_full" : "store_failed", `${home} can't be the home of Holdfast: ${reason}`, {
      hint: "set HOLDFAST_HOME to a folder that you can write",
    });
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "it is no folder",
  ENOTDIR: "a part of the path is no folder",
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EROFS: "it can only be read there",
  ENOENT: "no folder can be made there",
  ENOSPC: "the disk is full",
};

/** With the folders above it. Node's own `recursive` never ends where the system makes no folders and says ENOENT (/proc). */
async function makeFolder(path: string): Promise<void> {
  const make = (): Promise<void> =>
    mkdir(path, { mode: 0o700 }).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST" || !(await stat(path)).isDirectory()) throw error;
    });
  try {
    await make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await make();
  }
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
