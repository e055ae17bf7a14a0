import { readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { lookClosely } from "../files/missing.ts";
import type { Git } from "../observer/git.ts";
import { kindOf, textAt } from "./git-places.ts";
import { setAside } from "./gitlinks.ts";
import { armedSettings } from "./made.ts";

/**
 * A mount keeps the file that was there when a command began. Whoever replaces it meanwhile by another (git and editors write
 * that way) takes the mount off with it, and then the command can write the new one; a link in a root it can replace at any
 * time. So what stood there is noted, and looked at when the command has ended.
 */
interface Kept {
  readonly path: string;
  readonly identity: string;
  /** Of a link where it leads, of a git configuration the whole. */
  readonly text: string | null;
}

/** Their owner and git itself change these all the time: what matters is whether they name a program that they didn't. */
const configs: ReadonlySet<string> = new Set(["config", "config.worktree"]);

export function noteKept(path: string, places: readonly string[]): void {
  const kept = places.map((place): Kept => ({ path: place, identity: identityOf(place), text: textOf(place) }));
  writeFileSync(path, JSON.stringify(kept), { mode: 0o600 });
}

/** Sets aside what a command may have put there for others to run, and says of each what was done. `path` is that of `noteKept`. */
export async function disarmReplaced(path: string, git: Git): Promise<string[]> {
  const said: string[] = [];
  for (const kept of readNote(path)) {
    const place = kept.path;
    if (kindOf(place) === null || identityOf(place) === kept.identity) continue;
    if (kept.identity.startsWith("link")) {
      if (textOf(place) !== kept.text) said.push(`${place} is not the link that it was, and ${setAside(place)}`);
    } else if (kept.text !== null && configs.has(basename(place))) {
      if (await isArmed(git, place, kept.text)) said.push(`${place} ${setAside(place)}`);
    } else {
      said.push(`${place} was replaced while this ran, and could be changed from then on: look at it before you use it`);
    }
  }
  // A configuration may hold an address with a password.
  rmSync(path, { force: true });
  return said;
}

async function isArmed(git: Git, place: string, before: string): Promise<boolean> {
  const folder = dirname(place);
  const [now, then] = [await armedSettings(git, folder, { path: place }), await armedSettings(git, folder, { text: before })];
  return now === null || now.some((setting) => !(then ?? []).includes(setting));
}

function identityOf(path: string): string {
  const stat = lookClosely(path);
  if (stat === undefined) return "";
  return `${stat.isSymbolicLink() ? "link " : ""}${stat.dev} ${stat.ino} ${stat.birthtimeNs}`;
}

function textOf(path: string): string | null {
  if (kindOf(path) !== "link") return configs.has(basename(path)) ? textAt(path) : null;
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function readNote(path: string): readonly Kept[] {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as readonly Kept[];
  } catch {
    return [];
  }
}
