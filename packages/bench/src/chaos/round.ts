import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acknowledged } from "./acknowledged.ts";
import { judge } from "./judge.ts";
import { careFor } from "./care.ts";
import type { Feature } from "./features.ts";
import { chooseFeatures } from "./features.ts";
import type { Life, LifeOptions, Manner } from "./lives.ts";
import { entryFolder, live, ordersFor } from "./lives.ts";
import type { Look } from "./look.ts";
import { describeProcess, inFlight, killOne, lookAt, processesOf, settledCalls } from "./look.ts";
import type { ScriptedModel } from "./model.ts";
import type { Fault } from "./plant.ts";
import type { Dice } from "./dice.ts";
import type { Shops } from "./shops.ts";
import type { Seen, Tally } from "./tally.ts";
import { count, enough, killsInFlight } from "./tally.ts";
import { drivenBy, isExpected, mannerFor, nextTask } from "./tasks.ts";
import type { Addresses, Branch } from "./work.ts";
import { checks, layOut, stepsOf } from "./work.ts";

/** Sessions that need more starts than this make no way. */
const mostStarts = 150;
/** How long a driver may take that replaces a frozen one, which may hold a lock it waits for. */
const replacedWithinMs = 15_000;

export interface RoundOptions {
  readonly random: Dice;
  readonly tally: Tally;
  readonly seen: Seen;
  readonly shops: Shops;
  readonly model: ScriptedModel;
  readonly mostKills: number;
  readonly wrappers: number;
  readonly fault: Fault | null;
}

/** One place with a session and its fork, killed again and again until both have done their work. Then it is judged. */
export async function round(options: RoundOptions): Promise<void> {
  const { random, tally, seen, shops, model } = options;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-chaos-"));
  const place = basename(folder);
  const chosen: ReadonlySet<Feature> = options.fault === null ? chooseFeatures(random, seen) : new Set();
  const length = options.fault !== null ? "brief" : lengthFor(random, seen);
  const addresses: Addresses = {
    keyed: `${shops.keyed}/${place}`,
    plain: `${shops.plain}/${place}`,
    isAsked: chosen.has("asked"),
    hasHooks: chosen.has("hooks"),
    hasChecks: chosen.has("checks"),
    compacts: chosen.has("compacts"),
    hasRecipe: chosen.has("recipe"),
    stumbles: chosen.has("stumbles"),
    isCaredFor: chosen.has("care"),
    length,
  };
  const begin = beginWith(chosen, folder, random);
  const { workspace, home, counted } = layOut(folder, addresses);
  // A shortened conversation does not show the model all that was done.
  const settled = async (branch: Branch): Promise<number> => settledCalls(await lookAt(home), branch);
  const baseUrl = model.serve(
    place,
    { main: stepsOf("main", addresses), fork: stepsOf("fork", addresses) },
    addresses.compacts ? settled : undefined,
  );
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    HOLDFAST_HOME: join(home, ".holdfast"),
    LANG: "C.UTF-8",
    OPENAI_API_KEY: "chaos",
    OPENAI_BASE_URL: baseUrl,
    // What was killed had no time to keep what it compiled.
    NODE_COMPILE_CACHE: join(tmpdir(), "holdfast-chaos-compiled"),
  };
  const acks = acknowledged();
  const found: string[] = [];
  const blame = (faults: readonly string[]): void => {
    for (const fault of faults.map((each) => `${place} (${[...chosen].join(", ")}): ${each}`)) {
      found.push(fault);
      tally.faults.push(fault);
      console.error(fault);
    }
  };
  const mayKill = (): boolean => tally.kills.count < options.mostKills;
  const lifeOptions: LifeOptions = {
    ...options,
    folder,
    workspace,
    env,
    onRequest: (listener) => shops.onRequest(place, listener),
    onSampling: (listener) => model.onRequest(place, listener),
    replace: (dead, args) => replace(dead, args),
  };
  const replace = async (dead: number, args: readonly string[]): Promise<void> => {
    const session = args.find((word) => word.startsWith("ses_"));
    if (session === undefined) return;
    const orders = { ...ordersFor({ type: "left alone" }, join(folder, "points"), options), dead };
    const child = spawn(process.execPath, [join(entryFolder, "chaos.js"), "exec", "resume", "--json", session], {
      cwd: workspace,
      env: { ...env, HOLDFAST_CHAOS: JSON.stringify(orders) },
      stdio: ["ignore", "pipe", "ignore", "pipe"],
    });
    let stdout = "";
    child.stdio[3]?.on("data", () => undefined);
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const closed = once(child, "close");
    const isLate = (await Promise.race([closed, sleep(replacedWithinMs, "late" as const)])) === "late";
    if (isLate) child.kill("SIGKILL");
    await closed;
    count(tally.manners, isLate ? "frozen, and its successor waited in vain" : "frozen, replaced by another driver");
    acks.hear(stdout);
  };

  try {
    let looks: readonly Look[] = [];
    let last: Life | null = null;
    const answered = new Set<string>();
    const sessions = options.fault === null ? 2 : 1;
    for (let starts = 0; !looks.every(({ isDone }) => isDone) || looks.length < sessions; starts += 1) {
      if (starts === mostStarts) {
        tally.sessions.stuck += 1;
        blame([`no end after ${starts} starts: ${last?.code} ${last?.stderr}`]);
        break;
      }
      const forks = sessions > 1;
      const task = nextTask(looks, { random, addresses, answered, forks, isLate: chosen.has("late"), begin });
      const manner = mannerFor(task, mayKill(), lifeOptions, chosen.has("interrupts"));
      last = await live(task.args, manner, lifeOptions, task.clockAheadMs);
      if (task.isJson) acks.hear(last.stdout);
      if (task.answers !== undefined && (last.code === 0 || /_closed/.test(last.stderr))) answered.add(task.answers);
      const before = looks;
      looks = await lookAt(home);
      if (last.isKilled) {
        for (const { replay, what } of drivenBy(task, before, looks).flatMap(({ events }) => inFlight(events))) {
          count(tally.windows, `${replay} ${what}`);
          count(seen.windows, `${replay} ${what}`);
        }
      } else if (!isExpected(last)) blame([`${task.args.join(" ")} ended with ${last.code}: ${last.stderr}`]);
      const { faults, lost } = acks.compare(looks);
      tally.events.lost += lost;
      blame(faults);
    }
    // Where the last driver died before it could end what runs in the background, whoever comes next does.
    if ((await stillThere(folder)).length > 0) {
      for (const { session } of looks) await live(["exec", "resume", "--json", session], { type: "left alone" }, lifeOptions);
    }
    tally.events.acknowledged += acks.count();
    for (const look of looks) {
      if (look.isDone) tally.sessions.ended += 1;
      blame(judge(look, { place, workspace, counted, shops, addresses }, tally));
    }
    blame(await lastLook(looks, lifeOptions));
    if (chosen.has("care") && found.length === 0) {
      blame(await careFor(looks, { home, workspace, addresses, mayKill, options: lifeOptions }));
    }
    const left = await stillThere(folder);
    tally.left.processes += left.length;
    if (left.length > 0) blame([`processes were left: ${left.map(describeProcess).join(", ")}`]);
  } catch (error) {
    blame([`it could not go on: ${error instanceof Error ? error.message : String(error)}`]);
  } finally {
    for (const pid of processesOf(folder)) killOne(pid);
    if (found.length === 0 || options.fault !== null) rmSync(folder, { recursive: true, force: true });
    else console.error(`kept ${folder}`);
  }
}

/** Where effects that leave the workspace saw few kills in flight, mostly such are done. */
function lengthFor(random: Dice, seen: Seen): Addresses["length"] {
  const isShort = Math.min(killsInFlight(seen, "keyed"), killsInFlight(seen, "never")) < enough.inFlight;
  return random.chance(isShort ? 0.6 : 0.2) ? "outside" : random.pick(["short", "short", "usual", "long"]);
}

const asks = ["--approvals", "ask"] as const;
const asksNobody = ["--approvals", "allow", "--sandbox", "off"] as const;

/** Flags of a new session. */
function beginWith(chosen: ReadonlySet<Feature>, folder: string, random: Dice): readonly string[] {
  return [
    ...(chosen.has("asked") ? asks : asksNobody),
    ...(chosen.has("checks") ? checks.flatMap((check) => ["--check", check]) : []),
    ...(chosen.has("schema") ? ["--output-schema", join(folder, "schema.json")] : []),
    ...(chosen.has("tight") ? ["--max-tool-calls", `${3 + random.whole(4)}`] : []),
  ];
}

/** The logs hold together, and what is in doubt is shown to who looks. */
async function lastLook(looks: readonly Look[], options: LifeOptions): Promise<readonly string[]> {
  const quiet: Manner = { type: "left alone" };
  const sessions = looks.map(({ session }) => session);
  const verified = await live(["sessions", "verify", ...sessions], quiet, options);
  if (verified.code === 0) options.tally.sessions.verified += sessions.length;
  const silent: string[] = [];
  for (const { session, events } of looks) {
    const isInDoubt = events.some((event) => event.type === "call.settled" && event.payload.outcome.status === "in_doubt");
    if (!isInDoubt) continue;
    const { stdout } = await live(["sessions", "show", session], quiet, options);
    const isShown = /in doubt|may have happened/.test(stdout);
    count(options.tally.doubtful, isShown ? "shown" : "silent");
    if (!isShown) silent.push(session);
  }
  return [
    ...(verified.code === 0 ? [] : [`sessions verify: ${verified.stdout}${verified.stderr}`]),
    ...silent.map((session) => `sessions show ${session} says nothing of what is in doubt`),
  ];
}

/**
 * What is left when wrappers that have written their record have had time to leave, and a namespace's holder whose starter
 * died before it had written it down: that one looks after itself every five seconds.
 */
async function stillThere(folder: string): Promise<number[]> {
  for (let look = 0; look < 70 && processesOf(folder).length > 0; look += 1) await sleep(100);
  return processesOf(folder);
}
