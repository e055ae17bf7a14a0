import type { TreeNode } from "@holdfast/protocol";
import type { Checkpoints, RestoreStep } from "@holdfast/runtime";
import { linePath } from "@holdfast/runtime/paths/quoted";
import { textDiff } from "@holdfast/node/observer/changes";

const largestText = 1024 * 1024;
const mostLines = 200;

/** What an undo makes of the files, as a unified diff; `now` reads what stands at a path. Cut after so many lines a file. */
export async function undoDiff(
  steps: readonly RestoreStep[],
  content: Checkpoints["content"],
  now: (path: string) => Promise<Uint8Array | null>,
  shown: (path: string) => string,
): Promise<string[]> {
  const lines: string[] = [];
  for (const { path, from, to } of steps) {
    if (!isShown(from) || !isShown(to) || (from === null && to === null)) continue;
    const name = linePath(shown(path));
    if (from !== null && to !== null && from.digest === to.digest) continue;
    const [old, next] = [
      from === null ? new Uint8Array() : await now(path),
      to === null ? new Uint8Array() : await content(to, largestText),
    ];
    const text = old === null || next === null ? null : textDiff(old, next);
    const head = [`--- ${from === null ? "/dev/null" : `a/${name}`}`, `+++ ${to === null ? "/dev/null" : `b/${name}`}`];
    const body = text ?? ["(no text, or too much of it)"];
    lines.push(...head, ...body.slice(0, mostLines), ...(body.length > mostLines ? [`… ${body.length - mostLines} more lines`] : []));
  }
  return lines;
}

function isShown(node: TreeNode | null): boolean {
  return node === null || node.kind === "file" || node.kind === "link";
}
