import { existsSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunFolder } from "./folders.ts";
import { isRunning, readStart } from "./records.ts";
import { killTree, pauseTree, signal } from "./tree.ts";
import type { Tree } from "./tree.ts";

/** How long the wrapper may take before we end it too: its own two seconds of grace, and room for a busy machine. */
const patienceMs = 10_000;

/**
 * The wrapper ends the command politely, then by force; where it is gone or stuck, we do it by force.
 * `gone` resolves when the wrapper has ended.
 */
export async function stopRun(folder: RunFolder, mark: string, gone: Promise<void>): Promise<void> {
  const start = readStart(folder);
  if (isRunning(start)) {
    if (existsSync(folder.paused)) pauseRun(folder, mark, false);
    signal(start.pid, "SIGTERM");
    const isDone = await Promise.race([gone.then(() => true), sleep(patienceMs, false, { ref: false })]);
    if (!isDone && isRunning(start)) signal(start.pid, "SIGKILL");
  }
  await killTree(treeOf(folder, mark));
  await gone;
}

/** A file notes that the run is paused, so that whoever goes on with it after our death lets it go on too. */
export function pauseRun(folder: RunFolder, mark: string, paused: boolean): void {
  if (paused) writeFileSync(folder.paused, "", { mode: 0o600 });
  pauseTree(treeOf(folder, mark), paused);
  if (!paused) rmSync(folder.paused, { force: true });
}

function treeOf(folder: RunFolder, mark: string): Tree {
  const start = readStart(folder);
  // A pid from a wrapper that is gone may be another program's by now; the mark can't be.
  if (!isRunning(start)) return { root: null, mark, isConfined: false, isOrphaned: true };
  return { root: start.command, mark, isConfined: start.isConfined, isOrphaned: false };
}
