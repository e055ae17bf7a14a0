import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Listing, type ListPlaces, listScope, ruleFile } from "../observer/list.ts";
import { decodeNames, fsPath } from "../observer/names.ts";
import { lookAt } from "../files/missing.ts";

/** What belongs to the workspace below one root, by the ignore rules of one moment. */
export interface Scope {
  readonly listing: Listing;
  readonly files: ReadonlySet<string>;
  /** Folders in which everything is ignored. */
  readonly ignored: ReadonlySet<string>;
  /** Places of other repositories whose repository isn't there: git lists nothing below them, so all of it counts. */
  readonly vacant: readonly string[];
}

/** Names asked about in one command line; more are answered by listing everything. */
const mostAsked = 100;

export async function readScope(places: ListPlaces, root: string, rules: Listing["rules"] | null): Promise<Scope> {
  const listing = await listScope(places, root, rules);
  const ignored = new Set<string>();
  await Promise.all(
    listing.repos.map(async (repo) => {
      for (const folder of await ignoredFolders(places, root, repo, listing.rules[repo] ?? "", [])) ignored.add(folder);
    }),
  );
  return { listing, files: new Set(listing.files.map((file) => file.path)), ignored, vacant: vacantPlaces(root, listing) };
}

/**
 * The same for names that have newly appeared, without listing what was there. Null where only a whole listing tells: no
 * version control, many names, another repository among them.
 */
export async function scopeOf(
  places: ListPlaces,
  root: string,
  { listing }: Scope,
  names: readonly string[],
): Promise<Omit<Scope, "listing"> | null> {
  if (listing.repos.length === 0 || names.length > mostAsked || !names.every((name) => name.isWellFormed())) return null;
  const vacant = vacantPlaces(root, listing);
  // A repository that has come, alone or with the folder it lies in: its own list is needed.
  const hasCome = placesOf(listing).some((place) => {
    if (vacant.includes(place)) return false;
    const isKnown = listing.repos.includes(place);
    return names.some((name) => name === place || isBelow(place, name) || (!isKnown && isBelow(name, place)));
  });
  if (hasCome) return null;
  const byRepo = new Map<string, string[]>();
  for (const name of names) {
    const repo = repoOf(listing.repos, name);
    byRepo.set(repo, [...(byRepo.get(repo) ?? []), repo === "" ? name : name.slice(repo.length + 1)]);
  }
  const files = new Set<string>();
  const ignored = new Set<string>();
  let isWhole = true;
  await Promise.all(
    [...byRepo].map(async ([repo, asked]) => {
      const rules = listing.rules[repo] ?? "";
      const [found, folders] = await Promise.all([
        places.git(join(root, repo), ["ls-files", "-c", "-o", "-z", `--exclude-from=${ruleFile(places, rules)}`, "--", ...asked]),
        // Only below a folder can there be ignored ones.
        asked.some((name) => isFolder(join(root, repo, name))) ? ignoredFolders(places, root, repo, rules, asked) : [],
      ]);
      if (found.code !== 0) isWhole = false;
      const inside = repo === "" ? "" : `${repo}/`;
      for (const name of decodeNames(found.stdout)) {
        if (name.endsWith("/")) isWhole = false;
        files.add(inside + name);
      }
      for (const folder of folders) ignored.add(folder);
    }),
  );
  return isWhole ? { files, ignored, vacant } : null;
}

function isFolder(path: string): boolean {
  return lookAt(path)?.isDirectory() === true;
}

function vacantPlaces(root: string, listing: Listing): string[] {
  return placesOf(listing).filter((place) => !existsSync(fsPath(root, `${place}/.git`)));
}

/** Where other repositories lie, or are meant to. */
function placesOf(listing: Listing): readonly string[] {
  return [...new Set([...listing.repos.filter((repo) => repo !== ""), ...linksOf(listing)])];
}

/** Where the index has repositories of their own (submodules). */
function linksOf(listing: Listing): string[] {
  let links = linksIn.get(listing);
  if (links === undefined)
    linksIn.set(listing, (links = listing.files.flatMap(({ path, gitMode }) => (gitMode === "160000" ? [path] : []))));
  return links;
}

const linksIn = new WeakMap<Listing, string[]>();

export function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Git names a folder without tracked files beside what is ignored in it: one with something listed below is only passed through. */
async function ignoredFolders(places: ListPlaces, root: string, repo: string, rules: string, asked: readonly string[]): Promise<string[]> {
  const { code, stdout } = await places.git(join(root, repo), [
    "ls-files",
    "-o",
    "-i",
    "--directory",
    "-z",
    `--exclude-from=${ruleFile(places, rules)}`,
    ...(asked.length === 0 ? [] : ["--", ...asked]),
  ]);
  if (code !== 0) return [];
  const names = decodeNames(stdout);
  const passed = new Set<string>();
  for (const name of names) {
    const path = name.endsWith("/") ? name.slice(0, -1) : name;
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) passed.add(path.slice(0, at));
  }
  const inside = repo === "" ? "" : `${repo}/`;
  return names.flatMap((name) => (name.endsWith("/") && !passed.has(name.slice(0, -1)) ? [inside + name.slice(0, -1)] : []));
}

function repoOf(repos: readonly string[], path: string): string {
  let found = "";
  for (const repo of repos) if (repo.length > found.length && path.startsWith(`${repo}/`)) found = repo;
  return found;
}
