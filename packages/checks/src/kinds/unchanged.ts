import type { CheckDefinition } from "@holdfast/protocol";
import type { CheckFiles, ManifestEntry, Place } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { keyOf, placeOf, type Workplace } from "../inputs.ts";
import { resolvePath } from "../paths.ts";

/** By `root:path`: what stood at a place that no manifest lists, since it is ignored or there was nothing. */
export type Stood = Readonly<Record<string, string>>;

const nothing = "nothing";

/** The place that a condition is about; null where that is outside the workspace. */
export function conditionPlace(path: string, files: Workplace): Place | null {
  const home = placeOf(files, files.cwd);
  const inside = home === null || path.startsWith("/") ? null : resolvePath(home.path, path);
  return home === null || inside === null ? null : { root: home.root, path: inside };
}

/** What stands where `files` checks want something unchanged and the manifest `first` has nothing. `manifest`: the files of now. */
export async function standsOutside(
  checks: readonly CheckDefinition[],
  first: string,
  manifest: string,
  observer: CheckFiles,
  files: Workplace,
): Promise<Stood> {
  const stood: Record<string, string> = {};
  const wanted = checks.flatMap((check) => (check.kind === "files" ? check.files : [])).filter(({ unchanged }) => unchanged === true);
  if (wanted.length === 0) return stood;
  const [before, now] = [await observer.list(first), await observer.list(manifest)];
  for (const { path } of wanted) {
    const place = conditionPlace(path, files);
    if (place === null || inScope(place, before) !== null) continue;
    // What is in scope by now and was not has come since.
    const state = inScope(place, now) === null ? await outside(place, observer) : nothing;
    if (state !== null) stood[keyOf(place)] = state;
  }
  return stood;
}

/**
 * Whether a file, or all that is in scope of a folder, is what it was: in kind, mode and content. What is ignored is held against
 * what stood there, a folder by the signature of all that is in it. Null where that can't be told.
 */
export async function isUnchanged(
  place: Place,
  first: readonly ManifestEntry[],
  now: readonly ManifestEntry[],
  stood: Stood,
  observer: CheckFiles,
): Promise<boolean | null> {
  const before = inScope(place, first) ?? stood[keyOf(place)] ?? null;
  const after = inScope(place, now) ?? (await outside(place, observer));
  return before === null || after === null ? null : before === after;
}

/** What is listed at a place or below it; null where nothing is. */
function inScope({ root, path }: Place, entries: readonly ManifestEntry[]): string | null {
  const own = entries.find((entry) => entry.root === root && entry.path === path);
  if (own !== undefined) return stateOf(own);
  const inside = entries.filter((entry) => entry.root === root && (path === "" || entry.path.startsWith(`${path}/`)));
  return inside.length === 0 ? null : sha256(inside.map((entry) => `${stateOf(entry)} ${JSON.stringify(entry.path)}\n`).join(""));
}

async function outside(place: Place, observer: CheckFiles): Promise<string | null> {
  const stands = await observer.standing(place);
  if (stands === null) return nothing;
  if (stands.kind === "unknown") return null;
  if (stands.kind !== "folder") return stateOf(stands);
  const signature = (await observer.sign([place])).get(keyOf(place)) ?? "";
  // One that is too large to be signed whole is not known whole.
  return signature.endsWith(" in part") ? null : `folder:${signature}`;
}

function stateOf({ kind, digest }: { readonly kind: string; readonly digest: string }): string {
  return `${kind}:${digest}`;
}
