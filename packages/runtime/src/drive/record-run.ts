import type { CallOutcome, CallPlan, CheckDefinition, SessionEvent } from "@holdfast/protocol";
import type { Baseline } from "../ports/index.ts";
import type { Driver } from "./driver.ts";

/**
 * Runs a command and, where it is an install or a build that succeeded, records what it made of ignored files (VERIFIED.md,
 * "Inputs"). One that ran beside other commands of the session is not recorded: what it did can't be told from what they
 * did. One that yields is recorded when its end is seen, if nothing ran meanwhile. `plan` is null where the command was begun by another driver, which alone saw what was there before.
 */
export async function recordingRun(
  driver: Driver,
  callId: string,
  plan: CallPlan | null,
  run: () => Promise<CallOutcome>,
): Promise<{ readonly outcome: CallOutcome; readonly events: SessionEvent[] }> {
  driver.yielded = null;
  const baseline = driver.registers.get("baseline", "");
  const isAlone = driver.registers.entries("task").length === 0;
  const looksAgain =
    plan?.command === undefined || plan.cwd === undefined || baseline === null || !isAlone
      ? null
      : await driver.ports.verifier.beforeRun(plan.command, plan.cwd, baseline);
  const needed = await neededNow(driver, plan, baseline);
  const ran = await run();
  const attempt = driver.head.turn?.open.find(({ id }) => id === callId)?.attempt ?? 1;
  const outcome = needed === null || ran.task === undefined ? ran : { ...ran, task: { ...ran.task, needed: { ...needed, attempt } } };
  if (looksAgain !== null && outcome.task !== undefined) driver.yielded = { callId, taskId: outcome.task.id, looksAgain };
  const record = looksAgain === null || outcome.exitCode !== 0 ? null : await looksAgain();
  return { outcome, events: record === null ? [] : [{ type: "run.recorded", payload: { callId, run: record } }] };
}

/** Where a check needs a command of this line: the tree that it is about to begin on. Null where none does. */
async function neededNow(
  { ports, registers }: Driver,
  plan: CallPlan | null,
  baseline: Baseline | null,
): Promise<{ readonly line: string; readonly subject: string | null } | null> {
  const line = plan?.command?.trim();
  const isNeeded = ([, check]: readonly [string, CheckDefinition]): boolean =>
    (check.kind === "command" || check.kind === "tests") && check.needs?.some((need) => need.trim() === line) === true;
  if (line === undefined || !registers.entries("check").some(isNeeded)) return null;
  if (plan?.cwd !== (await ports.files.identify(".")).real) return null;
  return { line, subject: baseline === null ? null : await ports.verifier.subject(baseline).catch(() => null) };
}

/**
 * Runs a call that leaves the workspace to others. Where it sees the end of an install that had yielded, that is recorded;
 * where it may change files itself, the install no longer can be.
 */
export async function seeingEnds(
  driver: Driver,
  plan: CallPlan,
  run: () => Promise<CallOutcome>,
): Promise<{ readonly outcome: CallOutcome; readonly events: SessionEvent[] }> {
  if (plan.changesWorkspace) driver.yielded = null;
  const outcome = await run();
  const { yielded } = driver;
  if (yielded == null || outcome.endedTask !== yielded.taskId) return { outcome, events: [] };
  driver.yielded = null;
  const record = outcome.exitCode === 0 ? await yielded.looksAgain() : null;
  return { outcome, events: record === null ? [] : [{ type: "run.recorded", payload: { callId: yielded.callId, run: record } }] };
}
