import type { AssistantMessage, Checkpoint, SessionEvent } from "@holdfast/protocol";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import { exitStatus } from "@holdfast/protocol/outcome";
import { advance } from "../kernel/advance.ts";
import { intendable } from "../kernel/conflicts.ts";
import type { Effect, Plan } from "../kernel/decide.ts";
import { decide } from "../kernel/decide.ts";
import { waitsForSandbox } from "../kernel/sandbox.ts";
import type { Clock, DriveEnd, DriveOptions, Ports } from "../ports/index.ts";
import { answerAtDeadline } from "./answer.ts";
import { intend, runCall } from "./call.ts";
import type { Driver } from "./driver.ts";
import { flush, isFatal, messageOf, newId, stage, stop, stopAt } from "./driver.ts";
import { compactionMark, compactWindow } from "./compact.ts";
import type { Steering } from "./inbox.ts";
import { hasControl, takeInbox } from "./inbox.ts";
import { keep } from "./kept.ts";
import { openDriver } from "./open.ts";
import { deliver } from "./outbox.ts";
import { finalMessage, judgeOutput } from "./output.ts";
import { lostUnder, tendSandbox } from "./sandbox.ts";
import { attached, recover } from "./recover.ts";
import { priceOf, sample } from "./sample.ts";
import { withSession } from "./session-lock.ts";
import { lookBetweenSteps } from "./world.ts";
import { worstInputOf } from "./worst-input.ts";
import { endTurn, judgeRound, runCheck, takeBaseline, takeSnapshot } from "./verify.ts";

interface Running {
  readonly effect: Effect;
  readonly abort: AbortController;
}
type Settled = { readonly effect: Effect; readonly events: readonly SessionEvent[] } | { readonly effect: Effect; readonly error: unknown };

/**
 * Drives a session: a select over {effect settled, inbox row, timer}. Starts what is wanted and not running, aborts what
 * runs and is no longer wanted, commits each settlement as it comes. Gives the session back when its turn has ended, or
 * when it waits for someone. Throws `session_busy` where a living process drives it, `stale_driver` where another took over.
 */
export async function drive(ports: Ports, session: string, options: DriveOptions): Promise<DriveEnd> {
  return withSession(ports, session, async () => {
    const driver = await openDriver(ports, session, options);
    const end = await run(driver);
    keep(driver);
    return end;
  });
}

async function run(driver: Driver): Promise<DriveEnd> {
  const { ports, options } = driver;
  const running = new Map<string, Running>();
  const settled: Settled[] = [];
  let ring: (() => void) | null = null;
  const wake = (): void => ring?.();
  let hasNews = true;
  let ended: DriveEnd | null = null;
  let skew = skewOf(ports.clock);
  const detach = new AbortController();
  const letGo = (): void => {
    detach.abort();
    wake();
  };
  if (options.signal?.aborted === true) letGo();
  options.signal?.addEventListener("abort", letGo);

  const start = (effect: Effect): void => {
    const abort = new AbortController();
    running.set(effect.key, { effect, abort });
    runEffect(driver, effect, abort.signal)
      .then(
        (events) => settled.push({ effect, events }),
        (error: unknown) => settled.push({ effect, error }),
      )
      .finally(wake);
  };
  const listen = (): void => {
    ports.wakeups.listen(driver.session, detach.signal).then(() => {
      hasNews = true;
      wake();
      if (!detach.signal.aborted) listen();
    }, wake);
  };

  try {
    await deliver(driver);
    stage(driver, await recover(driver));
    listen();
    for (;;) {
      if (detach.signal.aborted) throw new HoldfastError("stale_driver", "the driver was detached");
      const skewNow = skewOf(ports.clock);
      // The machine slept or its clock was set: that time belongs to nobody, as if another driver had gone on.
      if (driver.head.turn !== null && Math.abs(skewNow - skew) > largestDriftMs) stage(driver, [attached(driver)]);
      skew = skewNow;
      while (settled.length > 0) {
        // What was typed while the conversation was shortened has waited.
        hasNews ||= settled[0]?.effect.type === "compact";
        take(driver, running, settled.shift() as Settled);
      }
      const end = driver.staged.events.find((event) => event.type === "turn.ended");
      // An ended turn is committed and signed before anything of the next one.
      if (end === undefined) {
        let steering: Steering[] = [];
        if (hasNews || atBoundary(driver)) {
          hasNews = false;
          steering = await takeInbox(driver);
        }
        if (isBetweenSteps(driver)) await lookBetweenSteps(driver);
        await close(driver, running, steering);
      }
      await flush(driver);
      if (end?.type === "turn.ended") {
        await deliver(driver);
        const { outcome, isWeak, report, error } = end.payload;
        ended = { standing: outcome, exitStatus: exitStatus(outcome, isWeak), report, error, approvals: [], questions: [] };
      }
      const plan = decide(driver, ports.clock.now());
      // A command that outlived its driver and is no longer wanted is followed just to be ended.
      for (const effect of outliving(driver)) if (!running.has(effect.key)) start(effect);
      reconcile(plan, running, start);
      if (settled.length > 0) continue;
      if (running.size === 0) {
        const rest = atRest(driver, plan, ended);
        if (rest !== null) {
          // After an interrupt the client has the word: text that waits starts a turn when it drives again.
          if (rest.standing === "interrupted") return rest;
          const goesOn = rest.standing === "waiting" ? await hasControl(driver) : (await ports.log.inbox(driver.session)).length > 0;
          if (!goesOn) return rest;
          hasNews = true;
          continue;
        }
      }
      await select(plan);
    }
  } finally {
    detach.abort();
    for (const { abort } of running.values()) abort.abort(new HoldfastError("stale_driver", "the driver stopped"));
  }

  async function select(plan: Plan): Promise<void> {
    const timer = new AbortController();
    await new Promise<void>((resolve) => {
      ring = resolve;
      if (settled.length > 0 || hasNews || detach.signal.aborted) resolve();
      if (plan.wakeAt !== null) void ports.clock.sleep(Math.max(0, plan.wakeAt - ports.clock.now()), timer.signal).then(resolve);
    });
    ring = null;
    timer.abort();
  }
}

function atBoundary(driver: Driver): boolean {
  const { turn } = driver.head;
  return turn === null || (turn.sampling === null && turn.open.length === 0);
}

/** All that a step's calls gave is in, and another step is to follow. */
function isBetweenSteps({ head: { turn, compacting } }: Driver): boolean {
  if (turn === null || turn.step === 0 || turn.sampling !== null || turn.open.length > 0) return false;
  return !turn.saysDone && !turn.isInterrupted && turn.stopping === null && compacting === undefined;
}

/** More than a clock that is kept right is ever corrected by between two looks. */
const largestDriftMs = 2_000;

function skewOf({ now, awake }: Clock): number {
  return awake === undefined ? 0 : now() - awake();
}

/** Takes a settled effect in, if the state still waits for it. */
function take(driver: Driver, running: Map<string, Running>, one: Settled): void {
  running.delete(one.effect.key);
  if ("error" in one) throw one.error;
  if (isAwaited(driver, one.effect)) stage(driver, one.events);
}

function isAwaited({ head: { turn, baseline, compacting } }: Driver, effect: Effect): boolean {
  if (effect.type === "compact") return compacting !== undefined && (turn === null || (turn.sampling === null && turn.open.length === 0));
  if (turn === null) return false;
  switch (effect.type) {
    case "sample":
      return turn.sampling?.id === effect.samplingId && turn.sampling.attempt === effect.attempt;
    case "call":
      return turn.open.some((call) => call.id === effect.callId && call.state === "intended");
    case "baseline":
      return !baseline.isRecorded && baseline.attempt === effect.attempt;
    case "snapshot":
      return !turn.hasSnapshot;
    case "check":
      return turn.step === effect.step && turn.checking?.attempt === effect.attempt && !turn.checking.done.includes(effect.checkId);
    case "sandbox":
      return true;
    case "judge":
      return turn.step === effect.step && turn.checking !== null && turn.judged === null;
    case "output":
      return turn.step === effect.step && turn.output?.step !== effect.step;
    case "end":
      return turn.step === effect.step;
  }
}

/** Lets everything follow that follows without an effect, and makes intents of what may run now. */
async function close(driver: Driver, running: ReadonlyMap<string, Running>, steering: readonly Steering[]): Promise<void> {
  let waiting = steering;
  const costOf = driver.registers.get("settings", "")?.limits.costPerSession == null ? null : await priceOf(driver);
  const compactAt = await compactionMark(driver);
  // One moment for both: an approval that its deadline answers is not refused for it.
  const now = driver.ports.clock.now();
  stage(driver, await answerAtDeadline(driver, now));
  for (;;) {
    const events = advance(driver, {
      now,
      newId: newId(driver),
      isRunning: (prefix) => [...running.keys(), ...outliving(driver).map(({ key }) => key)].some((key) => key.startsWith(`${prefix}:`)),
      steering: waiting.map(({ message }) => message),
      lastAnswer: () => stagedAnswer(driver) ?? finalMessage(driver),
      costOf,
      worstInput: () => worstInputOf(driver),
      compactAt,
    });
    const took = events.filter((event) => event.type === "input.taken").map((event) => event.payload.message.id);
    stage(
      driver,
      events,
      waiting.filter(({ message }) => took.includes(message.id)).map(({ row }) => row),
    );
    waiting = waiting.filter(({ message }) => !took.includes(message.id));
    const intents = await intend(driver, intendable(driver));
    stage(driver, intents);
    if (events.length === 0 && intents.length === 0) return;
  }
}

/** What was said last may be staged, and not yet in the window. */
function stagedAnswer({ staged }: Driver): AssistantMessage | null {
  const settled = staged.events.findLast((event) => event.type === "sampling.settled");
  return settled?.type === "sampling.settled"
    ? (settled.payload.items.findLast((item) => item.kind === "assistant_message") ?? null)
    : null;
}

function outliving({ head: { turn }, attachable }: Driver): Effect[] {
  if (turn === null || !(turn.isInterrupted || turn.stopping !== null)) return [];
  return turn.open.flatMap(({ id, attempt }): Effect[] =>
    attachable.has(id) ? [{ type: "call", key: `call:${id}:${attempt}`, callId: id, attempt }] : [],
  );
}

function reconcile(plan: Plan, running: ReadonlyMap<string, Running>, start: (effect: Effect) => void): void {
  const wanted = new Set(plan.effects.map((effect) => effect.key));
  for (const { effect, abort } of running.values()) if (!wanted.has(effect.key) && !abort.signal.aborted) abort.abort();
  for (const effect of plan.effects) if (!running.has(effect.key) && !waitsForSandbox(plan.need, effect)) start(effect);
}

/** How the session stands when nothing runs and nothing follows; null where it only waits for time or stays to listen. */
function atRest(driver: Driver, plan: Plan, ended: DriveEnd | null): DriveEnd | null {
  if (driver.head.turn === null)
    return ended ?? { standing: "idle", exitStatus: 0, report: null, error: null, approvals: [], questions: [] };
  if (!plan.isWaiting || driver.options.waiting === "stay") return null;
  const approvals = driver.registers.entries("approval").filter(([, register]) => register.status === "open");
  const questions = driver.registers.entries("question").filter(([, register]) => register.status === "open");
  return {
    standing: "waiting",
    exitStatus: exitStatus("waiting"),
    report: null,
    error: null,
    approvals: approvals.map(([, register]) => register.approval),
    questions: questions.map(([, register]) => register.question),
  };
}

async function runEffect(driver: Driver, effect: Effect, signal: AbortSignal): Promise<readonly SessionEvent[]> {
  const at = stopAt("effect", effect.key, [`effect ${effect.type}`]);
  await stop(driver, at("before"));
  const events = await perform(driver, effect, signal);
  await stop(driver, at("after"));
  return events;
}

async function callInside(driver: Driver, callId: string, signal: AbortSignal): Promise<readonly SessionEvent[]> {
  const events = await runCall(driver, callId, signal);
  return driver.hasSandbox === true ? [...events, ...(await lostUnder(driver, events))] : events;
}

function withCheckpoint(event: SessionEvent, checkpoint: Checkpoint): SessionEvent {
  return event.type === "turn.ended" ? { type: event.type, payload: { ...event.payload, checkpoint } } : event;
}

async function perform(driver: Driver, effect: Effect, signal: AbortSignal): Promise<readonly SessionEvent[]> {
  try {
    switch (effect.type) {
      case "sample":
        return await sample(driver, effect, signal);
      case "call":
        return await callInside(driver, effect.callId, signal);
      case "baseline":
        return await takeBaseline(driver, effect.attempt, signal);
      case "snapshot":
        return await takeSnapshot(driver, signal);
      case "check":
        return await runCheck(driver, effect, signal);
      case "sandbox":
        return await tendSandbox(driver, effect.need);
      case "judge":
        return await judgeRound(driver, effect.round, signal);
      case "output":
        return await judgeOutput(driver, effect.step);
      case "compact":
        return await compactWindow(driver, signal);
      case "end": {
        const checkpoint = await driver.ports.checkpoints?.close(driver.session);
        const events = await endTurn(driver);
        return checkpoint == null ? events : events.map((event) => withCheckpoint(event, checkpoint));
      }
    }
  } catch (error) {
    if (effect.type === "end" || effect.type === "call" || isFatal(error)) throw error;
    if (signal.aborted) return [];
    const message = messageOf(error);
    const code = isHoldfastError(error) ? error.code : "internal";
    return [{ type: "turn.stopping", payload: { outcome: "failed", reason: `${effect.type}: ${message}`, error: { code, message } } }];
  }
}
