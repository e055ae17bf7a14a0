import { createHash } from "node:crypto";
import type { BlobStore, Checkpoints, RestoreStep } from "@holdfast/runtime";

/** Larger files are not compared line by line later. */
const largest = 8 * 1024 * 1024;
const mostBytes = 16 * 1024 * 1024;

/**
 * Keeps what the session left where nothing else does: an edit's record has only what was there before it. So a line can be
 * followed back through the undo, and a fork can have the files as they were before that. What finds no room is not kept.
 */
export async function keepLeft(
  steps: readonly RestoreStep[],
  checkpoints: Pick<Checkpoints, "contentAt">,
  blobs: Pick<BlobStore, "put">,
): Promise<RestoreStep[]> {
  const kept: RestoreStep[] = [];
  let bytes = 0;
  for (const step of steps) {
    const { path, from } = step;
    const isWanted = from !== null && from.digest !== null && from.content === null && bytes < mostBytes;
    const content = isWanted ? await checkpoints.contentAt(path) : null;
    const isSame = content !== null && content.length <= largest && createHash("sha256").update(content).digest("hex") === from?.digest;
    const blob = isSame ? await blobs.put(content).catch(() => null) : null;
    if (content === null || from === null || blob === null) {
      kept.push(step);
      continue;
    }
    bytes += content.length;
    kept.push({ ...step, from: { ...from, size: content.length, content: { whole: blob } } });
  }
  return kept;
}

/** Blobs that it has put. */
export function blobsLeft(steps: readonly RestoreStep[]): string[] {
  return steps.flatMap(({ from }) => (from?.content != null && "whole" in from.content ? [from.content.whole] : []));
}
