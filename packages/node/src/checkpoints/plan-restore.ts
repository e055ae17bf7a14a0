import type { TreeNode } from "@holdfast/protocol";
import type { RestoreStep } from "@holdfast/runtime/ports/checkpoints";

/**
 * One move of a restore. Each can be made again after a crash: what is done already is seen by what lies where. `n` names
 * what waits in the staging folder of `root` (`new-N`) and what was there before (`old-N`).
 */
export type Move = { readonly n: number; readonly root: string; readonly path: string } & (
  | { readonly type: "take_away" }
  | { readonly type: "replace" }
  | { readonly type: "put" }
  | { readonly type: "remove_folder"; readonly mode: number | null }
  | { readonly type: "make_folder" }
  | { readonly type: "mode"; readonly from: number | null; readonly to: number }
);

/**
 * In the order in which nothing is in another's way: what goes, the deepest first; folders that come, the highest first; what
 * comes; permissions at last, the deepest first, since a folder may lose the right to be written.
 */
export function planMoves(steps: readonly RestoreStep[], rootOf: (path: string) => string): Move[] {
  const deepestFirst = steps.map((step, n) => ({ ...step, n, root: rootOf(step.path) })).sort((a, b) => depth(b.path) - depth(a.path));
  const moves: Move[] = [];
  for (const { n, root, path, from, to } of deepestFirst)
    if (isThing(from) && !isThing(to)) moves.push({ type: "take_away", n, root, path });
  for (const { n, root, path, from, to } of deepestFirst)
    if (from?.kind === "folder" && to?.kind !== "folder") moves.push({ type: "remove_folder", n, root, path, mode: from.mode });
  for (const { n, root, path, from, to } of deepestFirst.toReversed())
    if (to?.kind === "folder" && from?.kind !== "folder") moves.push({ type: "make_folder", n, root, path });
  for (const { n, root, path, from, to } of deepestFirst)
    if (isThing(to) && !isOnlyMode(from, to)) moves.push({ type: isThing(from) ? "replace" : "put", n, root, path });
  for (const { n, root, path, from, to } of deepestFirst) {
    if (to?.mode == null || to.kind === "link") continue;
    if (to.kind === "folder" || isOnlyMode(from, to)) moves.push({ type: "mode", n, root, path, from: from?.mode ?? null, to: to.mode });
  }
  return moves;
}

/** Whether nothing but permissions differ. */
export function isOnlyMode(from: TreeNode | null, to: TreeNode | null): boolean {
  return from !== null && to !== null && from.kind === to.kind && from.kind !== "folder" && from.digest === to.digest;
}

function isThing(node: TreeNode | null): boolean {
  return node !== null && node.kind !== "folder";
}

function depth(path: string): number {
  return path.split("/").length;
}
