import { createHash } from "node:crypto";
import { lstatSync, rmSync, statfsSync } from "node:fs";
import type { TreeNode } from "@holdfast/protocol";
import { isSameNode } from "@holdfast/runtime/tree-change";
import type { RestoreStep } from "@holdfast/runtime/ports/checkpoints";
import { lookAt } from "../files/missing.ts";
import { encoded, inFolder } from "./hold.ts";
import { nodeAt } from "./nodes-at.ts";
import { isOnlyMode } from "./plan-restore.ts";

type RootOf = (path: string) => string;

/** What folders, and the file system itself, may take beside the files, bytes a disk. */
const spare = 128 * 1024;

/** Room for what comes, in bytes: what is `missing` on the disks now, and what is still missing once all that goes is gone. */
export interface Room {
  readonly missing: number;
  readonly missingAfter: number;
}

export function roomFor(steps: readonly RestoreStep[], rootOf: RootOf): Room {
  const disks = new Map<number, { free: number; block: number; freed: number; needed: number }>();
  for (const { path, from, to } of steps) {
    const root = rootOf(path);
    const { dev } = lstatSync(root);
    let disk = disks.get(dev);
    if (disk === undefined) {
      const { bavail, bsize } = statfsSync(root);
      disks.set(dev, (disk = { free: bavail * bsize, block: bsize, freed: 0, needed: spare }));
    }
    if (isStaged(from, to)) disk.needed += (Math.ceil(to.size / disk.block) + 1) * disk.block;
    if (!goes({ from, to })) continue;
    const stat = lookAt(encoded(path));
    if (stat?.dev === dev && stat.nlink === 1) disk.freed += stat.blocks * 512;
  }
  let [missing, missingAfter] = [0, 0];
  for (const { free, freed, needed } of disks.values()) {
    missing += Math.max(0, needed - free);
    missingAfter += Math.max(0, needed - free - freed);
  }
  return { missing, missingAfter };
}

/** Whether its content waits beside the workspace's files before it comes. */
export function isStaged(from: TreeNode | null, to: TreeNode | null): to is TreeNode {
  return to !== null && to.kind !== "folder" && !isOnlyMode(from, to);
}

/** A file that only goes: it may go first, where what comes has no room. */
export function goes({ from, to }: Pick<RestoreStep, "from" | "to">): boolean {
  return from?.kind === "file" && to === null;
}

/** Whether one of the files that go is gone. */
export function hasDeleted(steps: readonly RestoreStep[]): boolean {
  return steps.some((step) => goes(step) && lookAt(encoded(step.path)) === undefined);
}

/** Those of which the content can't be had any more. */
export async function unkept(
  steps: readonly RestoreStep[],
  pieces: (node: TreeNode) => AsyncIterable<Uint8Array | null>,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { path, from, to } of steps) {
    if (!isStaged(from, to) || to.kind === "pipe") continue;
    const hash = createHash("sha256");
    let isWhole = true;
    for await (const piece of pieces(to)) {
      if (piece === null) isWhole = false;
      else hash.update(piece);
    }
    if (!isWhole || hash.digest("hex") !== to.digest) found.push(path);
  }
  return found;
}

/** Deletes the files that go, for good. One that is another by now is left, and returned. */
export async function deleteWhatGoes(steps: readonly RestoreStep[], rootOf: RootOf): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const { path, from, to } of steps) {
    if (!goes({ from, to })) continue;
    const now = await nodeAt(rootOf(path), path);
    if (now === null) continue;
    if (isSameNode(now, from)) inFolder(rootOf(path), path, (at) => rmSync(at));
    else changed.push(path);
  }
  return changed;
}
