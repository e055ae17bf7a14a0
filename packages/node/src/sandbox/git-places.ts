import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { regularText } from "../files/regular.ts";
import { lookAt, lookThrough } from "../files/missing.ts";

/** `commondir` would make git read its configuration and hooks from wherever it names. */
const gitPlaces = ["hooks", "config", "config.worktree", "commondir"] as const;

/** Places of a repository and of those that it holds, whether they are there or not. */
export function placesOf(gitFolder: string): string[] {
  const { modules, worktrees } = heldIn(gitFolder);
  // The repository of each submodule is a git folder of its own.
  return [...ownPlaces(gitFolder), ...modules.flatMap(ownPlaces), ...worktrees.map((folder) => join(folder, "config.worktree"))];
}

/** What git obeys in the repositories that one holds: places of theirs, whether they are there or not, and links to others. */
export function heldPlaces(gitFolder: string): string[] {
  const { modules, worktrees, links } = heldIn(gitFolder);
  return [
    ...links,
    ...modules.flatMap(ownPlaces),
    ...worktrees.flatMap((folder) => [join(folder, "config.worktree"), join(folder, "commondir")]),
  ];
}

/** True of the `commondir` of a linked work tree's part that names the repository that holds it, as git writes it. */
export function leadsHome(place: string): boolean {
  const folder = dirname(place);
  if (basename(place) !== "commondir" || basename(dirname(folder)) !== "worktrees") return false;
  const named = textAt(place)?.trim();
  const real = named === undefined || named === "" ? null : realOf(resolve(folder, named));
  return real !== null && real === realOf(dirname(dirname(folder)));
}

interface Held {
  /** Repositories of submodules, and theirs in turn. */
  readonly modules: readonly string[];
  /** The parts of linked work trees, also of submodules. */
  readonly worktrees: readonly string[];
  /** What lies among them and leads elsewhere. */
  readonly links: readonly string[];
  /** False where there are more folders than are looked into. */
  readonly isWhole: boolean;
}

const mostFolders = 2_000;

export function heldIn(gitFolder: string): Held {
  const found = { modules: [] as string[], worktrees: [] as string[], links: [] as string[] };
  const pending: string[] = [];
  const look = (repository: string): void => {
    for (const folder of foldersIn(join(repository, "worktrees"), found.links)) found.worktrees.push(folder);
    pending.push(join(repository, "modules"));
  };
  look(gitFolder);
  let looked = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    if (++looked > mostFolders) return { ...found, isWhole: false };
    for (const folder of foldersIn(at, found.links)) {
      const head = kindOf(join(folder, "HEAD"));
      if (head === null || head === "folder") pending.push(folder);
      else {
        found.modules.push(folder);
        look(folder);
      }
    }
  }
  return { ...found, isWhole: true };
}

/** The folders in a folder. Git follows links among them: these are noted, and the folder itself where it is one. */
function foldersIn(folder: string, links: string[]): string[] {
  const kind = kindOf(folder);
  if (kind === "link") links.push(folder);
  if (kind !== "folder") return [];
  return list(folder).flatMap((name) => {
    const path = join(folder, name);
    const inner = kindOf(path);
    if (inner === "link") links.push(path);
    return inner === "folder" ? [path] : [];
  });
}

/** Where the repositories of a work tree are, or may come to be. */
export function repositoriesAt(root: string): string[] {
  const dotGit = join(root, ".git");
  switch (leadsTo(dotGit)) {
    case "folder":
      return [dotGit];
    case null:
      return kindOf(dotGit) === null ? [dotGit] : [];
    case "file": {
      const linked = linkedRepository(dotGit);
      const named = gitFolderOf(root);
      return linked !== null ? [linked.common] : named === null ? [] : [...new Set([named, commonOf(named)])];
    }
  }
}

/** Places of one repository alone. */
export function ownPlaces(gitFolder: string): string[] {
  return gitPlaces.map((name) => join(gitFolder, name));
}

/** Where the repository of a work tree is, whatever its `.git` is; null where there is none. */
export function gitFolderOf(root: string): string | null {
  const dotGit = join(root, ".git");
  switch (kindOf(dotGit)) {
    case "file": {
      const named = gitdirIn(dotGit);
      return named === undefined ? null : resolve(root, named);
    }
    case "folder":
    case "link":
      return dotGit;
    case null:
      return null;
  }
}

/** The folder that a `.git` file names, as it stands there. */
export function gitdirIn(file: string): string | undefined {
  return /^gitdir: (.+?)\s*$/.exec(textAt(file) ?? "")?.[1];
}

/**
 * The repository that a `.git` file names, if that repository names this work tree too, and where git lays it: what may come
 * with any checkout (the file, and a folder that claims to belong to somebody's) opens nothing. `own` are files of the work
 * tree's own git folder to keep as they are.
 */
export function linkedRepository(dotGit: string): { readonly common: string; readonly own: readonly string[] } | null {
  const named = gitdirIn(dotGit);
  if (named === undefined) return null;
  try {
    const gitFolder = realpathSync(resolve(dirname(dotGit), named));
    const back = textAt(join(gitFolder, "gitdir"));
    if (back !== null && realpathSync(resolve(gitFolder, back.trim())) === realpathSync(dotGit)) {
      const common = commonOf(gitFolder);
      const isLaidByGit =
        dirname(gitFolder) === join(common, "worktrees") &&
        kindOf(join(common, "HEAD")) !== null &&
        kindOf(join(common, "objects")) === "folder";
      return isLaidByGit ? { common, own: [join(gitFolder, "commondir"), join(gitFolder, "gitdir")] } : null;
    }
    const workTree = /^\s*worktree\s*=\s*(.+?)\s*$/im.exec(textAt(join(gitFolder, "config")) ?? "")?.[1];
    if (workTree !== undefined && realpathSync(resolve(gitFolder, workTree)) === realpathSync(dirname(dotGit)))
      return { common: gitFolder, own: [] };
    return null;
  } catch {
    return null;
  }
}

/** Where a work tree's git folder has the repository's configuration and hooks. */
export function commonOf(gitFolder: string): string {
  const named = textAt(join(gitFolder, "commondir"))?.trim();
  return named === undefined || named === "" ? gitFolder : (realOf(resolve(gitFolder, named)) ?? gitFolder);
}

export function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** What a name is, through links; null where they lead to nothing. */
export function leadsTo(path: string): "file" | "folder" | null {
  const kind = kindOf(path);
  if (kind !== "link") return kind;
  const stat = lookThrough(path);
  return stat === undefined ? null : stat.isDirectory() ? "folder" : "file";
}

export function kindOf(path: string): "file" | "folder" | "link" | null {
  try {
    // Nearly all are missing, and an exception costs more than a look.
    const stat = lookAt(path);
    if (stat === undefined) return null;
    return stat.isSymbolicLink() ? "link" : stat.isDirectory() ? "folder" : "file";
  } catch {
    return null;
  }
}

export function textAt(path: string): string | null {
  return regularText(path, { followsLink: true });
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
