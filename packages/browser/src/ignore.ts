import { compileGlob } from "@holdfast/runtime/paths/glob";

interface Rule {
  /** Folder of the file that the rule stands in, relative to the root; "" for the root itself. */
  readonly folder: string;
  readonly isNegated: boolean;
  readonly foldersOnly: boolean;
  readonly matches: (path: string) => boolean;
}

/**
 * The ignore rules of a tree (https://git-scm.com/docs/gitignore): later and deeper rules win, and nothing below an ignored
 * folder comes back. `gitignores` are the tree's `.gitignore` files by folder. Paths are relative to the root.
 */
export function ignoreRules(gitignores: ReadonlyMap<string, string>): (path: string, from: string) => boolean {
  const rules = [...gitignores].toSorted(([a], [b]) => a.length - b.length).flatMap(([folder, text]) => rulesOf(folder, text));

  function isIgnored(path: string, isFolder: boolean): boolean {
    const rule = rules.findLast((each) => {
      const below = each.folder === "" ? path : path.startsWith(`${each.folder}/`) ? path.slice(each.folder.length + 1) : null;
      return below !== null && (isFolder || !each.foldersOnly) && each.matches(below);
    });
    return rule !== undefined && !rule.isNegated;
  }

  /** `from`: the folder where a search starts; it is looked into whatever the rules say of it. */
  return (path, from) => {
    const parts = path.split("/");
    const known = from === "" ? 0 : from.split("/").length;
    for (let count = known + 1; count <= parts.length; count += 1) {
      if (isIgnored(parts.slice(0, count).join("/"), count < parts.length)) return true;
    }
    return false;
  };
}

function rulesOf(folder: string, text: string): Rule[] {
  return text.split(/\r?\n/).flatMap((raw) => {
    const line = raw.replace(/(?<!\\)\s+$/, "");
    if (line === "" || line.startsWith("#")) return [];
    const isNegated = line.startsWith("!");
    const body = line.slice(isNegated ? 1 : 0);
    const foldersOnly = body.endsWith("/");
    return [{ folder, isNegated, foldersOnly, matches: compileGlob(foldersOnly ? body.slice(0, -1) : body) }];
  });
}
