import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { contains } from "./mounts.ts";
import { nearestReal } from "./real.ts";

/** Absolute path of a program on PATH, or null. Give it an `outerPath`: what it finds runs outside the sandbox. */
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

/**
 * PATH for what we run ourselves, outside the sandbox: without relative entries and those that lead into the workspace
 * (`node_modules/.bin` under npm), which any command may fill. `roots` are real paths.
 */
export function outerPath(path: string | undefined, roots: readonly string[]): string {
  const isOutside = (entry: string): boolean => {
    const real = nearestReal(entry);
    return roots.every((root) => !contains(root, real));
  };
  const entries = (path ?? "").split(delimiter).filter((entry) => isAbsolute(entry) && isOutside(entry));
  // An empty PATH would mean the current folder.
  return entries.length === 0 ? "/usr/local/bin:/usr/bin:/bin" : entries.join(delimiter);
}
