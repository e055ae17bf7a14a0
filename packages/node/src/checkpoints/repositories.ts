import type { Git } from "../observer/git.ts";
import { fsPath } from "../observer/names.ts";
import { disarmRepository, markOfRepository } from "../sandbox/made.ts";
import type { Tree } from "./tree.ts";

/** Remembers what git obeys in the repositories that are there: who made them is not asked. */
export function noteMarks(tree: Tree): void {
  for (const path of tree.repositories.keys()) {
    const place = fsPath(tree.root.path, path);
    tree.repositories.set(path, typeof place === "string" ? (markOfRepository(place) ?? "") : "seen");
  }
}

/**
 * Repositories that have come, or obey something else, since the last look: what a confined command left for git to run there
 * is set aside. Says so of each. Costs a few stats for each repository besides the root's own, and git where there is a new one.
 */
export async function disarmRepositories(git: Git, tree: Tree, approved: readonly string[]): Promise<string[]> {
  const said: string[] = [];
  for (const [path, last] of tree.repositories) {
    const place = fsPath(tree.root.path, path);
    if (typeof place !== "string") {
      // Git finds what no name of ours leads to.
      if (last === "")
        said.push(`${tree.root.path}/${path} is a repository with a name that is no text; look at it before you use git there`);
      tree.repositories.set(path, "seen");
      continue;
    }
    const mark = markOfRepository(place) ?? "";
    if (mark === last) continue;
    said.push(...(await disarmRepository(git, tree.root.path, place, last, approved)));
    tree.repositories.set(path, markOfRepository(place) ?? "");
  }
  return said;
}
