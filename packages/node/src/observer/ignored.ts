import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { IgnoredEntry } from "@holdfast/runtime";
import type { Git } from "./git.ts";
import { decodeName, decodeNames, fsPath } from "./names.ts";
import { cachesAmong, markedCachesIn } from "./own-caches.ts";
import { dependencyFolders } from "./tools.ts";
import { walkFiles } from "./walk.ts";
import { lookAt } from "../files/missing.ts";

/** What git ignores below the roots, whole folders as one. */
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
    for (const entry of await plainIgnored(root.path)) entries.push({ root: root.id, ...entry });
  }
  const found = roots.flatMap(({ id }) => wholeCaches(leaves(entries.filter(({ root }) => root === id))));
  return found.flatMap((entry) => withMarked(roots, entry)).filter((entry) => exists(roots, entry));
}

/** A folder of dependencies, and the caches in it that are none. */
function withMarked(roots: readonly { readonly id: string; readonly path: string }[], entry: IgnoredEntry): IgnoredEntry[] {
  const root = roots.find(({ id }) => id === entry.root);
  if (!entry.isDependency || !entry.isFolder || root === undefined) return [entry];
  const caches = markedCachesIn(join(root.path, entry.path));
  return [entry, ...caches.map((name) => ({ ...entry, path: `${entry.path}/${name}`, isDependency: false }))];
}

/** Git names what lies in a folder that ignores itself one by one: a tool's cache is one thing. */
function wholeCaches(entries: readonly IgnoredEntry[]): IgnoredEntry[] {
  const [root] = entries.map((entry) => entry.root);
  const caches = cachesAmong(entries.flatMap((entry) => (entry.isDependency ? [] : [entry.path])));
  if (root === undefined || caches.length === 0) return [...entries];
  const others = entries.filter(({ path }) => !caches.some((folder) => path.startsWith(`${folder}/`)));
  return [...others, ...caches.map((path) => ({ root, path, isFolder: true, isDependency: false }))];
}

/** Without git: what walking by the ignore files leaves out, a folder without any file in scope as one. */
async function plainIgnored(root: string): Promise<Omit<IgnoredEntry, "root">[]> {
  const inScope = new Set([""]);
  for (const path of await walkFiles(root, null)) {
    inScope.add(path);
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) inScope.add(path.slice(0, at));
  }
  const entries: Omit<IgnoredEntry, "root">[] = [];
  const pending = [""];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await readdir(fsPath(root, folder), { withFileTypes: true, encoding: "buffer" }).catch(() => [])) {
      const name = decodeName(entry.name);
      const path = folder === "" ? name : `${folder}/${name}`;
      const isFolder = entry.isDirectory();
      if (name === ".git") continue;
      if (!inScope.has(path)) entries.push({ path, isFolder, isDependency: isDependency(path) });
      else if (isFolder) pending.push(path);
    }
  }
  return entries;
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
  return root !== undefined && lookAt(fsPath(root.path, entry.path)) !== undefined;
}

/** True for what lies in a folder of installed dependencies, or is one. */
function isDependency(path: string): boolean {
  return path.split("/").some((part) => dependencyFolders.has(part));
}
