/**
 * Starts a server whose wrapper and child ignore every polite end, prints the pids it names, then ends as it is told:
 * `exit`, `throw`, or waits to be signalled.
 */
import { writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { createServers } from "../src/servers/index.ts";
import { createServerLaunch } from "../src/servers/launch.ts";

const [how = "wait"] = process.argv.slice(2);
const place = { home: tmpdir(), userHome: tmpdir(), workspaceRoots: [], environment: process.env, network: "none" as const };
const server = createServers({ launch: createServerLaunch(place) }).start({
  command: "/bin/sh",
  // A wrapper script, and under it a program that ignores its end and that of its input.
  args: [
    "-c",
    `trap '' TERM HUP INT; sh -c 'trap "" TERM HUP INT; echo $$; while :; do sleep 0.2; done' & echo $$; wait; while :; do sleep 0.2; done`,
  ],
  cwd: tmpdir(),
  env: {},
  isConfined: false,
});
let count = 0;
server.onLine = (line) => {
  writeSync(1, `${line}\n`);
  count += 1;
  if (count < 2) return;
  if (how === "exit") process.exit(0);
  if (how === "throw") throw new Error("on purpose");
};
setInterval(() => undefined, 1_000);
