import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** So many looks in a row must show nothing. */
const mostLooks = 10;

/**
 * Ends a program that only reads files once all of its threads have slept for long without a moment of work and without
 * output: it waits at a pipe that nobody writes to. One that waits for a disk doesn't sleep. `seen`: grows with its output.
 */
export function endWhereStuck(child: ChildProcess, everyMs: number, seen: () => number): () => void {
  let last = "";
  let looks = 0;
  const timer = setInterval(() => {
    const now = child.pid === undefined ? null : restOf(child.pid);
    const mark = now === null ? "" : `${now} ${seen()}`;
    looks = mark !== "" && mark === last ? looks + 1 : 0;
    last = mark;
    if (looks >= mostLooks) child.kill("SIGKILL");
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** The time that a process has worked, where all of its threads sleep; null where one doesn't, or the system doesn't say. */
function restOf(pid: number): string | null {
  try {
    const worked = readdirSync(`/proc/${pid}/task`).map((thread) => {
      const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1")
        .replace(/^.*\) /s, "")
        .split(" ");
      return fields[0] === "S" ? `${fields[11]}+${fields[12]}` : null;
    });
    return worked.includes(null) ? null : worked.join();
  } catch {
    return null;
  }
}
