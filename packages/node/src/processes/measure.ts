import { readFileSync, readdirSync } from "node:fs";
import { readStat } from "./identity.ts";
import { processesOf } from "./tree.ts";
import type { Tree } from "./tree.ts";

/** What a run's processes come to at one moment. */
export interface Measured {
  readonly processes: number;
  /** Of all of them. */
  readonly threads: number;
  /** Resident bytes, shared pages counted as often as they are shared: what it really is may be less. */
  readonly memory: number;
  /** What it really is; looked up only when asked, for it costs more. */
  readonly exactMemory: () => number;
}

/**
 * Every process of a run. Under the sandbox they are those of its pid namespace, as its own /proc lists them: none can hide, and
 * what else runs on the machine costs nothing. Null where it isn't there (any more).
 */
export function measure(tree: Tree): Measured | null {
  const [folder, pids] = tree.isConfined ? confined(tree) : ["/proc", processesOf(tree).map(String)];
  let [memory, threads] = [0, 0];
  const found: string[] = [];
  for (const pid of pids) {
    const stat = statIn(folder, pid);
    if (stat === null || stat[0] === "Z") continue;
    found.push(pid);
    threads += Number(stat[17]);
    memory += Number(stat[21]) * pageBytes();
  }
  if (found.length === 0) return null;
  return {
    processes: found.length,
    threads,
    memory,
    exactMemory: () => found.reduce((sum, pid) => sum + proportionalBytes(folder, pid), 0),
  };
}

function confined({ root }: Tree): [string, string[]] {
  const inner = root === null ? null : innerOf(root);
  if (inner === null) return ["/proc", []];
  const folder = `/proc/${inner}/root/proc`;
  return [folder, numbersIn(folder)];
}

/** The first process inside, whose end is everyone's. */
export function innerOf(bubblewrap: number): number | null {
  try {
    const [first] = readFileSync(`/proc/${bubblewrap}/task/${bubblewrap}/children`, "utf8").trim().split(" ");
    return first === undefined || first === "" ? null : Number(first);
  } catch {
    return null;
  }
}

function numbersIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** As `readStat` gives it: fields of `stat` from the third on. */
function statIn(folder: string, pid: string): string[] | null {
  if (folder === "/proc") return readStat(pid);
  try {
    const text = readFileSync(`${folder}/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

function proportionalBytes(folder: string, pid: string): number {
  try {
    const kibibytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`${folder}/${pid}/smaps_rollup`, "utf8"))?.[1];
    return Number(kibibytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

let knownPage: number | undefined;
/** AT_PAGESZ of our own auxiliary vector (getauxval(3)). */
function pageBytes(): number {
  if (knownPage !== undefined) return knownPage;
  const vector = readFileSync("/proc/self/auxv");
  for (let at = 0; at + 16 <= vector.length; at += 16) {
    if (vector.readBigUInt64LE(at) === 6n) knownPage = Number(vector.readBigUInt64LE(at + 8));
  }
  return (knownPage ??= 4096);
}
