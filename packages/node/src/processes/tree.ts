import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readStat } from "./identity.ts";

/** What a run consists of: the process that began it, and the mark that everything it starts inherits. */
export interface Tree {
  readonly root: number | null;
  readonly mark: string;
  /** Under the sandbox the root is bubblewrap's own outer process: it stays out of pauses, its children are the tree. */
  readonly isConfined: boolean;
  /** The wrapper is gone: what it had to help it (reader, timer) is of no more use and belongs to the tree. */
  readonly isOrphaned: boolean;
}

/**
 * Every living process of a run: what descends from its root, what carries its mark, and what descends from that.
 * A process that left both its parents and its environment behind is found only under the sandbox, where nothing leaves.
 * Where there is no /proc: the root alone.
 */
export function processesOf(tree: Tree): number[] {
  if (process.platform !== "linux") return tree.root === null ? [] : [tree.root];
  const names = tree.isOrphaned ? ["HOLDFAST_RUN", "HOLDFAST_WRAPPER"] : ["HOLDFAST_RUN"];
  const children = new Map<number, number[]>();
  const found = new Set<number>();
  for (const pid of readdirSync("/proc").map(Number)) {
    const stat = Number.isInteger(pid) ? readStat(pid) : null;
    if (stat === null || stat[0] === "Z" || stat[0] === "X") continue;
    const parent = Number(stat[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    if (pid === tree.root || carries(pid, tree.mark, names)) found.add(pid);
  }
  // A set takes in what is added while it is walked.
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  if (tree.isConfined && tree.root !== null) found.delete(tree.root);
  return [...found];
}

function carries(pid: number, mark: string, names: readonly string[]): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    return names.some((name) => environment.includes(`${name}=${mark}`));
  } catch {
    return false;
  }
}

/** Stops every process of a run, newcomers too, or lets all go on. Parents stop first and go on last: none sees a child stopped. */
export function pauseTree(tree: Tree, paused: boolean): void {
  const seen = new Set<number>();
  for (let round = 0; round < 20; round += 1) {
    const fresh = processesOf(tree).filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return;
    for (const pid of paused ? fresh : fresh.reverse()) {
      seen.add(pid);
      signal(pid, paused ? "SIGSTOP" : "SIGCONT");
    }
  }
}

/** Kills until nothing is left. */
export async function killTree(tree: Tree): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    const left = processesOf({ ...tree, isConfined: false });
    if (left.length === 0) return;
    for (const pid of left) signal(pid, "SIGKILL");
    await sleep(10);
  }
}

/** Where the machine was in handing out pids. */
export interface PidMark {
  readonly last: number;
  readonly forks: number;
}

/** Null where there is no /proc. */
export function markPids(): PidMark | null {
  try {
    const last = Number(readFileSync("/proc/loadavg", "utf8").trim().split(" ").at(-1));
    const forks = Number(/^processes (\d+)$/m.exec(readFileSync("/proc/stat", "utf8"))?.[1]);
    return { last, forks };
  } catch {
    return null;
  }
}

/**
 * Kills what carries the mark, looking only at processes made since `since`: pids are handed out in turn, so unless they
 * went round since then these are few, and the search is cheap enough to follow every command. Returns when they are dead.
 */
export async function killStrays(mark: string, since: PidMark): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    const now = markPids();
    if (now === null) return;
    const wentRound = now.forks - since.forks > pidLimit() / 2;
    const isNew = (pid: number): boolean =>
      wentRound || (since.last <= now.last ? pid > since.last && pid <= now.last : pid > since.last || pid <= now.last);
    const strays = readdirSync("/proc")
      .map(Number)
      .filter((pid) => isNew(pid) && carries(pid, mark, ["HOLDFAST_RUN"]));
    if (strays.length === 0) return;
    for (const pid of strays) signal(pid, "SIGKILL");
    await sleep(1);
  }
}

let knownLimit: number | undefined;
function pidLimit(): number {
  knownLimit ??= Number(readFileSync("/proc/sys/kernel/pid_max", "utf8"));
  return knownLimit;
}

/** A process that is gone needs no signal. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    return;
  }
}
