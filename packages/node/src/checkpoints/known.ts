import type { TreeChange, TreeNode } from "@holdfast/protocol";
import { isSameNode } from "@holdfast/runtime/tree-change";

/** What a session is known to have changed since the last look, by path: as it was before the first change and after the last. */
export type Known = Map<string, { readonly before: TreeNode | null; readonly after: TreeNode | null }>;

/**
 * What was seen to have changed, without what stands in the log already; where something else went on from there, that rest.
 * A folder that was made for a known file was made by the session.
 */
export function withoutKnown(changes: readonly Omit<TreeChange, "by">[], by: TreeChange["by"], known: Known): TreeChange[] {
  if (known.size === 0) return changes.map((change) => ({ ...change, by }));
  const paths = [...known.keys()];
  const rest: TreeChange[] = [];
  for (const change of changes) {
    const own = known.get(change.path);
    if (own !== undefined) {
      // What the call before did shows only now; its own edit stands in the log.
      if (!isSameNode(own.before, change.before)) rest.push({ ...change, by, after: own.before });
      if (!isSameNode(own.after, change.after)) rest.push({ ...change, by, before: own.after });
    } else {
      const isMadeFor =
        change.before === null && change.after?.kind === "folder" && paths.some((path) => path.startsWith(`${change.path}/`));
      rest.push({ ...change, by: isMadeFor ? "session" : by });
    }
  }
  return rest;
}
