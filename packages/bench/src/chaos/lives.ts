import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Orders } from "./entry.ts";
import { killOne, processesOf } from "./look.ts";
import type { Fault } from "./plant.ts";
import type { Dice } from "./dice.ts";
import { shareOfPoint } from "./features.ts";
import type { ReplayName, Seen, Tally } from "./tally.ts";
import { count, enough, points } from "./tally.ts";
import { textOf } from "./work.ts";

const root = join(import.meta.dirname, "../../../..");
const program = join(root, "node_modules/holdfast/bin/holdfast");
/** Where scripts/build.ts puts the program with our entry beside its own. */
export const entryFolder = join(root, "packages/holdfast/dist.chaos");
/** No single start of the program is waited for longer. */
const longestMs = 120_000;

/** How a life of the program is to end. */
export type Manner =
  | { readonly type: "left alone" }
  /** At a named point, by its own hand; where it comes to none in time, from outside, and so below. */
  | { readonly type: "at a point"; readonly latestMs: number }
  /** Counted from its start, or from the first line that it prints: then it has begun to work. */
  | { readonly type: "at any time"; readonly from: "start" | "first line"; readonly ms: number }
  /** A while after an effect of this class was intended. */
  | { readonly type: "in flight"; readonly replay: ReplayName; readonly ms: number; readonly latestMs: number }
  /** A while after a shop got a request. */
  | { readonly type: "at a request"; readonly ms: number; readonly latestMs: number }
  /** Stopped, and continued, killed, or replaced by another driver and only then continued. */
  | { readonly type: "frozen"; readonly ms: number; readonly forMs: number; readonly next: "continued" | "killed" | "replaced" }
  /** A while after a request to the model. */
  | { readonly type: "interrupted"; readonly ms: number; readonly latestMs: number };

export interface Life {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly isKilled: boolean;
  readonly manner: Manner["type"];
}

export interface LifeOptions {
  readonly folder: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly random: Dice;
  readonly tally: Tally;
  readonly seen: Seen;
  readonly fault: Fault | null;
  /** How often the wrappers of commands are killed along. */
  readonly wrappers: number;
  /** Called when a shop, or the model, gets a request; replaces the listener before. */
  readonly onRequest: (listener: () => void) => void;
  readonly onSampling: (listener: () => void) => void;
  /** Ends elsewhere what the process `dead`, which is frozen, was started for. */
  readonly replace: (dead: number, args: readonly string[]) => Promise<void>;
}

/** How long the program has lately taken to its first line of output, ms: on a busy machine moments must come later. */
let firstLineMs = 400;

/** How many times slower than alone on a quiet machine the program is at the moment. */
export function slowness(): number {
  return Math.max(1, firstLineMs / 400);
}

/** `clockAheadMs`: how wrong its clock goes. */
export async function live(args: readonly string[], manner: Manner, options: LifeOptions, clockAheadMs = 0): Promise<Life> {
  const { folder, workspace, env, random, tally, seen, fault } = options;
  const usesEntry = diesAtPoints(manner) || manner.type === "in flight" || fault !== null || clockAheadMs !== 0;
  const report = join(folder, "points");
  writeFileSync(report, "");
  const child = usesEntry
    ? spawn(process.execPath, [join(entryFolder, "chaos.js"), ...args], {
        cwd: workspace,
        env: { ...env, HOLDFAST_CHAOS: JSON.stringify({ ...ordersFor(manner, report, options), clockAheadMs }) },
        stdio: ["ignore", "pipe", "pipe", "pipe"],
      })
    : spawn(program, args, { cwd: workspace, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  const bornAt = performance.now();
  child.stdout?.once("data", () => (firstLineMs += 0.2 * (performance.now() - bornAt - firstLineMs)));
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  // Read also where nobody asks, so that nobody waits for us.
  child.stdio[3]?.on("data", () => undefined);
  const closed = once(child, "close");
  const tooLong = setTimeout(() => child.kill("SIGKILL"), longestMs);
  await Promise.race([closed, carryOut(child, manner, closed, args, options)]);
  await closed;
  clearTimeout(tooLong);
  options.onRequest(() => undefined);
  options.onSampling(() => undefined);
  const isKilled = child.signalCode === "SIGKILL";
  for (const [, what, point = ""] of (textOf(report) ?? "").matchAll(/^(passed|died) (.*)$/gm)) {
    count(what === "died" ? tally.points : tally.passed, point);
    if (what === "died") count(seen.points, point);
  }
  if (isKilled) {
    tally.kills.count += 1;
    count(tally.manners, manner.type);
  } else if (manner.type === "frozen" || manner.type === "interrupted") count(tally.manners, `${manner.type}, not killed`);
  // Commands go on under their wrappers; now and then those are gone as well, so that their ends are not known.
  if (isKilled && random.chance(options.wrappers)) {
    const left = processesOf(folder);
    if (left.length > 0) count(tally.manners, "with its wrappers");
    for (const pid of left) killOne(pid);
  }
  return { code: child.exitCode, stdout, stderr, isKilled, manner: manner.type };
}

/** Also at those that only an interrupt leads to. */
function diesAtPoints({ type }: Manner): boolean {
  return type === "at a point" || type === "interrupted";
}

/**
 * Each life has some points to die at: the fewer kills a point has seen beside the others, the likelier it is among them. A
 * life is hardly ever worth less for being short, since the next one goes on where it ended.
 */
export function ordersFor(manner: Manner, report: string, { random, seen, fault }: Pick<LifeOptions, "random" | "seen" | "fault">): Orders {
  const orders = { seed: random.whole(2 ** 31), report, fault, dead: null, clockAheadMs: 0 };
  if (!diesAtPoints(manner)) return { ...orders, points: {} };
  const full = shareOfPoint(seen);
  const short = new Set(points.filter((point) => (seen.points[point] ?? 0) < enough.atPoint));
  // The last few that are short come up seldom: a life that comes to one is to die there.
  const areFew = short.size * 8 < points.length;
  const isChosen = (point: string): boolean =>
    random.chance(areFew && short.has(point) ? 0.7 : 0.7 * Math.max(0, 1 - (seen.points[point] ?? 0) / full));
  return { ...orders, points: Object.fromEntries(points.map((point) => [point, isChosen(point) ? 0.8 : 0.001])) };
}

async function carryOut(
  child: ChildProcess,
  manner: Manner,
  closed: Promise<unknown>,
  args: readonly string[],
  options: LifeOptions,
): Promise<void> {
  switch (manner.type) {
    case "left alone":
      await closed;
      return;
    case "at a point":
      await sleep(manner.latestMs);
      child.kill("SIGKILL");
      return;
    case "at any time":
      if (manner.from === "first line" && child.stdout !== null) await once(child.stdout, "data");
      await sleep(manner.ms);
      child.kill("SIGKILL");
      return;
    case "in flight":
      await Promise.race([intended(child, manner.replay).then(() => sleep(manner.ms)), sleep(manner.latestMs)]);
      child.kill("SIGKILL");
      return;
    case "at a request":
      await Promise.race([new Promise<void>(options.onRequest).then(() => sleep(manner.ms)), sleep(manner.latestMs)]);
      child.kill("SIGKILL");
      return;
    case "interrupted":
      await Promise.race([new Promise<void>(options.onSampling).then(() => sleep(manner.ms)), sleep(manner.latestMs)]);
      child.kill("SIGINT");
      return;
    case "frozen":
      await sleep(manner.ms);
      child.kill("SIGSTOP");
      await sleep(manner.forMs);
      if (manner.next === "killed") child.kill("SIGKILL");
      if (manner.next === "replaced" && child.pid !== undefined && child.exitCode === null) await options.replace(child.pid, args);
      child.kill("SIGCONT");
      await closed;
      return;
  }
}

/** Resolves once an effect of the class was intended. */
function intended(child: ChildProcess, replay: ReplayName): Promise<void> {
  return new Promise((done) => {
    child.stdio[3]?.on("data", (lines: Uint8Array) => {
      if (Buffer.from(lines).toString("utf8").split("\n").includes(replay)) done();
    });
  });
}
