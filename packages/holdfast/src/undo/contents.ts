import type { StoredEvent, TreeNode } from "@holdfast/protocol";
import type { Checkpoints, RestoreStep } from "@holdfast/runtime";
import { readJournal } from "./journal.ts";

/** What an undo took away says no more where its content is: another place of the log may. */
export async function withContents(
  steps: readonly RestoreStep[],
  events: readonly StoredEvent[],
  checkpoints: Pick<Checkpoints, "changesOf" | "tree">,
): Promise<readonly RestoreStep[]> {
  if (!steps.some(({ to }) => isWithout(to))) return steps;
  const known = new Map<string, TreeNode>();
  for (const { before, after } of (await readJournal(events, 1, checkpoints, null)).entries)
    for (const node of [before, after]) if (node?.digest != null && node.content !== null) known.set(node.digest, node);
  return steps.map((step) => {
    const { to } = step;
    const found = to === null || !isWithout(to) ? undefined : known.get(to.digest ?? "");
    return to === null || found === undefined ? step : { ...step, to: { ...to, content: found.content, size: found.size } };
  });
}

function isWithout(node: TreeNode | null): boolean {
  return node !== null && node.digest !== null && node.content === null;
}
