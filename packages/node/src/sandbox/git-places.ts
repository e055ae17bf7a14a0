import { readdirSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { regularText } from "../files/regular.ts";
import { lookAt, lookThrough } from "../files/missing.ts";

/** `commondir` would make git read its configuration and hooks from wherever it names. */
const gitPlaces = ["hooks", "config", "config.worktree", "commondir"] as const;

/** Places of a repository and of those that it holds, whether they are there or not. */
export function placesOf(gitFolder: string): string[] {
  return [
    ...ownPlaces(gitFolder),
    // The repository of each submodule is a git folder of its own.
    ...gitFoldersBelow(join(gitFolder, "modules")).flatMap(ownPlaces),
    ...list(join(gitFolder, "worktrees")).map((name) => join(gitFolder, "worktrees", name, "config.worktree")),
  ];
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

function gitFoldersBelow(folder: string, depth = 4): string[] {
  // What a link leads to is no part of this repository.
  if (kindOf(folder) !== "folder") return [];
  return list(folder).flatMap((name) => {
    const path = join(folder, name);
    if (kindOf(path) !== "folder") return [];
    if (kindOf(join(path, "HEAD")) === "file") return [path, ...gitFoldersBelow(join(path, "modules"), depth - 1)];
    return depth === 0 ? [] : gitFoldersBelow(path, depth - 1);
  });
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
