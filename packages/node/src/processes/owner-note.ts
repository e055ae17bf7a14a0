import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Owner } from "@holdfast/runtime/ports/log";
import { currentOwner } from "./identity.ts";

type Process = Pick<Owner, "pid" | "startTime" | "bootId">;

/** Its name in the folder. */
export const ownerNote = "owner";

const noted = new Set<string>();

/** Says in a folder that this process uses it, so that whoever looks for leftovers leaves it alone as long as we live. */
export function noteOwner(folder: string): void {
  const path = join(folder, ownerNote);
  if (noted.has(path) && existsSync(path)) return;
  const { pid, startTime, bootId } = currentOwner("");
  writeFileSync(path, JSON.stringify({ pid, startTime, bootId }), { mode: 0o600 });
  noted.add(path);
}

/** The process that used the folder last; null where nothing says so. */
export function ownerOf(folder: string): Process | null {
  try {
    return JSON.parse(readFileSync(join(folder, ownerNote), "utf8")) as Process;
  } catch {
    return null;
  }
}
