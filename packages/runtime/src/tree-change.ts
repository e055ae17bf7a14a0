import type { ChangedFile, TreeChange, TreeNode } from "@holdfast/protocol";

/** Whether two nodes are the same as far as both are known. */
export function isSameNode(a: TreeNode | null, b: TreeNode | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind !== b.kind || a.digest !== b.digest) return false;
  return a.mode === null || b.mode === null || a.mode === b.mode;
}

/** An edit as a change of the tree. */
export function changeOf({ path, before, beforeDigest, beforeMode, afterDigest }: ChangedFile): TreeChange {
  const node = (digest: string | null, content: TreeNode["content"]): TreeNode | null =>
    digest === null ? null : { kind: "file", mode: beforeMode, digest, size: 0, content };
  return { path, by: "session", before: node(beforeDigest, before === null ? null : { whole: before }), after: node(afterDigest, null) };
}
