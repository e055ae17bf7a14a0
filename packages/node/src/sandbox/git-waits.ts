import { dirname, join } from "node:path";
import { lookAt, lookThrough } from "../files/missing.ts";
import { commonOf, gitFolderOf, kindOf, textAt } from "./git-places.ts";

/** What git opens of a repository before it does anything, and of a work tree as it lists it. */
const ofTree = [".gitignore", ".gitattributes", ".gitmodules", ".mailmap"];
const ofGitFolder = ["HEAD", "config", "config.worktree", "commondir", "gitdir", "index", "info/sparse-checkout"];
const ofRepository = [
  "HEAD",
  "config",
  "packed-refs",
  "shallow",
  "info/exclude",
  "info/attributes",
  "info/grafts",
  "objects/info/alternates",
  "objects/info/commit-graph",
  "objects/info/multi-pack-index",
];

export interface Waited {
  readonly path: string;
  /** False: it is the repository's, which is damaged then. */
  readonly isOfTree: boolean;
}

/** A file around a folder at which git would wait for ever, or read without an end; null where there is none. */
export function waitsAt(cwd: string): Waited | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const own = kindOf(join(folder, ".git")) === null ? null : gitFolderOf(folder);
    // A folder may be a repository without a `.git`.
    const damaged = own === null ? waitsIn(folder, ["HEAD"]) : waitsInRepository(own);
    if (damaged !== null) return { path: damaged, isOfTree: false };
    // Git follows no link to these.
    const tree = own === null ? undefined : ofTree.map((name) => join(folder, name)).find((path) => isOdd(lookAt, path));
    if (tree !== undefined) return { path: tree, isOfTree: true };
    if (own !== null || folder === dirname(folder)) return null;
  }
}

function waitsInRepository(gitFolder: string): string | null {
  const own = waitsIn(gitFolder, ofGitFolder);
  if (own !== null) return own;
  const common = commonOf(gitFolder);
  const branch = /^ref: (refs\/.+?)\s*$/.exec(textAt(join(gitFolder, "HEAD")) ?? "")?.[1];
  return waitsIn(common, [...ofRepository, ...(branch === undefined ? [] : [branch])]);
}

function waitsIn(folder: string, names: readonly string[]): string | null {
  return names.map((name) => join(folder, name)).find(isWaitedFor) ?? null;
}

/** A pipe, or a device other than the one that is always empty; also behind a link. */
export function isWaitedFor(path: string): boolean {
  return isOdd(lookThrough, path);
}

function isOdd(look: (path: string) => ReturnType<typeof lookAt>, path: string): boolean {
  try {
    const stat = look(path);
    if (stat === undefined) return false;
    return stat.isFIFO() || ((stat.isCharacterDevice() || stat.isBlockDevice()) && stat.rdev !== lookThrough("/dev/null")?.rdev);
  } catch {
    return false;
  }
}
