import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { holdFolder } from "../files/held.ts";
import { lookAt } from "../files/missing.ts";
import { rename } from "./gitlinks.ts";
import { contains } from "./mounts.ts";
import { nearestReal } from "./real.ts";

/**
 * Places whose content would run later, outside the sandbox, and that were absent when a command began. Its wrapper moves away
 * what is there at the end (`sh/wrap.sh`); where the wrapper was ended itself, this does it, once.
 */
interface Noted {
  readonly roots: readonly string[];
  readonly absent: readonly string[];
}

/** Paths are real. */
export function noteAbsent(path: string, roots: readonly string[], absent: readonly string[]): void {
  const noted: Noted = { roots, absent };
  writeFileSync(path, JSON.stringify(noted), { mode: 0o600 });
}

export function forgetAbsent(path: string): void {
  rmSync(path, { force: true });
}

/**
 * Moves what stands at the noted places into the folder `removed`, and says of each what was done. What changed after `until`
 * (ms) is nothing of the command's.
 */
export function removeIntruders(path: string, removed: string, until: number): string[] {
  const text = readNote(path);
  if (text === null) return [];
  const { roots, absent } = JSON.parse(text) as Noted;
  const found = absent.flatMap((place) => intruderAt(place, roots) ?? []);
  return [...new Set(found)].flatMap((each, index) =>
    (lookAt(each)?.ctimeMs ?? Number.POSITIVE_INFINITY) > until
      ? []
      : [moveAway(each, join(removed, `${index + 1}-${basename(each)}`), removed)],
  );
}

/** What stands at a place, or was put in its way: a link, or a file in place of a folder. */
function intruderAt(place: string, roots: readonly string[]): string | null {
  const around = roots.filter((root) => contains(root, place)).sort((a, b) => b.length - a.length)[0] ?? dirname(place);
  // A workspace that was moved since, and left a link, is its owner's doing.
  if (nearestReal(around) !== around) return null;
  let at = around;
  for (const name of relative(around, place).split(sep)) {
    at = join(at, name);
    const stat = lookAt(at);
    if (stat === undefined) return null;
    if (!stat.isDirectory()) return at;
  }
  return at;
}

const why = "what it holds would run later, outside the sandbox";

function moveAway(from: string, to: string, removed: string): string {
  try {
    const folder = holdFolder(dirname(from));
    try {
      const held = join(folder.at, basename(from));
      try {
        mkdirSync(removed, { recursive: true, mode: 0o700 });
        renameSync(held, to);
        return `moved ${from} out of the workspace, to ${to}: ${why}`;
      } catch {
        // Another disk, or a folder that may not be moved: it can take another name where it is.
        const name = `${basename(from)}.holdfast-set-aside-${Date.now()}`;
        rename(folder.at, basename(from), name);
        return `renamed ${from} to ${name}: ${why}`;
      }
    } finally {
      folder.close();
    }
  } catch {
    return `${from} could not be moved; look at it before you go on: ${why}`;
  }
}

function readNote(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
