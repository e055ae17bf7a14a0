import type { CheckFiles, Place } from "@holdfast/runtime";
import { keyOf, placeOf, type Workplace } from "../inputs.ts";
import { quotedTexts } from "../loads.ts";
import { folderOf, resolvePath } from "../paths.ts";
import type { NewLines } from "./outside.ts";

const word = /(?:^|[\s"'`=([])((?:\.{0,2}\/)?[\w.-]+(?:\/[\w.-]+)+\/?)(?=$|[\s"'`;)\]])/gm;
const mostPaths = 500;

/** What a line may name: each text in quotes, all of them in pieces (`join(here, "..", "data")`), and words with slashes. */
function namesIn(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const quoted = quotedTexts(line).filter((one) => /^[\w./-]+$/.test(one));
    const pieces = quoted.map((_, at) => quoted.slice(at).join("/"));
    return [...quoted, ...pieces, ...[...line.matchAll(word)].map(([, one = ""]) => one)];
  });
}

/**
 * Folders in the workspace that new lines name and that hold no file: no tree has them, so whoever gets the work has none.
 * What is ignored is looked at elsewhere.
 */
export async function namedEmptyFolders(
  files: CheckFiles,
  manifest: string,
  workplace: Workplace,
  lines: readonly NewLines[],
): Promise<Place[]> {
  const found = new Map<string, Place>();
  const home = placeOf(workplace, workplace.cwd);
  for (const { root, path, text } of lines)
    for (const name of namesIn(text))
      for (const folder of [folderOf(path), home?.root === root ? home.path : "", ""]) {
        const place = { root, path: name.startsWith("/") ? "" : (resolvePath(folder, name) ?? "") };
        if (place.path !== "" && !/(?:^|\/)\.git(?:\/|$)/.test(place.path) && found.size < mostPaths) found.set(keyOf(place), place);
      }
  if (found.size === 0) return [];
  // What holds files in scope, is such a file, or is ignored.
  for (const { root, path } of await files.list(manifest))
    for (let above = path; above !== ""; above = folderOf(above)) found.delete(keyOf({ root, path: above }));
  const ignored = await files.ignored();
  const isIgnored = (place: Place): boolean =>
    ignored.some(({ root, path }) => root === place.root && (`${place.path}/`.startsWith(`${path}/`) || path.startsWith(`${place.path}/`)));
  const places = [...found.values()].filter((place) => !isIgnored(place));
  const there = await files.sign(places);
  return places.filter((place) => there.has(keyOf(place)));
}
