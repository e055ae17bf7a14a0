import type { Places, ShellWord } from "./command.ts";

/** Where a command may leave the shell: after success, and after failure. */
export interface Flow {
  readonly ok: Places;
  readonly failed: Places;
}

/** A line that may run in more folders than this isn't followed further. */
const maxPlaces = 4;

export function still(places: Places): Flow {
  return { ok: places, failed: places };
}

export function either(a: Places, b: Places): Places {
  if (a === null || b === null) return null;
  const all = [...new Set([...a, ...b])];
  return all.length > maxPlaces ? null : all;
}

/** Joins without resolving links; `..` stays, so that a link before it is resolved by the file system. */
export function joinPath(folder: string, path: string): string {
  if (path.startsWith("/") || path === "~" || path.startsWith("~/")) return path;
  if (folder === "" || path === "") return folder + path;
  return folder.endsWith("/") ? folder + path : `${folder}/${path}`;
}

/** What `cd`, `pushd` and `popd` do to the places. */
export function changeFolder(program: string, operands: readonly ShellWord[], places: Places): Flow {
  if (program === "popd") return { ok: null, failed: places };
  const options = operands.findIndex((word) => word.literal === null || !/^-[LPe@]+$/.test(word.literal));
  const rest = options < 0 ? [] : operands.slice(options);
  const words = rest[0]?.literal === "--" ? rest.slice(1) : rest;
  const target = words[0] === undefined ? (program === "cd" ? "~" : null) : words[0].literal;
  if (target === null || target === "-" || words.length > 1 || /^[+-]\d+$/.test(target)) return { ok: null, failed: places };
  const isHome = target.startsWith("~");
  // A quoted `~` is a folder of that name.
  if (isHome && words[0] !== undefined && !words[0].fromHome) return { ok: null, failed: places };
  if (places === null && !target.startsWith("/") && !isHome) return still(null);
  return { ok: places === null ? [target] : [...new Set(places.map((place) => joinPath(place, target)))], failed: places };
}
