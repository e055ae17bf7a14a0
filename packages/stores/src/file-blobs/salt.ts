import { HoldfastError } from "@holdfast/protocol/error";
import { linkSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { syncFolder, systemCode, writeDurablySync } from "../durable-files.ts";

export const saltBytes = 32;

/**
 * The store's salt, made at first use. It is linked into place whole, so of two processes that make one at the same
 * time both use the same. Throws `session_corrupt` where it is lost or damaged: without it no content can be checked.
 */
export function openSalt(folder: string): Uint8Array {
  const path = join(folder, "salt");
  const salt = readIfThere(path) ?? makeSalt(folder, path);
  if (salt.length !== saltBytes) throw lostSalt(path, "damaged");
  return salt;
}

function makeSalt(folder: string, path: string): Uint8Array {
  if (readdirSync(folder).some((name) => /^[0-9a-f]{2}$/.test(name))) throw lostSalt(path, "missing");
  const draft = join(folder, "drafts", randomUUID());
  writeDurablySync(draft, randomBytes(saltBytes));
  try {
    linkSync(draft, path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
  syncFolder(folder);
  return readFileSync(path);
}

function readIfThere(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
}

function lostSalt(path: string, how: "missing" | "damaged"): HoldfastError {
  return new HoldfastError("session_corrupt", `the salt of the content store is ${how}: ${path}`, {
    hint: "restore the file from a backup, or have holdfast doctor --repair set the contents aside and begin anew",
  });
}
