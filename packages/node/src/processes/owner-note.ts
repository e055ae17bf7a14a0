import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Owner } from "@holdfast/runtime/ports/log";
import { currentOwner } from "./identity.ts";
import { lifeIn } from "./life.ts";

/** Its name in the folder. */
export const ownerNote = "owner";

/** Says in a folder of a home that this process uses it, so that whoever looks for leftovers leaves it alone as long as we live. */
export function noteOwner(folder: string, home: string): void {
  const path = join(folder, ownerNote);
  const life = lifeIn(home);
  const own = JSON.stringify({ ...currentOwner(""), ...(life !== null && { life }) });
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
export function ownerOf(folder: string): Owner | null {
  try {
    const found = JSON.parse(textOf(join(folder, ownerNote)) ?? "") as Partial<Owner>;
    // Of one that is written otherwise nobody's death can be told.
    return typeof found.pid === "number" && typeof found.startTime === "string" && typeof found.bootId === "string"
      ? (found as Owner)
      : null;
  } catch {
    return null;
  }
}
