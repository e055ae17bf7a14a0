import type { SessionEvent } from "@holdfast/protocol";
import { inDoubt, settledWithout } from "../kernel/settle.ts";
import type { OpenCall } from "../kernel/state.ts";
import type { ProbeFinding } from "../ports/index.ts";
import { intended, probe, reconcile, registerOf, settle, take } from "./call.ts";
import type { Driver } from "./driver.ts";
import { newId } from "./driver.ts";
import { callContext } from "./gate.ts";
import { estimate, priceOf } from "./sample.ts";
import { baselineRuns } from "./verify.ts";

const nothingDone = "The turn ended before this call ran. Nothing was done.";

/**
 * What a new driver finds of a turn that another process left open: each effect with an intent and no settlement is
 * settled, followed or run again, by its class. Nothing is silently repeated, nothing is called "not run" unproven.
 */
export async function recover(driver: Driver): Promise<SessionEvent[]> {
  const { turn, baseline } = driver.head;
  if (turn === null) return [];
  const now = driver.ports.clock.now();
  const events: SessionEvent[] = [attached(driver)];
  const { sampling, checking } = turn;
  if (sampling !== null && sampling.retryAt === null && !turn.isInterrupted) {
    const error = {
      class: "network" as const,
      message: "the process that waited for this answer ended",
      status: null,
      code: null,
      retryAfterMs: null,
    };
    const { id: samplingId, attempt } = sampling;
    const usage = estimate(driver);
    const cost = (await priceOf(driver))?.(usage) ?? null;
    events.push({ type: "sampling.failed", payload: { samplingId, attempt, error, retracted: "", usage, cost, retryAt: now } });
  }
  const { processes } = driver.ports;
  // A check that outlived its driver is run anew, never beside itself.
  if (baseline.attempt > 0 && !baseline.isRecorded) await processes.endRuns(driver.session, baselineRuns);
  if (checking !== null && turn.judged === null) await processes.endRuns(driver.session, `${turn.id}.`);
  if (baseline.attempt > 0 && !baseline.isRecorded) events.push({ type: "baseline.started", payload: { attempt: baseline.attempt + 1 } });
  if (checking !== null && turn.judged === null) {
    events.push({ type: "checks.started", payload: { round: checking.round, attempt: checking.attempt + 1 } });
  }
  for (const call of turn.open) if (call.state === "intended") events.push(...(await recoverCall(driver, call)));
  return events;
}

export function attached(driver: Driver): SessionEvent {
  return { type: "driver.attached", payload: { owner: driver.ports.processes.owner.label } };
}

async function recoverCall(driver: Driver, { id, name, attempt, isUncertain }: OpenCall): Promise<SessionEvent[]> {
  if (driver.ports.tools.get(name) === null) {
    const outcome = inDoubt(`the tool ${name} is not available any more, and only it could tell`, "what the call was to change");
    return settle(driver, registerOf(driver, id), id, outcome);
  }
  const { register, tool, intent } = intended(driver, id);
  const isEnding = driver.head.turn?.isInterrupted === true || driver.head.turn?.stopping != null;
  const finding = await find();
  // The target answers a repeated key from its record.
  if (finding.type === "unknown" && register.plan.replay === "keyed" && !isEnding) {
    return [{ type: "call.recovered", payload: { callId: id, finding: "unanswered", attempt: attempt + 1 } }];
  }
  const recovered = (next: number): SessionEvent => ({
    type: "call.recovered",
    payload: { callId: id, finding: finding.type === "resume" ? "not_happened" : finding.type, attempt: next },
  });
  switch (finding.type) {
    case "happened":
      return [recovered(attempt), ...(await settle(driver, register, id, finding.outcome))];
    case "not_happened":
      return isEnding ? [recovered(attempt), settledWithout(id, "interrupted", nothingDone, newId(driver))] : [recovered(attempt + 1)];
    case "resume": {
      if (!isEnding) return [recovered(attempt + 1)];
      // Half of an edit is worse than all of it: it is completed even where the turn is about to end.
      const context = callContext(driver, id, register.scope);
      const outcome = await tool.run({ ...intent, attempt: attempt + 1 }, context, new AbortController().signal);
      return [recovered(attempt + 1), ...(await settle(driver, register, id, outcome))];
    }
    case "running":
      driver.attachable.add(id);
      return [recovered(attempt)];
    case "unknown":
      return [recovered(attempt), ...(await settle(driver, register, id, inDoubt("Holdfast was ended while it ran", finding.look)))];
  }

  async function find(): Promise<ProbeFinding> {
    switch (register.plan.replay) {
      case "safe": {
        // Where it can be asked, a long read that still runs is followed instead of run twice.
        const found = tool.probe === undefined ? null : await probe(driver, tool, intent, id);
        return found === null || found.type === "unknown" ? { type: "not_happened" } : found;
      }
      case "keyed":
      case "probe":
        return probe(driver, tool, intent, id);
      case "never": {
        // Whoever takes the claim first decides: taken now, a frozen driver that thaws is refused.
        const wasUntaken = await take(driver, id, attempt, "revoked");
        return wasUntaken && !isUncertain ? { type: "not_happened" } : reconcile(driver, tool, intent, id);
      }
    }
  }
}
