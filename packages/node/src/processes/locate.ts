import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { contains } from "../sandbox/mounts.ts";
import { nearestReal } from "../sandbox/real.ts";

/**
 * Finds the file that a bare name means on a PATH, as a shell would. A relative or empty entry means the folder of a command,
 * so it is looked for in every root. What lies outside the roots is remembered while no entry before it leads into one: no
 * session can put another file in front of it.
 */
export function createLocate(path: string, roots: readonly string[]): (program: string) => Promise<string | null> {
  const entries = path.split(delimiter).flatMap((entry) => (isAbsolute(entry) ? [entry] : roots.map((root) => join(root, entry))));
  const isOwn = entries.map((entry) => roots.some((root) => contains(root, nearestReal(entry))));
  const known = new Map<string, string>();
  return async (program) => {
    const kept = known.get(program);
    if (kept !== undefined) return kept;
    for (const [i, entry] of entries.entries()) {
      const found = await realOf(join(entry, program));
      if (found === null) continue;
      if (!isOwn.slice(0, i + 1).includes(true) && !roots.some((root) => contains(root, found))) known.set(program, found);
      return found;
    }
    return null;
  };
}

async function realOf(path: string): Promise<string | null> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile() ? await realpath(path) : null;
  } catch {
    return null;
  }
}
