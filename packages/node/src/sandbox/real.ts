import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Where a path leads, also one whose last parts don't exist: they stay as given, below the nearest folder that does. */
export function nearestReal(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(nearestReal(parent), basename(path));
  }
}
