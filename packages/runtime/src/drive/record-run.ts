import type { CallOutcome, CallPlan, SessionEvent } from "@holdfast/protocol";
import type { Driver } from "./driver.ts";

/**
 * Runs a command and, where it is an install or a build that succeeded, records what it made of ignored files (VERIFIED.md,
 * "Inputs"). One that ran beside other commands of the session, or yielded, is not recorded: what it did can't be told
 * from what they did. `plan` is null where the command was begun by another driver, which alone saw what was there before.
 */
export async function recordingRun(
  driver: Driver,
  callId: string,
  plan: CallPlan | null,
  run: () => Promise<CallOutcome>,
): Promise<{ readonly outcome: CallOutcome; readonly events: SessionEvent[] }> {
  const baseline = driver.registers.get("baseline", "");
  const isAlone = driver.registers.entries("task").length === 0;
  const looksAgain =
    plan?.command === undefined || plan.cwd === undefined || baseline === null || !isAlone
      ? null
      : await driver.ports.verifier.beforeRun(plan.command, plan.cwd, baseline);
  const outcome = await run();
  const record = looksAgain === null || outcome.exitCode !== 0 ? null : await looksAgain();
  return { outcome, events: record === null ? [] : [{ type: "run.recorded", payload: { callId, run: record } }] };
}
