import { randomBytes } from "node:crypto";
import { closeSync, fchmodSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { lookAt } from "@holdfast/node/files/missing";

/** One file as it was found and as it is to be; null where there is none. */
export interface Write {
  readonly path: string;
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  /** Permission bits; null for a new file's usual ones. */
  readonly mode: number | null;
}

/**
 * Writes all files, each in one step; where one fails, those before it are put back. Everything that can fail for lack of
 * space or rights is done beside the files first. Null when done, else what went wrong.
 */
export function writeAll(writes: readonly Write[]): string | null {
  const staged = new Map<Write, string>();
  const done: Write[] = [];
  try {
    for (const write of writes) if (write.after !== null) staged.set(write, stage(write.path, write.after, write.mode));
    for (const write of writes) {
      if (!isAsFound(write)) return undone(done, `${write.path} has changed meanwhile (file_changed).`);
      const fresh = staged.get(write);
      if (fresh === undefined) rmSync(write.path);
      else if (write.before === null) make(fresh, write.path);
      else renameSync(fresh, write.path);
      done.push(write);
    }
    return null;
  } catch (error) {
    return undone(done, (error as Error).message);
  } finally {
    for (const path of staged.values()) rmSync(path, { force: true });
  }
}

/** The new content beside the file, with its permissions; readable by nobody else on the way. */
function stage(path: string, content: Uint8Array, mode: number | null): string {
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = openSync(fresh, "wx", mode === null ? 0o666 : 0o600);
  try {
    writeFileSync(file, content);
    if (mode !== null) fchmodSync(file, mode);
  } finally {
    closeSync(file);
  }
  return fresh;
}

/** A new file never takes the place of one that came meanwhile, where the file system has links. */
function make(fresh: string, path: string): void {
  try {
    linkSync(fresh, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw error;
    renameSync(fresh, path);
  }
}

function isAsFound({ path, before }: Write): boolean {
  if (before === null) return lookAt(path) === undefined;
  return readFileSync(path).equals(before);
}

function undone(done: readonly Write[], why: string): string {
  const left: string[] = [];
  for (const { path, before, mode } of done) {
    try {
      if (before === null) rmSync(path, { force: true });
      else renameSync(stage(path, before, mode), path);
    } catch {
      left.push(path);
    }
  }
  return left.length === 0 ? why : `${why}\nThese could not be put back and stay changed: ${left.join(", ")}`;
}
