import { statfs } from "node:fs/promises";
import { existsSync } from "node:fs";
import type { CommandLimit, CommandLimits } from "@holdfast/runtime/ports/processes";
import type { RunFolder } from "./folders.ts";
import { innerOf, measure } from "./measure.ts";
import { endOfRun, noteLimited, readStart } from "./records.ts";
import { killTree, pauseTree, signal } from "./tree.ts";
import type { Tree } from "./tree.ts";

/** What the watch needs to know of a run. */
export interface WatchedRun {
  readonly folder: RunFolder;
  readonly mark: string;
  /** Folders whose disks it may fill. */
  readonly disks: readonly string[];
  /** Told at each look of the first process inside the sandbox. */
  readonly onLook: ((inner: number) => void) | null;
}

/**
 * Looks at running commands from outside and ends those that pass a limit. One timer for all, as long as there are any; what
 * ends before the first look costs nothing.
 */
export interface Watch {
  /** Returns what stops watching it. */
  add(run: WatchedRun): () => void;
  /** The limit that a run which is being watched has passed, whether it could be noted or not. */
  passed(folder: RunFolder): CommandLimit | null;
}

/** Half of what passes between two looks and the promise of 250 ms is left for a busy machine. */
const everyMs = 125;
/** A limit of processes is one of threads, too: so many for each. */
export const threadsPerProcess = 16;
/** What a run must have taken of a disk before it counts as the one that fills it. */
const leastTaken = 32 * 1024 * 1024;

interface Watched extends WatchedRun {
  looks: number;
  /** Free bytes at the first look. */
  readonly free: Map<string, number>;
  isLooking: boolean;
  passed: CommandLimit | null;
}

export function createWatch(limits: CommandLimits): Watch {
  const runs = new Set<Watched>();
  let timer: NodeJS.Timeout | null = null;

  const look = async (run: Watched): Promise<void> => {
    run.looks += 1;
    // Without the sandbox all processes of the machine have to be looked at.
    if (run.isLooking || (run.looks % 2 === 1 && !treeOf(run).isConfined)) return;
    run.isLooking = true;
    try {
      run.passed ??= await passedLimit(run, limits);
      if (run.passed !== null) await endRun(run, run.passed);
      const inner = run.onLook === null ? null : innerOfRun(run);
      if (inner !== null) run.onLook?.(inner);
    } catch {
      // The next look tries again: a failed one keeps no other run unwatched, and never ends this process.
    } finally {
      run.isLooking = false;
    }
  };

  return {
    add: (run) => {
      const watched: Watched = { ...run, free: new Map(), looks: 0, isLooking: false, passed: null };
      runs.add(watched);
      timer ??= setInterval(() => {
        for (const each of runs) void look(each);
      }, everyMs).unref();
      return () => {
        runs.delete(watched);
        if (runs.size > 0 || timer === null) return;
        clearInterval(timer);
        timer = null;
      };
    },
    passed: (folder) => [...runs].find((run) => run.folder.base === folder.base)?.passed ?? null,
  };
}

async function passedLimit(run: Watched, limits: CommandLimits): Promise<CommandLimit | null> {
  const measured = process.platform === "linux" ? measure(treeOf(run)) : null;
  if (measured !== null) {
    const { processes, threads } = measured;
    if (processes > limits.processes || threads > limits.processes * threadsPerProcess)
      return { limit: "processes", max: limits.processes, seen: processes };
    const memory = measured.memory > limits.memoryBytes ? measured.exactMemory() : 0;
    if (memory > limits.memoryBytes) return { limit: "memory", max: limits.memoryBytes, seen: memory };
  }
  for (const disk of run.disks) {
    const found = await statfs(disk).catch(() => null);
    if (found === null) continue;
    const free = found.bavail * found.bsize;
    const before = run.free.get(disk) ?? free;
    run.free.set(disk, Math.max(before, free));
    if (free < limits.freeBytes && before - free >= leastTaken) return { limit: "disk", max: limits.freeBytes, seen: free };
  }
  return null;
}

/**
 * By force and at once: what passes a limit grows. The note says why before anything of it is killed; where there is no room for
 * it (the command may have filled the disk), it is killed all the same.
 */
async function endRun(run: Watched, passed: CommandLimit): Promise<void> {
  if (endOfRun(run.folder) !== null) return;
  try {
    if (!existsSync(run.folder.limited)) noteLimited(run.folder, passed);
  } catch {
    // Its end makes room, and whoever follows the run notes it then.
  }
  const tree = treeOf(run);
  const inner = innerOfRun(run);
  if (inner !== null) return signal(inner, "SIGKILL");
  pauseTree(tree, true);
  await killTree(tree);
}

function innerOfRun(run: WatchedRun): number | null {
  const { isConfined, root } = treeOf(run);
  return isConfined && root !== null ? innerOf(root) : null;
}

function treeOf({ folder, mark }: WatchedRun): Tree {
  const start = readStart(folder);
  const [root, isConfined] = start.type === "taken" ? [start.command, start.isConfined] : [null, false];
  return { root, mark, isConfined, isOrphaned: false };
}
