import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunFolder } from "./folders.ts";
import { readStat } from "./identity.ts";
import { isRunning, readStart } from "./records.ts";
import { killTree, pauseTree, processesOf, signal } from "./tree.ts";
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
    if (existsSync(folder.paused)) await pauseRun(folder, mark, false);
    signal(start.pid, "SIGTERM");
    const isDone = await Promise.race([gone.then(() => true), sleep(patienceMs, false, { ref: false })]);
    if (!isDone && isRunning(start)) signal(start.pid, "SIGKILL");
  }
  await killTree(treeOf(folder, mark));
  await gone;
}

/** A file notes that the run is paused, so that whoever goes on with it after our death lets it go on too. */
export async function pauseRun(folder: RunFolder, mark: string, paused: boolean): Promise<void> {
  if (paused) writeFileSync(folder.paused, "", { mode: 0o600 });
  const tree = treeOf(folder, mark);
  pauseTree(tree, paused);
  if (paused) return;
  const start = readStart(folder);
  if (start.type === "taken" && start.input?.type === "terminal") await wakeTerminal(tree);
  rmSync(folder.paused, { force: true });
}

const wakingMs = 2_000;
const pollMs = 20;

/**
 * util-linux's script stops itself when it hears that its child was stopped, as a shell under it would expect; by now the
 * child goes on. So it is woken once more.
 */
async function wakeTerminal(tree: Tree): Promise<void> {
  const terminals = processesOf(tree).filter((pid) => nameOf(pid) === "script");
  for (let waited = 0; terminals.length > 0 && waited < wakingMs; waited += pollMs) {
    await sleep(pollMs);
    const stopped = terminals.filter((pid) => readStat(pid)?.[0] === "T");
    for (const pid of stopped) signal(pid, "SIGCONT");
    if (stopped.length > 0) return;
  }
}

function nameOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return null;
  }
}

function treeOf(folder: RunFolder, mark: string): Tree {
  const start = readStart(folder);
  // A pid from a wrapper that is gone may be another program's by now; the mark can't be.
  if (!isRunning(start)) return { root: null, mark, isConfined: false, isOrphaned: true };
  return { root: start.command, mark, isConfined: start.isConfined, isOrphaned: false };
}
