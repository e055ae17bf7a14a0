import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HoldfastError } from "@holdfast/protocol";

/** Where an evaluation's cases are: as given, else `shared/data/NAME` beside a folder above this repository or the current one. */
export function findData(name: string, given?: string): string {
  if (given !== undefined) return given;
  for (const start of [import.meta.dirname, process.cwd()]) {
    for (let folder = start; ; folder = dirname(folder)) {
      const found = join(folder, "shared/data", name);
      if (existsSync(found)) return found;
      if (dirname(folder) === folder) break;
    }
  }
  throw new HoldfastError("usage", `There is no shared/data/${name} above this folder.`, { hint: "Name the cases with --data DIR." });
}

/** All cases of files `PREFIX.*.json` in a folder: the development half and others have the same form. */
export function readCases<T>(folder: string, prefix: string): T[] {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${prefix}.`) && file.endsWith(".json"));
  return files.toSorted().flatMap((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as T[]);
}
