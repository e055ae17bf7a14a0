import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { regularText } from "../files/regular.ts";
import { fsPath } from "./names.ts";
import { cacheNames, dependencyFolders, reportFolders } from "./tools.ts";

/** How a tool marks a folder as its cache (bford.info/cachedir). */
const mark = "Signature: 8a477f597d28d172789f06886806bc55";
const markFile = "/CACHEDIR.TAG";

/**
 * `paths` below `top` without the caches that tools made for themselves, as pytest, ruff and mypy do: folders that bear the
 * mark and whose own ignore file leaves nothing of them to git. No such folder is one that `isKnown` to hold files in
 * scope. What has a name under which no signature looks stays in scope.
 */
export function withoutCaches(top: string, paths: readonly string[], isKnown: (folder: string) => boolean): readonly string[] {
  const text = (path: string): string => regularText(fsPath(top, path), { followsLink: false }) ?? "";
  const isCache = (folder: string): boolean =>
    text(folder + markFile).startsWith(mark) && ignoresAll(text(`${folder}/.gitignore`)) && !isKnown(folder);
  const caches = cachesAmong(paths)
    .filter(isCache)
    .map((folder) => `${folder}/`);
  const isOf = (path: string, folder: string): boolean => path.startsWith(folder) && !isUnsigned(path.slice(folder.length));
  return caches.length === 0 ? paths : paths.filter((path) => !caches.some((folder) => isOf(path, folder)));
}

/** Folders among `paths` with both of a cache's files. */
export function cachesAmong(paths: readonly string[]): string[] {
  const marked = paths.filter((path) => path.endsWith(markFile)).map((path) => path.slice(0, -markFile.length));
  return marked.filter((folder) => paths.includes(`${folder}/.gitignore`) && !reportFolders.has(folder.slice(folder.lastIndexOf("/") + 1)));
}

/**
 * Names of the caches that lie in a folder of dependencies under names that no list knows: hidden folders that bear the mark.
 * They are no dependency, and count as what is built: a check must pass without them where they changed.
 */
export function markedCachesIn(folder: string): string[] {
  if (!dependencyFolders.has(basename(folder))) return [];
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((one) => one.isDirectory() && one.name.startsWith(".") && !cacheNames.has(one.name))
      .filter(({ name }) => regularText(join(folder, name, markFile), { followsLink: false })?.startsWith(mark) === true)
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function isUnsigned(path: string): boolean {
  return path.split("/").some((name) => cacheNames.has(name) || reportFolders.has(name));
}

function ignoresAll(rules: string): boolean {
  const lines = rules.split(/\r?\n/).filter((line) => line !== "" && !line.startsWith("#"));
  return lines.length > 0 && lines.every((line) => line === "*");
}
