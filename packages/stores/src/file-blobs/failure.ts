import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { systemCode } from "../durable-files.ts";

/** What the file system threw, as an error with one of our codes. Ours pass through. */
export function blobFailure(error: unknown, path: string): unknown {
  if (isHoldfastError(error)) return error;
  const code = systemCode(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new HoldfastError("store_full", `content can't be saved, the disk is full: ${path}`, {
      hint: "free some space, then go on",
      cause: error,
    });
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new HoldfastError("store_failed", `the content store failed: ${path} (${detail})`, {
    hint: "check that the folder exists, belongs to you and can be written",
    cause: error,
  });
}

/** Undefined where `promise` fails because there is no such file; other failures are thrown. */
export async function unlessMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
