import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { acknowledged } from "./acknowledged.ts";
import { judge } from "./judge.ts";
import type { Life, LifeOptions, Manner } from "./lives.ts";
import { entryFolder, live, ordersFor } from "./lives.ts";
import type { Look } from "./look.ts";
import { describeProcess, inFlight, killOne, lookAt, processesOf } from "./look.ts";
import type { ScriptedModel } from "./model.ts";
import type { Fault } from "./plant.ts";
import type { Dice } from "./dice.ts";
import type { Shops } from "./shops.ts";
import type { Tally } from "./tally.ts";
import { count } from "./tally.ts";
import type { Addresses } from "./work.ts";
import { check, layOut, stepsOf } from "./work.ts";

/** Sessions that need more starts than this make no way. */
const mostStarts = 150;
/** How long a driver may take that replaces a frozen one, which may hold a lock it waits for. */
const replacedWithinMs = 15_000;

export interface RoundOptions {
  readonly random: Dice;
  readonly tally: Tally;
  readonly shops: Shops;
  readonly model: ScriptedModel;
  readonly mostKills: number;
  readonly wrappers: number;
  readonly fault: Fault | null;
}

/** One place with a session and its fork, killed again and again until both have done their work. Then it is judged. */
export async function round(options: RoundOptions): Promise<void> {
  const { random, tally, shops, model } = options;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-chaos-"));
  const place = basename(folder);
  const isAsked = random.chance(0.12) && options.fault === null;
  const hasHooks = random.chance(0.1);
  const length = options.fault !== null ? "brief" : random.chance(0.4) ? "long" : "usual";
  const checks = random.chance(0.15) ? ["--check", check] : [];
  const addresses: Addresses = { keyed: `${shops.keyed}/${place}`, plain: `${shops.plain}/${place}`, isAsked, hasHooks, length };
  const { workspace, home, counted } = layOut(folder, addresses);
  const baseUrl = model.serve(place, { main: stepsOf("main", addresses), fork: stepsOf("fork", addresses) });
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
  const before = tally.faults.length;
  const blame = (faults: readonly string[]): void => {
    for (const fault of faults.map((each) => `${place}: ${each}`)) {
      tally.faults.push(fault);
      console.error(fault);
    }
  };
  const lifeOptions: LifeOptions = {
    ...options,
    folder,
    workspace,
    env,
    onRequest: (listener) => shops.onRequest(place, listener),
    replace: (dead, args) => replace(dead, args),
  };
  const replace = async (dead: number, args: readonly string[]): Promise<void> => {
    const session = args.find((word) => word.startsWith("ses_"));
    if (session === undefined) return;
    const orders = { ...ordersFor({ type: "left alone" }, join(folder, "points"), options), dead };
    const child = spawn(process.execPath, [join(entryFolder, "chaos.js"), "exec", "resume", "--json", session], {
      cwd: workspace,
      env: { ...env, HOLDFAST_CHAOS: JSON.stringify(orders) },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
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
        blame([`no end after ${starts} starts: ${last?.code} ${last?.stderr.slice(-400)}`]);
        break;
      }
      const task = nextTask(looks, { random, answered, forks: sessions > 1, begin: [...(isAsked ? asks : asksNobody), ...checks] });
      last = await live(task.args, mannerFor(task, tally.kills.count < options.mostKills, lifeOptions), lifeOptions);
      if (task.isJson) acks.hear(last.stdout);
      if (task.answers !== undefined && (last.code === 0 || /_closed/.test(last.stderr))) answered.add(task.answers);
      looks = await lookAt(home);
      if (last.isKilled) {
        for (const effect of looks.flatMap(({ events }) => inFlight(events))) count(tally.windows, `${effect.replay} ${effect.what}`);
      } else if (!isExpected(last)) blame([`${task.args.join(" ")} ended with ${last.code}: ${last.stderr.slice(-600)}`]);
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
    const left = await stillThere(folder);
    tally.left.processes += left.length;
    if (left.length > 0) blame([`processes were left: ${left.map(describeProcess).join(", ")}`]);
  } catch (error) {
    blame([`it could not go on: ${error instanceof Error ? error.message : String(error)}`]);
  } finally {
    for (const pid of processesOf(folder)) killOne(pid);
    if (tally.faults.length === before) rmSync(folder, { recursive: true, force: true });
    else console.error(`kept ${folder}`);
  }
}

interface Task {
  readonly args: readonly string[];
  readonly isJson: boolean;
  /** How long it usually works, ms: moments are chosen within. */
  readonly usualMs: number;
  /** The approval or question that it answers. */
  readonly answers?: string;
}

const asks = ["--approvals", "ask"] as const;
const asksNobody = ["--approvals", "allow", "--sandbox", "off"] as const;

interface Standing {
  readonly random: Dice;
  /** Approvals and questions whose answer was acknowledged: the session takes it when it goes on. */
  readonly answered: ReadonlySet<string>;
  readonly forks: boolean;
  /** What a new session is started with. */
  readonly begin: readonly string[];
}

/** What to start next, by how the sessions stand. */
function nextTask(looks: readonly Look[], { random, answered, forks, begin }: Standing): Task {
  const work = (...args: string[]): Task => ({ args, isJson: args.includes("--json") && args[0] === "exec", usualMs: 2_000 });
  const small = (...args: string[]): Task => ({ args, isJson: false, usualMs: 250 });
  const [main, fork] = looks;
  if (main === undefined) return work("exec", "--json", "--model", "openai/test", ...begin, "branch main");
  if (forks && fork === undefined && (main.isDone || (hasSettledCall(main) && random.chance(0.3)))) {
    return small("sessions", "fork", main.session, "--title", "another way");
  }
  const open = looks.filter(({ isDone }) => !isDone);
  const look = open[random.whole(open.length)] ?? main;
  const isUnanswered = (id: string): boolean => look.status === "waiting" && !answered.has(id);
  const [approval, question] = [look.approvals.find(isUnanswered), look.questions.find(isUnanswered)];
  if (approval !== undefined) return { ...small("approvals", "answer", approval, "allow"), answers: approval };
  if (question !== undefined) return { ...small("answer", look.session, question, "--choice", "2"), answers: question };
  if (look.status !== "idle" || look.hasPost) {
    return random.chance(0.35) ? work("worker", "--once", "--json") : work("exec", "resume", "--json", look.session);
  }
  return work("exec", "resume", "--json", look.session, hasPrompt(look) ? "go on" : `branch ${look.branch}`);
}

function hasSettledCall({ events }: Look): boolean {
  return events.some(({ type }) => type === "call.settled");
}

function hasPrompt({ events, branch }: Look): boolean {
  return events.some(
    (event) =>
      (event.type === "turn.started" || event.type === "input.taken") && JSON.stringify(event.payload).includes(`branch ${branch}`),
  );
}

/** Most kills come while something is under way, many at named points, some at any time. */
function mannerFor({ usualMs, args }: Task, mayKill: boolean, { random, fault }: LifeOptions): Manner {
  const isShort = usualMs < 1_000;
  if (!mayKill || (isShort && random.chance(0.5))) return { type: "left alone" };
  const at = usualMs * (0.05 + random.next() ** 2);
  const dice = random.next();
  const latestMs = 2_000 * (0.4 + random.next());
  if (fault !== null && random.chance(0.6)) return { type: "at a request", ms: random.whole(40), latestMs };
  if (dice < 0.35) return { type: "at a point", latestMs };
  if (dice < 0.65 && args.includes("--json") && args[0] === "exec") {
    return { type: "in flight", nth: 1 + random.whole(4), ms: random.whole(150), latestMs };
  }
  if (dice < 0.75 && !isShort) return { type: "at a request", ms: random.whole(40), latestMs };
  if (dice < 0.8 && !isShort) {
    return { type: "frozen", ms: 150 + at / 2, forMs: 200 + random.whole(1_500), next: random.pick(["continued", "killed", "replaced"]) };
  }
  if (dice < 0.82 && !isShort) return { type: "interrupted", ms: 200 + at };
  if (dice < 0.99) return { type: "at any time", from: !isShort && random.chance(0.7) ? "first line" : "start", ms: at };
  return { type: "left alone" };
}

/** Verified or nothing to verify; refuted, waiting, weak; interrupted, also by who was killed before the turn had ended. */
const goodEnds: readonly (number | null)[] = [0, 3, 4, 6, 130];

/** Ended in good order, or with a word that another drives or has driven the session. */
function isExpected({ code, stderr, manner }: Life): boolean {
  if (goodEnds.includes(code)) return true;
  if (manner === "interrupted" || manner === "frozen") {
    return code === null || /stale_driver|claim_lost|session_busy|store_failed/.test(stderr);
  }
  return /session_busy|approval_closed|question_closed|question_not_found|approval_not_found/.test(stderr);
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
    if (!/in doubt|may have happened/.test(stdout)) silent.push(session);
  }
  return [
    ...(verified.code === 0 ? [] : [`sessions verify: ${verified.stdout}${verified.stderr}`]),
    ...silent.map((session) => `sessions show ${session} says nothing of what is in doubt`),
  ];
}

/** What is left when wrappers that have written their record have had time to leave. */
async function stillThere(folder: string): Promise<number[]> {
  for (let look = 0; look < 30 && processesOf(folder).length > 0; look += 1) await sleep(100);
  return processesOf(folder);
}
