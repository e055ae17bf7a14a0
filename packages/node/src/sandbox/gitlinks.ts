import { randomUUID } from "node:crypto";
import { appendFileSync, chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Git } from "../observer/git.ts";
import { holdFolder } from "../files/held.ts";
import { lookClosely } from "../files/missing.ts";
import { nearestReal } from "./real.ts";
import { gitFolderOf, kindOf, ownPlaces } from "./git-places.ts";

/** Lists the paths below a root that its index takes for repositories of their own, and theirs in turn. */
export type ListGitlinks = (root: string) => Promise<readonly string[]>;

/** Deeper than people nest repositories; git itself goes on. */
const deepest = 8;

/** Git is asked only when an index has changed since. */
export function createGitlinks(git: Git): ListGitlinks {
  const known = new Map<string, { readonly index: string; readonly links: readonly string[] }>();
  const linksOf = async (root: string): Promise<readonly string[]> => {
    const folder = gitFolderOf(root);
    const stat = folder === null ? undefined : lookClosely(join(folder, "index"), { throughLinks: true });
    // Git would wait at a pipe for ever.
    if (stat === undefined || !stat.isFile()) return [];
    const index = `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
    const last = known.get(root);
    if (last?.index === index) return last.links;
    const { code, stdout } = await git(root, ["ls-files", "-s", "-z"]);
    // A repository that is damaged for a while is not taken for one without links.
    if (code !== 0) return last?.links ?? [];
    const entries = stdout.toString("utf8").split("\0");
    const links = entries
      .filter((entry) => entry.startsWith("160000 "))
      .map((entry) => entry.slice(entry.indexOf("\t") + 1))
      .filter(isPlain);
    known.set(root, { index, links });
    return links;
  };
  const list = async (root: string, depth: number): Promise<readonly string[]> => {
    // Past a link git itself looks into none, and whoever laid the link would lead us anywhere.
    const links = (await linksOf(root)).filter((link) => nearestReal(join(root, link)) === join(root, link));
    if (links.length === 0 || depth === 0) return links;
    const below = await Promise.all(links.map(async (link) => (await list(join(root, link), depth - 1)).map((each) => join(link, each))));
    return [...links, ...below.flat()];
  };
  return (root) => list(root, deepest);
}

/** Git writes no other into an index, but reads one that somebody else wrote. */
function isPlain(link: string): boolean {
  return !/[\0-\x1f\x7f]/.test(link) && link.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

/** What each root's links were when a command began: their repositories were protected from it. */
export type KnownLinks = Readonly<Record<string, readonly string[]>>;

export async function noteLinks(path: string, roots: readonly string[], list: ListGitlinks): Promise<KnownLinks> {
  const known = Object.fromEntries(await Promise.all(roots.map(async (root) => [root, await list(root)] as const)));
  writeFileSync(path, JSON.stringify(known), { mode: 0o600 });
  return known;
}

/**
 * Git looks into every repository that the index names, whenever its owner asks for the state of the tree, and runs what
 * its configuration says. A command can add one that it has made itself: what such a repository could run is set aside,
 * under another name beside it. `path` is the file of `noteLinks`; `output` is told.
 */
export async function disarmNewLinks(path: string, output: string, list: ListGitlinks): Promise<void> {
  if (!existsSync(path)) return;
  for (const [root, known] of Object.entries(JSON.parse(readFileSync(path, "utf8")) as KnownLinks)) {
    for (const link of (await list(root)).filter((each) => !known.includes(each))) {
      for (const place of linkPlaces(root, link).filter((each) => kindOf(each) !== null))
        appendFileSync(output, `holdfast: ${place} ${setAside(place)}\n`);
    }
  }
}

function linkPlaces(root: string, link: string): string[] {
  const entry = join(root, link, ".git");
  return kindOf(entry) === "folder" ? ownPlaces(entry) : [entry];
}

const whySetAside = "git would run what it names, outside the sandbox";

/** Renames what stands at a path beside itself, and says what was done. */
export function setAside(place: string): string {
  try {
    const folder = holdFolder(dirname(place));
    try {
      const name = freeName(folder.at, `${basename(place)}.holdfast-set-aside`);
      rename(folder.at, basename(place), name);
      return `was renamed to ${name}: ${whySetAside}`;
    } finally {
      folder.close();
    }
  } catch {
    // Behind a link git doesn't look; elsewhere a person must.
    return `could not be renamed; look at it before you use git here: ${whySetAside}`;
  }
}

/** Whoever wrote what is to be set aside may have taken the name. */
function freeName(folder: string, name: string): string {
  return kindOf(join(folder, name)) === null ? name : `${name}-${randomUUID()}`;
}

/** The command's folder is the user's: its permissions don't keep what it wrote. */
export function rename(folder: string, from: string, to: string): void {
  try {
    renameSync(join(folder, from), join(folder, to));
  } catch {
    chmodSync(folder, 0o700);
    renameSync(join(folder, from), join(folder, to));
  }
}
