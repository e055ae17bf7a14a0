import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { isWithin } from "../config/workspace.ts";

const kinds = ["md", "mdx", "markdown", "txt", "rst", "adoc", "asciidoc", "org", "tex"] as const;
/** What is a document, as a pattern for a search of files and for one name. */
export const documentPattern = `**/*.{${kinds.join(",")}}`;
export const documentName = new RegExp(`\\.(?:${kinds.join("|")})$`, "i");

/** A folder whose documents are indexed, by its real path. */
export interface DocumentSource {
  readonly folder: string;
  /** How a person names it; "" for the project's own, whose paths stand for themselves. */
  readonly name: string;
}

export interface DocumentPlaces {
  readonly userHome: string;
  /** Real paths; the first is the project's. */
  readonly roots: readonly string[];
  /** As the config names them: seen from the project's root, absolute, or with `~/`. */
  readonly folders: readonly string[];
}

/**
 * The workspace's roots, and the folders that the config names. A folder that is named within the project must really lie in it:
 * a link there is the project's, and leads to nothing that it doesn't hold. `remarks`: what isn't looked at, and why.
 */
export async function documentSources({
  userHome,
  roots,
  folders,
}: DocumentPlaces): Promise<{ readonly sources: readonly DocumentSource[]; readonly remarks: readonly string[] }> {
  const sources: DocumentSource[] = roots.map((folder) => ({ folder, name: "" }));
  const remarks: string[] = [];
  for (const name of folders) {
    const place = placeOf(name, roots[0], userHome);
    const real = place === null ? null : await realpath(place.path).catch(() => null);
    const found = real === null ? null : await stat(real).catch(() => null);
    if (place === null || real === null || found === null) remarks.push(`[${name}: there is no such folder]`);
    else if (!found.isDirectory()) remarks.push(`[${name}: it is no folder]`);
    else if (place.within !== null && !isWithin(place.within, real))
      remarks.push(`[${name}: it leads out of the project, and is not looked at]`);
    else if (!sources.some(({ folder }) => isWithin(folder, real))) sources.push({ folder: real, name });
  }
  return { sources, remarks };
}

/** Where a path of the config leads, and what it may not lead out of; null where there is no project for it. */
export function placeOf(
  name: string,
  root: string | undefined,
  userHome: string,
): { readonly path: string; readonly within: string | null } | null {
  if (name === "~" || name.startsWith("~/")) return { path: join(userHome, name.slice(1)), within: null };
  if (isAbsolute(name)) return { path: name, within: null };
  return root === undefined ? null : { path: join(root, name), within: root };
}

/** A document's path as it is shown: seen from the working folder where it lies in the workspace, else from its folder's name. */
export function shownPath(path: string, { folder, name }: DocumentSource, cwd: string): string {
  if (name !== "") return `${name.replace(/\/$/, "")}/${relative(folder, path)}`;
  const below = relative(cwd, path);
  return below.startsWith("../") ? path : below;
}
