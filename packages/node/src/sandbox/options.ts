import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import type { CommandLimits } from "@holdfast/runtime/ports/processes";
import type { FilterOptions } from "./seccomp.ts";

/** How the sandbox of commands is made. */
export interface SandboxOptions extends FilterOptions {
  /** What a session's /tmp may hold, bytes: it lies in memory. */
  readonly tmpBytes: number;
  /** Patterns of files in the workspace that commands don't see. */
  readonly hide: readonly string[];
}

const mebibyte = 1024 * 1024;

export function defaultSandbox(): SandboxOptions {
  return { unixSockets: true, namespaces: false, hide: [], tmpBytes: Math.min(2048 * mebibyte, Math.floor(memoryBytes() / 4)) };
}

/** Generous: they are there for what runs away. A quarter of the memory stays for everything else. */
export function defaultLimits(): CommandLimits {
  return { processes: 1000, memoryBytes: Math.floor((memoryBytes() * 3) / 4), freeBytes: 512 * mebibyte };
}

let knownMemory: number | undefined;

/** What the machine has, or the cgroup that we are in leaves us. */
export function memoryBytes(): number {
  if (knownMemory !== undefined) return knownMemory;
  const files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
  const caps = files.map(numberIn).filter((cap) => cap > 0);
  return (knownMemory = Math.min(totalmem(), ...caps));
}

function numberIn(path: string): number {
  try {
    return Number(readFileSync(path, "utf8").trim()) || 0;
  } catch {
    return 0;
  }
}
