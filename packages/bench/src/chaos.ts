/**
 * Kills the real program again and again while it works, goes on with `exec resume --last` until the session has ended, and
 * looks at what became of the work: `node packages/bench/src/chaos.ts [--kills 150] [--seed 1] [--wrappers 0.1]`. The same
 * seed kills after the same times. `--wrappers`: how often the commands' wrappers are killed along, so that their ends are
 * not known. Prints a line a session; exit status 1 where anything was lost, doubled, left behind or not told.
 */
import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { describeProcess, faultsOfLog, judgeEnd, processesOf, readLog } from "./chaos/judge.ts";
import { check, layOut } from "./chaos/work.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "150" },
    seed: { type: "string", default: "1" },
    wrappers: { type: "string", default: "0.1" },
  },
});
const program = join(import.meta.dirname, "../../../node_modules/holdfast/bin/holdfast");
const random = createRandom(Number(values.seed));
/** A session that needs more starts than this makes no way. */
const mostStarts = 100;

/** Mulberry32: small, seeded, good enough to choose moments. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

let killsLeft = Number(values.kills);
let faulty = 0;
while (killsLeft > 0) {
  const { kills, faults, inDoubt } = await survive();
  killsLeft -= kills;
  console.log(`${kills} kills, ${inDoubt} in doubt: ${faults.length === 0 ? "nothing lost, doubled or left" : faults.join("; ")}`);
  if (faults.length > 0) faulty += 1;
  if (kills === 0 && faults.length > 0) break;
}
process.exitCode = faulty === 0 ? 0 : 1;

async function survive(): Promise<{ kills: number; faults: string[]; inDoubt: number }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-chaos-"));
  const { workspace, home, script } = layOut(folder);
  const env = { PATH: process.env["PATH"], HOME: home, HOLDFAST_HOME: join(home, ".holdfast"), LANG: "C.UTF-8" };
  const faults: string[] = [];
  let kills = 0;
  let events: Awaited<ReturnType<typeof readLog>> = [];

  /** Null where it was killed. */
  const start = async (args: readonly string[]): Promise<{ code: number | null; output: string }> => {
    const child = spawn(program, args, { cwd: workspace, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
    const closed = once(child, "close");
    // Most kills come while it works, some while it starts; a few runs are left alone for long.
    const delay = 30 + 2_000 * random() ** 2;
    const withWrappers = random() < Number(values.wrappers);
    if (kills < killsLeft && (await Promise.race([closed, sleep(delay, "late" as const)])) === "late") kill(child, withWrappers);
    await closed;
    if (child.signalCode !== null) kills += 1;
    return { code: child.exitCode, output };
  };
  const kill = (child: ChildProcess, withWrappers: boolean): void => {
    child.kill("SIGKILL");
    if (withWrappers) for (const pid of processesOf(folder)) if (pid !== child.pid) killOne(pid);
  };

  try {
    const begin = ["exec", "--model", `script:${script}`, "--check", check, "--approvals", "ask", "go"];
    let args = begin;
    let last = { code: null as number | null, output: "" };
    for (let starts = 0; starts < mostStarts; starts += 1) {
      last = await start(args);
      if (last.code !== null && last.code !== 4) break;
      const approval = /apr_[0-9a-z]+/.exec(last.output)?.[0];
      if (last.code === 4 && approval !== undefined) await start(["approvals", "answer", approval, "allow"]);
      const now = await readLog(env.HOLDFAST_HOME);
      faults.push(...faultsOfLog(now, events));
      events = now;
      // A prompt that was not acknowledged is given again.
      args = events.length === 0 ? begin : ["exec", "resume", "--last"];
      if (events.length > 0 && !events.some(({ type }) => type === "turn.started")) args = [...args, "go"];
    }
    if (last.code !== 0) faults.push(`it ended with exit status ${last.code}: ${last.output.slice(-600)}`);
    faults.push(...faultsOfLog(await readLog(env.HOLDFAST_HOME), events));
    const end = await judgeEnd(workspace, env.HOLDFAST_HOME);
    const left = await stillThere(folder);
    if (left.length > 0) faults.push(`processes were left: ${left.map(describeProcess).join(", ")}`);
    return { kills, faults: [...faults, ...end.faults], inDoubt: end.inDoubt };
  } finally {
    for (const pid of processesOf(folder)) killOne(pid);
    if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
    else console.log(`kept: ${folder}`);
  }
}

/** What is left when wrappers that have written their record have had time to leave. */
async function stillThere(folder: string): Promise<number[]> {
  for (let look = 0; look < 60 && processesOf(folder).length > 0; look += 1) await sleep(50);
  return processesOf(folder);
}

function killOne(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
