import { execFile } from "node:child_process";
import { lstatSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { outerSockets } from "./masks.ts";

/**
 * Hides sockets that something outside began to listen on while a command runs, in the command's own view: those that were there
 * before are hidden from the start. `inner` is the command's first process, `enter` what goes before a program that is to join
 * its view. Between the two a moment passes in which such a socket is in sight: who can't live with that takes Unix sockets away
 * altogether (`[sandbox] unix_sockets`).
 */
export function hideLateSockets(inner: number, enter: (pid: number) => readonly string[]): void {
  for (const path of outerSockets()) {
    const [outside, inside] = [statOf(path), statOf(`/proc/${inner}/root${path}`)];
    if (outside === null || inside === null || outside.ino !== inside.ino || outside.dev !== inside.dev || !inside.isSocket()) continue;
    const [program = "", ...args] = enter(inner);
    // Where it fails (the command has ended), there is nothing left to hide it from.
    execFile(program, [...args, "mount", "--bind", "/dev/null", path], { env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } }, () => undefined);
  }
}

function statOf(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return null;
  }
}
