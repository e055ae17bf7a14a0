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
import type { Tally } from "./tally.ts";
import { count, points } from "./tally.ts";
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
  /** A while after a call was decided, the `nth` of this life: its intent follows at once. */
  | { readonly type: "in flight"; readonly nth: number; readonly ms: number; readonly latestMs: number }
  /** A while after a shop got a request. */
  | { readonly type: "at a request"; readonly ms: number; readonly latestMs: number }
  /** Stopped, and continued, killed, or replaced by another driver and only then continued. */
  | { readonly type: "frozen"; readonly ms: number; readonly forMs: number; readonly next: "continued" | "killed" | "replaced" }
  | { readonly type: "interrupted"; readonly ms: number };

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
  readonly fault: Fault | null;
  /** How often the wrappers of commands are killed along. */
  readonly wrappers: number;
  /** Called when a shop gets a request; replaces the listener before. */
  readonly onRequest: (listener: () => void) => void;
  /** Ends elsewhere what the process `dead`, which is frozen, was started for. */
  readonly replace: (dead: number, args: readonly string[]) => Promise<void>;
}

export async function live(args: readonly string[], manner: Manner, options: LifeOptions): Promise<Life> {
  const { folder, workspace, env, random, tally, fault } = options;
  const usesEntry = diesAtPoints(manner) || fault !== null;
  const report = join(folder, "points");
  writeFileSync(report, "");
  const child = usesEntry
    ? spawn(process.execPath, [join(entryFolder, "chaos.js"), ...args], {
        cwd: workspace,
        env: { ...env, HOLDFAST_CHAOS: JSON.stringify(ordersFor(manner, report, options)) },
        stdio: ["ignore", "pipe", "pipe"],
      })
    : spawn(program, args, { cwd: workspace, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const closed = once(child, "close");
  const tooLong = setTimeout(() => child.kill("SIGKILL"), longestMs);
  await Promise.race([closed, carryOut(child, manner, closed, args, options)]);
  await closed;
  clearTimeout(tooLong);
  options.onRequest(() => undefined);
  const isKilled = child.signalCode === "SIGKILL";
  for (const [, what, point = ""] of (textOf(report) ?? "").matchAll(/^(passed|died) (.*)$/gm)) {
    count(what === "died" ? tally.points : tally.passed, point);
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

/** It dies at points that come up but have seen few kills so far, and at once at one that never came up before. */
export function ordersFor(
  manner: Manner,
  report: string,
  { random, tally, fault }: Pick<LifeOptions, "random" | "tally" | "fault">,
): Orders {
  const seed = random.whole(2 ** 31);
  if (!diesAtPoints(manner)) return { seed, report, fault, dead: null, points: {}, otherwise: 0 };
  const known = points.filter((point) => tally.passed[point] !== undefined);
  const kills = (point: string): number => tally.points[point] ?? 0;
  const rare = known.toSorted((one, other) => kills(one) - kills(other)).slice(0, Math.ceil(known.length / 3));
  const likely = Object.fromEntries(known.map((point) => [point, rare.includes(point) ? 0.3 : 0.02]));
  return { seed, report, fault, dead: null, points: likely, otherwise: 0.4 };
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
      await Promise.race([decided(child, manner.nth).then(() => sleep(manner.ms)), sleep(manner.latestMs)]);
      child.kill("SIGKILL");
      return;
    case "at a request":
      await Promise.race([new Promise<void>(options.onRequest).then(() => sleep(manner.ms)), sleep(manner.latestMs)]);
      child.kill("SIGKILL");
      return;
    case "interrupted":
      await sleep(manner.ms);
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

/** Resolves once `nth` calls were shown as started. */
function decided(child: ChildProcess, nth: number): Promise<void> {
  let shown = 0;
  return new Promise((done) => {
    child.stdout?.on("data", (text: string) => {
      shown += text.split('"type":"item.started"').length - 1;
      if (shown >= nth) done();
    });
  });
}
