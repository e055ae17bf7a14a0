import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";

/** Whether the file system refused for want of room. */
export function isFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOSPC" || code === "EDQUOT";
}

/** Why nothing can be written in `folder`; null where it can by now. */
export function whyUnwritable(folder: string): unknown {
  const file = join(folder, "room");
  try {
    writeFileSync(file, "room\n", { mode: 0o600 });
    return null;
  } catch (error) {
    return error;
  } finally {
    rmSync(file, { force: true });
  }
}

/** `store_full` or `store_failed`, of a run that was not started since its records could not be written in `folder`. */
export function unwritable(folder: string, why: unknown): HoldfastError {
  const told = "No command was started: its records can't be written, ";
  if (why === null || isFull(why)) {
    return new HoldfastError("store_full", `${told}the disk is full: ${folder}`, { hint: "free some space, then go on", cause: why });
  }
  return new HoldfastError("store_failed", `${told}${why instanceof Error ? why.message : String(why)}`, {
    hint: "check that the folder exists, belongs to you and can be written",
    cause: why,
  });
}
