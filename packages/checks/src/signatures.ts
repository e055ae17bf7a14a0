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

/** Keys whose signature differs, one that is only in one of the two included. */
export function changedKeys(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]).sort();
}
