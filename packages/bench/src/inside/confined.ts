/**
 * What the sandbox adds to a command, in this process: `node confined.ts FOLDER PAIRS`. Prints a JSON line: for each pair the
 * milliseconds of `true` spawned and nothing else (bare), spawned in bubblewrap with what a command of a session gets
 * (direct), and run by the runtime with the sandbox off and on. Whoever comes first changes from pair to pair.
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createProcesses } from "@holdfast/node/processes/index";
import { defaultScripts } from "@holdfast/node/processes/launch";
import { endNamespace, joinNamespace } from "@holdfast/node/sandbox/namespace";
import { defaultSandbox } from "@holdfast/node/sandbox/options";
import { isolation, probeSandbox } from "@holdfast/node/sandbox/problem";
import { blankFile, groundOf, viewOf } from "@holdfast/node/sandbox/view";
import type { CommandSpec, Confinement } from "@holdfast/runtime/ports/processes";

const [, , folder = "", pairs = "0"] = process.argv;
const [workspace, home, cache] = [join(folder, "workspace"), join(folder, "home"), join(folder, "cache")];
for (const path of [workspace, home, cache]) mkdirSync(path, { recursive: true });

const processes = createProcesses({ home, workspaceRoots: [workspace], userHome: folder, environment: process.env });
const probe = await probeSandbox(defaultScripts, process.env["PATH"]);
if ("problem" in probe) throw new Error(probe.problem);
const { programs } = probe;
const confinement = (mode: "off" | "workspace-write"): Confinement => ({
  mode,
  network: "none",
  scope: {},
  roots: [workspace],
  purpose: "session",
});

const command = ["/bin/bash", "-c", "true"];
const input = {
  holdfastHome: home,
  userHome: folder,
  tmp: defaultSandbox().tmpBytes,
  cache,
  blank: blankFile(home),
  path: process.env["PATH"] ?? "",
};
mkdirSync(dirname(input.blank), { recursive: true });
writeFileSync(input.blank, "");
const network = join(folder, "network");
const joined = await joinNamespace(network, folder, programs, () => groundOf(input));
const view = viewOf({
  ...input,
  confinement: confinement("workspace-write"),
  cacheMounts: [],
  ownFolders: [],
  links: {},
  named: {},
  ...(joined.view !== null && { standing: joined.view }),
});
const isRoot = process.getuid?.() === 0;
const confined = [...joined.command, programs.bwrap, ...isolation(isRoot), ...view.args, "--chdir", workspace, "--", ...command];

async function spawned([program = "", ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { cwd: workspace, stdio: ["ignore", "pipe", "pipe"] });
  const code = await new Promise((done) => child.on("close", done));
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`);
}

let runs = 0;
async function run(mode: "off" | "workspace-write"): Promise<void> {
  runs += 1;
  const spec: CommandSpec = {
    session: "bench",
    id: `call-${runs}`,
    attempt: 1,
    cwd: workspace,
    command: "true",
    timeoutMs: 20_000,
    outputCap: 1_000_000,
    env: {},
    confinement: confinement(mode),
  };
  await (
    await processes.start(spec)
  ).ended;
}

const ways = {
  bare: () => spawned(command),
  direct: () => spawned(confined),
  off: () => run("off"),
  on: () => run("workspace-write"),
} as const;
const names = ["bare", "direct", "off", "on"] as const;

async function took(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

for (let round = 0; round < 3; round += 1) for (const name of names) await ways[name]();
const found: Record<(typeof names)[number], number>[] = [];
for (let pair = 0; pair < Number(pairs); pair += 1) {
  const one = { bare: 0, direct: 0, off: 0, on: 0 };
  for (let at = 0; at < names.length; at += 1) {
    const name = names[(at + pair) % names.length]!;
    one[name] = await took(ways[name]);
  }
  found.push(one);
}
endNamespace(network);
await processes.endSession("bench", { forget: true });
await processes.close();
process.stdout.write(`${JSON.stringify(found)}\n`);
