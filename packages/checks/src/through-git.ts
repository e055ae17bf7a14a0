import type { Weakness } from "@holdfast/protocol";
import type { CheckFiles, Observer, Snapshot } from "@holdfast/runtime";
import type { CheckInputs, Workplace } from "./inputs.ts";
import { some } from "./subject.ts";
import { matcher } from "./glob.ts";
import { testFiles } from "./toolchains.ts";

const takesCommits = /\bgit\s+(?:-\S+\s+)*(?:archive|clone|stash|worktree)\b/;
const asksForFiles = /\bgit\s+(?:-\S+\s+)*(?:ls-files|grep)\b/;
/** Test files that are looked up in the index. */
const mostLookedUp = 200;

/**
 * A check that gets its files through git sees what is committed, or what the index lists, and not the tree that is here:
 * where the two differ, it has not tested this tree.
 */
export async function weighGit(
  observer: Observer & CheckFiles,
  workplace: Workplace,
  after: Snapshot,
  { inputs, named }: CheckInputs,
): Promise<Weakness[]> {
  if (takesCommits.test(named.text) && after.gitTree === null)
    return [{ kind: "inputs_changed", detail: "it tests what is committed, and the files here are not as they were committed" }];
  if (!asksForFiles.test(named.text)) return [];
  const isTest = matcher(testFiles);
  const tests = [...inputs.values()].filter(({ entry }) => isTest(entry.path)).slice(0, mostLookedUp);
  const unknown: string[] = [];
  for (const { entry } of tests) {
    const root = workplace.roots.find(({ id }) => id === entry.root)?.path;
    if (root !== undefined && !(await observer.isTracked(`${root}/${entry.path}`))) unknown.push(entry.path);
  }
  if (unknown.length === 0) return [];
  return [{ kind: "inputs_changed", detail: `it asks git which files to test, and git does not know ${some(unknown)}` }];
}
