import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Absolute path of a program on PATH, or null. Only absolute entries count: a relative one would be the workspace's to fill. */
export function findProgram(name: string, path: string = process.env["PATH"] ?? ""): string | null {
  for (const folder of [...path.split(delimiter), "/usr/local/sbin", "/usr/sbin", "/sbin"]) {
    if (!isAbsolute(folder)) continue;
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      continue;
    }
  }
  return null;
}
