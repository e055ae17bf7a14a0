import { readdirSync } from "node:fs";
import { join } from "node:path";
import { commonOf, gitFolderOf, kindOf, leadsTo, linkedRepository, ownPlaces, placesOf } from "./git-places.ts";
import { contains } from "./mounts.ts";
import { homePlaces, ownProjectPlaces, projectPlaces } from "./project-places.ts";

/**
 * What of a workspace root stays as it is although the root is writable, because its content runs later and outside:
 * git's hooks and configuration (`core.fsmonitor`, `core.hooksPath`, filters, aliases) at the user's next git command,
 * editors' tasks when the folder is opened, other agents' hooks when they start.
 *
 * These are names of places. What may be mounted for them, `ownedBelow` decides: a name may lead anywhere.
 */
export interface Protection {
  /** The repository of a linked work tree, outside the root: git writes in it. */
  readonly writable: readonly string[];
  /** Folders that are written in, but not moved away and replaced. */
  readonly pinned: readonly string[];
  /** What nobody changes, nor makes where it isn't. */
  readonly places: readonly string[];
}

/** More folders than these are not looked into for repositories. */
const mostFolders = 300;

/**
 * `links` are the paths of a root that its index takes for repositories of their own (submodules), `named` what its git
 * configuration names.
 */
export function protectionOf(root: string, links: readonly string[], named: readonly string[], home: string): Protection {
  const own = repositoryAt(root);
  const pinned = [...own.pinned];
  const git = [...own.places];
  for (const entry of [...links, ...repositoriesIn(root, links)].map((link) => join(root, link, ".git"))) {
    const isFolder = kindOf(entry) === "folder";
    if (isFolder) pinned.push(entry);
    git.push(...(isFolder ? ownPlaces(entry) : [entry]));
  }
  const ofHome = contains(root, home) ? [...homePlaces, ".ssh"].map((name) => join(home, name)) : [];
  const ofProject = [...projectPlaces, ...ownProjectPlaces].map((name) => join(root, name));
  return { writable: own.writable, pinned, places: [...ofProject, ...ofHome, ...git, ...named] };
}

/** Of a root's own repository, whatever its `.git` is. */
function repositoryAt(root: string): Protection {
  const dotGit = join(root, ".git");
  const nothing = { writable: [], pinned: [] };
  switch (leadsTo(dotGit)) {
    case "folder":
      return { writable: [], pinned: [dotGit], places: placesOf(dotGit) };
    case null:
      // A repository that a command makes works without its hooks and its configuration.
      return { ...nothing, places: kindOf(dotGit) === null ? placesOf(dotGit) : [dotGit] };
    case "file": {
      const linked = linkedRepository(dotGit);
      if (linked !== null) {
        return { writable: [linked.common], pinned: [], places: [dotGit, ...placesOf(linked.common), ...linked.own] };
      }
      // One that it merely names is opened by nothing, but may lie in the root.
      const named = gitFolderOf(root);
      const folders = named === null ? [] : [...new Set([named, commonOf(named)])];
      return { writable: [], pinned: folders, places: [dotGit, ...folders.flatMap(placesOf)] };
    }
  }
}

/** Repositories right below a root that its index doesn't name: a folder of projects, in which people use git. */
function repositoriesIn(root: string, links: readonly string[]): string[] {
  return folderNames(root)
    .filter((name) => !name.startsWith(".") && name !== "node_modules" && !links.includes(name))
    .slice(0, mostFolders)
    .filter((name) => kindOf(join(root, name, ".git")) !== null);
}

function folderNames(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}
