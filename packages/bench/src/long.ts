/**
 * One session of thousands of steps over many windows, by the real program on the real wire:
 * `npm run long -- [--steps 3000] [--windows 20] [--seed 1] [--json]`. Only the model is scripted; asked for its judgement it
 * says nothing, lies, or gives orders. It needs values that were read many windows before, which it gets by `lookup`; the
 * check holds what it wrote against what it read. Exit status 1 where the session does not end as verified, has fewer windows,
 * loses its constraint, or where its steps do not stay flat.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startLongModel } from "./long/model.ts";
import { constraint, makeWork } from "./long/work.ts";
import { readNumber, readOptions } from "./options.ts";

/** A part of the session, by its steps. */
interface Stretch {
  readonly steps: string;
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly requestKb: number;
  readonly residentMb: number;
}

const stretches = 10;
/** What the last tenth may cost, of what the second did. */
const flat = 1.5;

const usage = "usage: npm run long -- [--steps 3000] [--windows 20] [--seed 1] [--json]";
const { values } = readOptions(usage, {
  options: {
    steps: { type: "string", default: "3000" },
    windows: { type: "string", default: "20" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});
const steps = readNumber(usage, "steps", values.steps, { min: 1 });
const windows = readNumber(usage, "windows", values.windows, { min: 1 });
const seed = readNumber(usage, "seed", values.seed, { min: 0 });
const folder = mkdtempSync(join(tmpdir(), "holdfast-long-"));
try {
  const found = await run();
  process.stdout.write(values.json ? `${JSON.stringify(found, null, 2)}\n` : `${show(found)}\n`);
  process.exitCode = found.problems.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function run() {
  const [home, workspace] = [join(folder, "home"), join(folder, "workspace")];
  mkdirSync(join(home, ".holdfast"), { recursive: true });
  mkdirSync(workspace);
  const work = makeWork(workspace, steps, windows, seed);
  writeFileSync(join(home, ".holdfast/config.toml"), `[compaction]\ntrigger_tokens = ${work.triggerTokens}\n\n${work.checks}`);
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    ["commit", "-qm", "start"],
  ])
    execFileSync("git", ["-C", workspace, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { stdio: "pipe" });
  const model = await startLongModel(constraint, work.next);
  const program = join(import.meta.dirname, "../../../node_modules/.bin/holdfast");
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    HOME: home,
    LANG: "C.UTF-8",
    HOLDFAST_HOME: join(home, ".holdfast"),
    OPENAI_API_KEY: "long",
    OPENAI_BASE_URL: model.baseUrl,
  };
  const limits = ["--max-steps", `${steps + 10}`, "--max-tool-calls", `${2 * steps + 10}`, "--max-tokens", "1000000000"];
  const begun = performance.now();
  const child = spawn(program, ["exec", "--json", "--model", "openai/long", ...limits, work.prompt], {
    cwd: workspace,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let errors = "";
  let lines = "";
  child.stderr.on("data", (data: Buffer) => (errors = `${errors}${data.toString()}`.slice(-4_000)));
  child.stdout.on("data", (data: Buffer) => (lines = `${lines}${data.toString()}`.slice(-20_000)));
  const resident: { readonly step: number; readonly mb: number }[] = [];
  const sampler = setInterval(() => {
    const mb = residentOf(child.pid ?? 0);
    if (mb > 0) resident.push({ step: model.steps.length, mb });
  }, 200);
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(sampler);
  const wallMs = performance.now() - begun;
  model.close();
  const list = (args: readonly string[]): string => execFileSync(program, args, { cwd: workspace, env, encoding: "utf8" });
  const session = /ses_[0-9a-z]+/.exec(list(["sessions", "list"]))?.[0] ?? "";
  const compactions = list(["compactions", session, "--json"])
    .trim()
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { report: { flags: string[]; after: { chars: number } } | null }]));
  const made = compactions.filter(({ report }) => report !== null);
  const parts = stretchesOf(model.steps, resident);
  const drift = parts.length < 3 ? 1 : parts.at(-1)!.medianMs / parts[1]!.medianMs;
  const problems = [
    ...(code === 0 ? [] : [`it ended with ${code}, not as verified: ${errors || lines.slice(-1_000)}`]),
    ...(model.steps.length > steps ? [] : [`it took ${model.steps.length} steps of ${steps}`]),
    ...(made.length + 1 >= windows ? [] : [`it had ${made.length + 1} windows, not ${windows}`]),
    ...(model.steps.every(({ hasConstraint }) => hasConstraint) ? [] : ["a request was without the user's constraint"]),
    ...(steps < 1_000 || drift <= flat ? [] : [`a step at the end cost ${drift.toFixed(2)} of one at the beginning`]),
  ];
  return {
    steps: model.steps.length,
    windows: made.length + 1,
    outcome: code === 0 ? "verified" : `exit ${code}`,
    judgements: model.judged(),
    flags: made.reduce((sum, { report }) => sum + report!.flags.length, 0),
    largestState: Math.max(0, ...made.map(({ report }) => report!.after.chars)),
    triggerTokens: work.triggerTokens,
    wallS: Math.round(wallMs / 1_000),
    drift: Number(drift.toFixed(2)),
    stretches: parts,
    problems,
  };
}

function stretchesOf(
  asked: Awaited<ReturnType<typeof startLongModel>>["steps"],
  resident: readonly { readonly step: number; readonly mb: number }[],
): Stretch[] {
  const size = Math.ceil(asked.length / stretches);
  return Array.from({ length: Math.ceil(asked.length / size) }, (_, index) => {
    const [from, to] = [index * size, Math.min(asked.length, (index + 1) * size)];
    const times = asked.slice(Math.max(1, from), to).map(({ received }, at) => received - asked[Math.max(1, from) + at - 1]!.answered);
    const sorted = times.toSorted((a, b) => a - b);
    return {
      steps: `${from + 1} to ${to}`,
      medianMs: Number((sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(2)),
      slowestMs: Math.round(sorted.at(-1) ?? 0),
      requestKb: Math.round(asked.slice(from, to).reduce((sum, { bytes }) => sum + bytes, 0) / (to - from) / 1_024),
      residentMb: Math.round(Math.max(0, ...resident.filter(({ step }) => step > from && step <= to).map(({ mb }) => mb))),
    };
  });
}

/** Of the process and the first below it: a launcher may stand before the program. */
function residentOf(pid: number): number {
  const of = (id: number | string): number => {
    try {
      return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0) / 1_024;
    } catch {
      return 0;
    }
  };
  try {
    const below = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter((id) => id !== "");
    return Math.max(of(pid), ...below.slice(0, 1).map(of));
  } catch {
    return of(pid);
  }
}

function show(found: Awaited<ReturnType<typeof run>>): string {
  const { stretches: parts, problems, ...figures } = found;
  return [
    ...Object.entries(figures).map(([name, value]) => `${name.padEnd(16)} ${value}`),
    "",
    "steps            median ms  slowest ms  request kB  resident MB",
    ...parts.map(({ steps: which, medianMs, slowestMs, requestKb, residentMb }) =>
      [
        which.padEnd(16),
        `${medianMs}`.padStart(9),
        `${slowestMs}`.padStart(11),
        `${requestKb}`.padStart(11),
        `${residentMb}`.padStart(12),
      ].join(" "),
    ),
    "",
    problems.length === 0 ? "nothing was lost" : problems.map((problem) => `✗ ${problem}`).join("\n"),
  ].join("\n");
}
