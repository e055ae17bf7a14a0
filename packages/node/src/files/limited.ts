import { spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { rgPath } from "@vscode/ripgrep";

/** Virtual memory in kB and seconds of processor time: far more than a search of any real workspace takes. */
const limits = "ulimit -v 2000000; ulimit -t 120";

/**
 * Starts ripgrep so that no workspace can make it take the machine: it follows a link called `.ignore` or `.gitignore`, and
 * reads what never ends (`/dev/zero`) until memory does, even after we are gone. An empty environment keeps outside settings away.
 */
export function spawnRipgrep(args: readonly string[], options: Omit<SpawnOptions, "env">): ChildProcess {
  if (process.platform === "win32") return spawn(rgPath, args, { ...options, env: {} });
  // Where the system knows no such limit (macOS), ripgrep runs all the same.
  return spawn("/bin/sh", ["-c", `{ ${limits}; } 2>/dev/null; exec "$0" "$@"`, rgPath, ...args], { ...options, env: {} });
}
