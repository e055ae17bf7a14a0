import type { CheckFiles, Place } from "@holdfast/runtime";
import { matcher } from "./glob.ts";
import { keyOf, placeOf, type Workplace } from "./inputs.ts";
import type { Named } from "./named.ts";
import { folderOf, nameOf } from "./paths.ts";
import { configAbove, reports, runnerFiles } from "./toolchains.ts";

/** What is not in scope but decides results, as it looks now. */
export interface Signatures {
  /** Dependency folders and configuration. */
  readonly around: Readonly<Record<string, string>>;
  /** What else is ignored, build output mostly, and what checks name of it. */
  readonly builds: Readonly<Record<string, string>>;
  /** Keys of `builds` that checks name. */
  readonly named: ReadonlySet<string>;
  readonly buildPlaces: readonly Place[];
}

export async function takeSignatures(files: CheckFiles, workplace: Workplace, named: readonly Named[]): Promise<Signatures> {
  const ignored = await files.ignored();
  const isConfig = matcher(runnerFiles);
  const around: Place[] = ignored.filter((entry) => entry.isDependency || (!entry.isFolder && isConfig(entry.path)));
  for (const root of workplace.roots) {
    for (let folder = folderOf(root.path); folder !== ""; folder = folderOf(folder)) {
      for (const name of configAbove) around.push({ root: "", path: `${folder}/${name}` });
    }
  }
  const home = placeOf(workplace, workplace.cwd)?.root ?? "";
  const isReport = matcher(reports);
  const buildPlaces: Place[] = ignored.filter((e) => !e.isDependency && (e.isFolder || !isConfig(e.path)) && !isReport(e.path));
  const entries = new Set(buildPlaces.map(keyOf));
  const namedKeys = new Set<string>();
  const others = new Set(named.flatMap((one) => [...one.others]));
  for (const path of others) {
    const isIgnored = ignored.some((e) => e.root === home && !e.isDependency && (e.path === path || path.startsWith(`${e.path}/`)));
    if (!isIgnored || nameOf(path) === "") continue;
    const key = keyOf({ root: home, path });
    namedKeys.add(key);
    if (!entries.has(key)) buildPlaces.push({ root: home, path });
  }
  const signed = await files.sign([...around, ...buildPlaces]);
  const pick = (places: readonly Place[]): Record<string, string> => {
    const out: Record<string, string> = {};
    for (const place of places) {
      const key = place.root === "" ? place.path : keyOf(place);
      const signature = signed.get(key);
      if (signature !== undefined) out[key] = signature;
    }
    return out;
  };
  return { around: pick(around), builds: pick(buildPlaces), named: namedKeys, buildPlaces };
}

/** Caches that tools keep inside dependency folders, which no signature covers. */
const ownCaches = [".cache", ".vite", ".vite-temp", ".vitest", ".tmp"];

/** What no signature covers and the text names all the same: reports and logs, which a copy can do without, and tools' own caches. */
export async function namedUnsigned(files: CheckFiles, text: string): Promise<{ readonly reports: Place[]; readonly caches: Place[] }> {
  const says = (name: string): boolean => new RegExp(`(?<![\\w-])${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w-])`).test(text);
  const ignored = await files.ignored();
  const isReport = matcher(reports);
  const caches = ignored
    .filter((e) => e.isDependency)
    .flatMap(({ root, path }) => ownCaches.map((name) => ({ root, path: `${path}/${name}` })));
  const named = caches.filter(({ path }) => says(nameOf(path)));
  const there = await files.sign(named);
  return {
    reports: ignored.filter((e) => !e.isDependency && isReport(e.path) && says(nameOf(e.path))),
    caches: named.filter((place) => there.has(keyOf(place))),
  };
}

/** Keys whose signature differs, one that is only in one of the two included. */
export function changedKeys(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]).sort();
}
