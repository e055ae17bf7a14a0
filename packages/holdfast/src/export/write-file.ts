import { stat, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { writeAtomically } from "../config/home.ts";

/** Found out before any work is done. */
export async function refuseUnwritable(path: string, isForced: boolean): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory()) throw new HoldfastError("usage", `-o: ${path} is a folder`);
  if (found?.isFile() && !isForced) throw existing(path);
  if (!(await stat(dirname(path)).catch(() => null))?.isDirectory())
    throw new HoldfastError("usage", `-o: there is no folder ${dirname(path)}`);
}

function existing(path: string): HoldfastError {
  return new HoldfastError("file_exists", `-o: ${path} is there already`, { hint: "name another file, or replace it with --force" });
}

/** Either all of it, or no file and the one that was there before. */
export async function writeOnce(path: string, text: string, isForced: boolean, what: string): Promise<void> {
  try {
    const isNew = (await stat(path).catch(() => null)) === null;
    if (isForced || !isNew) await writeAtomically(path, text, 0o600);
    else await writeNew(path, text);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EEXIST") throw existing(path);
    const isFull = code === "ENOSPC" || code === "EDQUOT";
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldfastError(isFull ? "store_full" : "usage", `-o: ${what} could not be written to ${path}: ${why}`, {
      hint: isFull ? "free some space, or name a file on another disk" : "name a file that can be written",
      cause: error,
    });
  }
}

/** Fails where somebody else made the file meanwhile. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
