import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { CommandLimit, CommandLimits } from "@holdfast/runtime/ports/processes";
import { threadsPerProcess } from "./watch.ts";

/** A control group of one run: the kernel itself holds its processes and its memory. */
export interface RunGroup {
  /** A process that writes its pid here belongs to it, with all it starts. */
  readonly joinAt: string;
  /** What the run ran into; null where nothing. */
  passed(): CommandLimit | null;
  remove(): void;
}

const hierarchy = "/sys/fs/cgroup";
const controllers = ["memory", "pids"] as const;

/**
 * The folder of version 2's hierarchy in which we may make groups with limits: our own group, or the one around it, where it is
 * ours to write and gives its children both controllers (systemd's Delegate=, a container with its own hierarchy). Null: none.
 */
export function delegatedGroup(root = hierarchy, own = ownGroup()): string | null {
  if (own === null) return null;
  const around = join(root, own);
  return [around, dirname(around)].find((folder) => folder.startsWith(root) && isDelegated(folder)) ?? null;
}

function ownGroup(): string | null {
  try {
    return /^0::(\/.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}

function isDelegated(folder: string): boolean {
  try {
    for (const path of [folder, join(folder, "cgroup.procs")]) accessSync(path, constants.W_OK);
    const given = readFileSync(join(folder, "cgroup.subtree_control"), "utf8").split(/\s+/);
    return controllers.every((name) => given.includes(name));
  } catch {
    return false;
  }
}

/**
 * Makes the group of a run; one that is there already belongs to whoever has the claim, and stays as it is. Null where the kernel
 * refuses, for whatever reason: then the watch alone holds the limits.
 */
export function makeGroup(parent: string, ref: string, limits: CommandLimits): RunGroup | null {
  const folder = join(parent, groupName(ref));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  try {
    if (mkdirSync(folder, { recursive: true }) === undefined) return groupAt(folder, limits);
    write("pids.max", String(limits.processes * threadsPerProcess));
    write("memory.max", String(limits.memoryBytes));
    write("memory.oom.group", "1");
  } catch {
    return null;
  }
  try {
    write("memory.swap.max", "0");
  } catch {
    // There is no swap to limit.
  }
  return groupAt(folder, limits);
}

/** The group of a run that another process started, where it has one. */
export function findGroup(parent: string | null, ref: string, limits: CommandLimits): RunGroup | null {
  if (parent === null) return null;
  const folder = join(parent, groupName(ref));
  return countIn(folder, "pids.events", "max") === null ? null : groupAt(folder, limits);
}

function groupAt(folder: string, limits: CommandLimits): RunGroup {
  return {
    joinAt: join(folder, "cgroup.procs"),
    passed: () => {
      if ((countIn(folder, "memory.events", "oom_kill") ?? 0) > 0)
        return { limit: "memory", max: limits.memoryBytes, seen: limits.memoryBytes };
      if ((countIn(folder, "pids.events", "max") ?? 0) > 0) return { limit: "processes", max: limits.processes, seen: limits.processes };
      return null;
    },
    remove: () => {
      try {
        rmdirSync(folder);
      } catch {
        // Something of it is still on its way out; an empty group costs nothing.
      }
    },
  };
}

function groupName(ref: string): string {
  return `holdfast-${createHash("sha256").update(ref).digest("hex").slice(0, 16)}`;
}

/** A line `NAME COUNT` of one of the kernel's event files; null where it can't be read. */
function countIn(folder: string, file: string, name: string): number | null {
  try {
    const found = new RegExp(`^${name} (\\d+)$`, "m").exec(readFileSync(join(folder, file), "utf8"));
    return found === null ? null : Number(found[1]);
  } catch {
    return null;
  }
}
