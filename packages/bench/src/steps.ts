import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ScriptedServer } from "./scripted-server.ts";
import { startScriptedServer } from "./scripted-server.ts";

/**
 * What a step of Holdfast costs beside a bare loop's, and whether it grows with the session. Both run the same script, one
 * after the other: a step lasts from the last byte of an answer to the last byte of the next request. Prints a JSON line.
 *   npm run bench -- [--steps 2000] [--sandbox off] [--command 'true'] [--rounds 1]
 */
const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "2000" },
    sandbox: { type: "string", default: "workspace-write" },
    command: { type: "string", default: "true" },
    rounds: { type: "string", default: "1" },
    /** Another build of the program, to compare. */
    holdfast: { type: "string", default: join(import.meta.dirname, "../../../node_modules/.bin/holdfast") },
  },
});
const steps = Number(values.steps);

interface Run {
  readonly startMs: number;
  readonly gaps: readonly number[];
  readonly firstBytes: number;
}

const rounds: { readonly floor: Run; readonly ours: Run }[] = [];
for (let round = 0; round < Number(values.rounds); round += 1) {
  const floor = await measure(() => [process.execPath, join(import.meta.dirname, "bare-loop.ts"), "go"]);
  const ours = await measure(() => [
    values.holdfast,
    "exec",
    ...["--model", "openai/bench", "--sandbox", values.sandbox, "--approvals", "allow", "--quiet"],
    ...["--max-steps", String(steps + 10), "--max-tool-calls", String(steps + 10), "--max-tokens", "1000000000"],
    "go",
  ]);
  rounds.push({ floor, ours });
}
const width = Math.min(100, Math.floor(steps / 4));
const early = [width, 2 * width] as const;
const late = [steps - width, steps] as const;
const own = (range: readonly [number, number]): number =>
  median(rounds.map(({ floor, ours }) => median(ours.gaps.slice(...range)) - median(floor.gaps.slice(...range))));
const report = {
  steps,
  sandbox: values.sandbox,
  command: values.command,
  startToFirstRequestMs: { floor: median(rounds.map(({ floor }) => floor.startMs)), ours: median(rounds.map(({ ours }) => ours.startMs)) },
  firstRequestBytes: rounds[0]?.ours.firstBytes,
  stepMs: {
    floor: {
      early: median(rounds.map(({ floor }) => median(floor.gaps.slice(...early)))),
      late: median(rounds.map(({ floor }) => median(floor.gaps.slice(...late)))),
    },
    ours: {
      early: median(rounds.map(({ ours }) => median(ours.gaps.slice(...early)))),
      late: median(rounds.map(({ ours }) => median(ours.gaps.slice(...late)))),
    },
  },
  ownMs: { early: own(early), late: own(late) },
  ownLateOverEarly: own(late) / own(early),
};
console.log(JSON.stringify(report, (_, value: unknown) => (typeof value === "number" ? Math.round(value * 1000) / 1000 : value)));

async function measure(command: () => string[]): Promise<Run> {
  const server = await startScriptedServer(steps, (n) => `${values.command} ${n}`);
  const home = mkdtempSync(join(tmpdir(), "bench-home-"));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  try {
    return await runOnce(command(), server, home, workspace);
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function runOnce([program = "", ...args]: string[], server: ScriptedServer, home: string, workspace: string): Promise<Run> {
  const started = performance.now();
  const child = spawn(program, args, {
    cwd: workspace,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      HOLDFAST_HOME: join(home, "holdfast"),
      OPENAI_BASE_URL: server.baseUrl,
      OPENAI_API_KEY: "bench",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number];
  const { exchanges } = server;
  if (code !== 0 || exchanges.length !== steps + 1) throw new Error(`${program} exited ${code} after ${exchanges.length} requests`);
  return {
    startMs: (exchanges[0]?.received ?? 0) - started,
    gaps: exchanges.slice(1).map((exchange, index) => exchange.received - (exchanges[index]?.answered ?? 0)),
    firstBytes: exchanges[0]?.bytes ?? 0,
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
