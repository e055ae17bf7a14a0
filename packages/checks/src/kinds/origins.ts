import type { Json } from "@holdfast/protocol";

/** A place without what only says which version of the package is meant. */
function unversioned(place: string): string {
  return place.replace(/[#?].*$/, "").replace(/(?:[@/-]v?)\d+(?:\.[\w-]+)*/g, "");
}

/**
 * The package that an entry of a package.json stands for, where that is not the one of its name in the registry: `npm:other@1`,
 * `owner/repository`, an address, an archive. What lies in the workspace is nobody else's.
 */
export function originOf(spec: Json | undefined): string[] {
  if (typeof spec !== "string" || /^(?:workspace|link|portal|catalog|patch):/.test(spec)) return [];
  const other = /^(?:npm|jsr):((?:@[\w.-]+\/)?[A-Za-z][\w.-]*)(?:@|$)/.exec(spec)?.[1];
  if (other !== undefined) return [other];
  const isPlace =
    /^[\w.-]+\/[\w.-]+(?:#|$)|:|\.(?:tgz|tar\.gz)$/.test(spec) && (!spec.startsWith("file:") || /\.(?:tgz|tar\.gz)$/.test(spec));
  return isPlace && !spec.startsWith("npm:") ? [unversioned(spec)] : [];
}

/** All strings in a value, however deep. */
export function stringsIn(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** What an entry of a package-lock.json leads to: its own name where it has another's place, and where it is got from. */
export function lockedOrigins(entry: Json | undefined): string[] {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return [];
  const { name, resolved } = entry as { readonly name?: Json; readonly resolved?: Json };
  const found = typeof name === "string" ? [name] : [];
  if (typeof resolved !== "string" || !resolved.includes(":") || resolved.startsWith("file:")) return found;
  const ofRegistry = /\/((?:@[\w.-]+\/|@[\w.-]+%2[fF])?[\w.-]+)\/-\/[^/]+$/.exec(resolved)?.[1];
  return [...found, ofRegistry === undefined ? unversioned(resolved) : ofRegistry.replace(/%2f/i, "/")];
}

/** Places that a table of dependencies gives beside their names, and names in a registry that differ from theirs. */
export function tabledOrigins(section: string): string[] {
  return [...section.matchAll(/\b(?:git|url|package)\s*=\s*["']([^"']+)/g)].map(([, place = ""]) => unversioned(place));
}

/** Names in a list of Python's requirements, one in each string, and where they are got from if not by name. */
export function requirementsIn(list: string): string[] {
  return [...list.matchAll(/(["'])(.*?)\1/g)].flatMap(([, , one = ""]) => requirement(one));
}

export function requirement(line: string): string[] {
  const place = /(?:^|\s@\s*|^-e\s+|^--editable[= ]\s*)((?:\w+\+)?[a-z]+:\/\/\S+)/.exec(line)?.[1];
  const name = /^([A-Za-z0-9][\w.-]*)(?!\S*:\/\/)/.exec(line)?.[1];
  return [...(name === undefined ? [] : [name]), ...(place === undefined ? [] : [unversioned(place)])];
}

/** The requirement files that one takes in. */
export function requirementFilesIn(text: string): string[] {
  return [...text.matchAll(/^\s*(?:-r|--requirement)[\s=]*(\S+)/gm)].map(([, file = ""]) => file);
}
