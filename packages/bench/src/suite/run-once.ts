import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import type { Readable } from "node:stream";
import type { Contestant } from "./contestants.ts";
import { startModelServer } from "./model-server.ts";
import type { Workload } from "./workloads.ts";

/** One run of a program. Times in ms. */
export interface Run {
  readonly wallMs: number;
  /** From the start of the process to its first request. */
  readonly startMs: number;
  /** From the last byte of an answer to the whole of the next request, for each step. */
  readonly steps: readonly number[];
  /** Of the program and everything it started and waited for. */
  readonly cpuMs: number;
  /** The most memory the program itself held resident. */
  readonly peakMb: number;
  /** Of the whole machine when it ended, over its cores: well above 1, other work ran. */
  readonly load: number;
}

const sampleEveryMs = 25;

/** Throws where the program fails or asks another number of times than the workload has steps. */
export async function runOnce(contestant: Contestant, workload: Workload, home: string, workspace: string): Promise<Run> {
  const server = await startModelServer(workload.script);
  mkdirSync(home, { recursive: true });
  const place = { baseUrl: server.baseUrl, home };
  // The shell says at the end what its child and all that the child waited for took.
  const timed = ["-c", '"$@"; status=$?; times >&3; exit "$status"', "bash", ...contestant.command(place)];
  const started = performance.now();
  const child = spawn("/bin/bash", timed, {
    cwd: workspace,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      LANG: "C.UTF-8",
      OPENAI_BASE_URL: server.baseUrl,
      OPENAI_API_KEY: "bench",
      ...contestant.environment?.(place),
    },
    stdio: ["ignore", "ignore", "pipe", "pipe"],
  });
  let peakKb = 0;
  const sampler = setInterval(() => (peakKb = Math.max(peakKb, peakOfChild(child.pid ?? 0))), sampleEveryMs);
  let [errors, times] = ["", ""];
  child.stderr?.on("data", (data: Buffer) => (errors = `${errors}${data.toString()}`.slice(-2_000)));
  (child.stdio[3] as Readable).on("data", (data: Buffer) => (times += data.toString()));
  const ended = once(child, "exit").then(([code]) => ({ code: code as number | null, at: performance.now() }));
  await once(child, "close");
  const { code, at } = await ended;
  clearInterval(sampler);
  server.close();
  const { exchanges } = server;
  if (code !== 0 || exchanges.length !== workload.steps + 1) {
    throw new Error(
      `${contestant.name} at ${workload.name}: exit status ${code} after ${exchanges.length} of ${workload.steps + 1} requests: ${errors}`,
    );
  }
  return {
    wallMs: at - started,
    startMs: (exchanges[0]?.received ?? Number.NaN) - started,
    steps: exchanges.slice(1).map(({ received }, index) => received - (exchanges[index]?.answered ?? Number.NaN)),
    cpuMs: cpuOf(times),
    peakMb: peakKb / 1024,
    load: (loadavg()[0] ?? Number.NaN) / availableParallelism(),
  };
}

/** Two lines of user and system time: the shell's own, and its children's. */
export function cpuOf(times: string): number {
  const children = times.trim().split("\n").at(-1) ?? "";
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1_000,
    0,
  );
}

function peakOfChild(shell: number): number {
  try {
    const child = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").split(" ")[0];
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
