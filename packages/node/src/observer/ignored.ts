import { existsSync, lstatSync } from "node:fs";
import type { IgnoredEntry } from "@holdfast/runtime";
import type { Git } from "./git.ts";
import { decodeNames, fsPath } from "./names.ts";
import { dependencyFolders } from "./tools.ts";

/** What git ignores below the roots, whole folders as one; without git, the dependency folders at the top of each root. */
export async function listIgnored(git: Git, roots: readonly { readonly id: string; readonly path: string }[]): Promise<IgnoredEntry[]> {
  const entries: IgnoredEntry[] = [];
  for (const root of roots) {
    const { code, stdout } = await git(root.path, ["ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z"]);
    if (code === 0) {
      const names = decodeNames(stdout);
      for (const name of names) {
        const path = name.replace(/\/$/, "");
        entries.push({ root: root.id, path, isFolder: name.endsWith("/"), isDependency: isDependency(path) });
      }
      continue;
    }
    for (const name of dependencyFolders)
      if (existsSync(fsPath(root.path, name))) entries.push({ root: root.id, path: name, isFolder: true, isDependency: true });
  }
  return entries.filter((entry) => exists(roots, entry));
}

function exists(roots: readonly { readonly id: string; readonly path: string }[], entry: IgnoredEntry): boolean {
  const root = roots.find((candidate) => candidate.id === entry.root);
  return root !== undefined && lstatSync(fsPath(root.path, entry.path), { throwIfNoEntry: false }) !== undefined;
}

/** True for what lies in a folder of installed dependencies, or is one. */
function isDependency(path: string): boolean {
  return path.split("/").some((part) => dependencyFolders.has(part));
}
