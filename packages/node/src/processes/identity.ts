import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Owner } from "@holdfast/runtime/ports/log";

const hasProc = process.platform === "linux";
/** Where a system that is not Linux has its own programs: one of the same name in a workspace is never run. */
const systemPath = "/usr/sbin:/usr/bin:/sbin:/bin";
let knownBoot: string | undefined;

/** Changes at every start of the machine. */
export function bootId(): string {
  knownBoot ??= (
    hasProc
      ? readFileSync("/proc/sys/kernel/random/boot_id", "utf8")
      : execFileSync("sysctl", ["-n", "kern.bootsessionuuid"], { encoding: "utf8", env: { PATH: systemPath } })
  ).trim();
  return knownBoot;
}

/** When the process began, in whatever unit the system keeps; null where it is gone or only its exit status is left. */
export function startTimeOf(pid: number): string | null {
  if (!hasProc) return startTimeByPs(pid);
  const stat = readStat(pid);
  return stat === null || stat[0] === "Z" || stat[0] === "X" ? null : (stat[19] ?? null);
}

/** Fields of /proc/PID/stat from the third (state) on: the second, the name, may hold spaces and brackets. */
export function readStat(pid: number | string): string[] | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Written as the wrapper writes it (sh/other.sh), so that the two compare. */
function startTimeByPs(pid: number): string | null {
  try {
    const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      env: { ...process.env, PATH: systemPath, LC_ALL: "C" },
    });
    return text.trim() === "" ? null : text.replace(/[ \n]+/g, "_");
  } catch {
    return null;
  }
}

export function isAlive(owner: Pick<Owner, "pid" | "startTime" | "bootId">): boolean {
  return owner.bootId === bootId() && startTimeOf(owner.pid) === owner.startTime;
}

export function currentOwner(label: string): Owner {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? "", bootId: bootId(), label };
}
