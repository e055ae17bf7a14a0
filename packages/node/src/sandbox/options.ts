import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import type { FilterOptions } from "./seccomp.ts";

/** How the sandbox of commands is made. */
export interface SandboxOptions extends FilterOptions {
  /** What a session's /tmp may hold, bytes: it lies in memory. */
  readonly tmpBytes: number;
}

const mebibyte = 1024 * 1024;

export function defaultSandbox(): SandboxOptions {
  return { unixSockets: true, namespaces: false, tmpBytes: Math.min(2048 * mebibyte, Math.floor(memoryBytes() / 4)) };
}

/** What the machine has, or the cgroup that we are in leaves us. */
export function memoryBytes(): number {
  const files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
  const caps = files.map(numberIn).filter((cap) => cap > 0);
  return Math.min(totalmem(), ...caps);
}

function numberIn(path: string): number {
  try {
    return Number(readFileSync(path, "utf8").trim()) || 0;
  } catch {
    return 0;
  }
}
