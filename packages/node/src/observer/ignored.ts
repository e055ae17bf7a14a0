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
  return leaves(entries).filter((entry) => exists(roots, entry));
}

/** Git names a folder without tracked files beside what is ignored in it: what lies deeper says it all, but for dependencies. */
function leaves(entries: readonly IgnoredEntry[]): IgnoredEntry[] {
  const above = new Set<string>();
  const dependencies = new Set(entries.filter((entry) => entry.isDependency).map(key));
  const inside = (entry: IgnoredEntry): string[] => {
    const parts = entry.path.split("/");
    return parts.slice(1).map((_, index) => key({ ...entry, path: parts.slice(0, index + 1).join("/") }));
  };
  const kept = entries.filter((entry) => !inside(entry).some((folder) => dependencies.has(folder)));
  for (const entry of kept) for (const folder of inside(entry)) above.add(folder);
  return kept.filter((entry) => !above.has(key(entry)));
}

function key(entry: IgnoredEntry): string {
  return `${entry.root}:${entry.path}`;
}

function exists(roots: readonly { readonly id: string; readonly path: string }[], entry: IgnoredEntry): boolean {
  const root = roots.find((candidate) => candidate.id === entry.root);
  return root !== undefined && lstatSync(fsPath(root.path, entry.path), { throwIfNoEntry: false }) !== undefined;
}

/** True for what lies in a folder of installed dependencies, or is one. */
function isDependency(path: string): boolean {
  return path.split("/").some((part) => dependencyFolders.has(part));
}
