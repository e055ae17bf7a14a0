import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Owner } from "@holdfast/runtime/ports/log";
import { currentOwner } from "./identity.ts";

type Process = Pick<Owner, "pid" | "startTime" | "bootId">;

/** Its name in the folder. */
export const ownerNote = "owner";

let own: string | undefined;

/** Says in a folder that this process uses it, so that whoever looks for leftovers leaves it alone as long as we live. */
export function noteOwner(folder: string): void {
  const path = join(folder, ownerNote);
  if (own === undefined) {
    const { pid, startTime, bootId } = currentOwner("");
    own = JSON.stringify({ pid, startTime, bootId });
  }
  // Another process may have used it since.
  if (textOf(path) !== own) writeFileSync(path, own, { mode: 0o600 });
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** The process that used the folder last; null where nothing says so. */
export function ownerOf(folder: string): Process | null {
  try {
    return JSON.parse(textOf(join(folder, ownerNote)) ?? "") as Process;
  } catch {
    return null;
  }
}
