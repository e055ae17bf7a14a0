import type { CallOutcome, CallPlan, Checkpoint, SessionEvent } from "@holdfast/protocol";
import { changeOf } from "../tree-change.ts";
import type { CallRegister } from "../kernel/state.ts";
import { type Driver, settingsOf } from "./driver.ts";

/** True for a call that may change anything in the workspace. An edit keeps what it changes by itself. */
export function mayChangeAnything(plan: CallPlan): boolean {
  return plan.changesWorkspace && (plan.command !== undefined || plan.typed !== undefined || plan.mcp !== undefined);
}

/**
 * The intents with what the workspace is before them, which becomes durable with them. What is looked at meanwhile is the
 * work of the call before, so an edit waits until that look is done.
 */
export async function withCheckpoint(driver: Driver, events: readonly SessionEvent[]): Promise<SessionEvent[]> {
  const { checkpoints } = driver.ports;
  const manifest = driver.registers.get("snapshot", "")?.manifest ?? null;
  if (checkpoints === undefined || manifest === null) return [...events];
  const planOf = (event: SessionEvent): CallPlan | null =>
    event.type === "call.intended" ? (driver.registers.get("call", event.payload.callId)?.plan ?? null) : null;
  const plans = events.flatMap((event) => planOf(event) ?? []);
  const bold = plans.filter(mayChangeAnything);
  if (bold.length === 0) {
    if (plans.some((plan) => plan.changesWorkspace)) await checkpoints.ready();
    return [...events];
  }
  const commands = bold.flatMap(({ command, typed }) => command ?? typed?.text ?? []);
  const checkpoint: Checkpoint = await checkpoints.take({ session: driver.session, commands, manifest });
  let isFirst = true;
  return events.map((event) => {
    const plan = planOf(event);
    if (event.type !== "call.intended" || !isFirst || plan === null || !mayChangeAnything(plan)) return event;
    isFirst = false;
    return { type: event.type, payload: { ...event.payload, checkpoint } };
  });
}

/** Tells what a call has done to whom it may concern: at once, and without waiting for anything. */
export function afterCall(driver: Driver, { plan, scope }: CallRegister, outcome: CallOutcome | null): void {
  const { ports, session } = driver;
  const { checkpoints } = ports;
  const isConfined = (plan.command ?? plan.typed) !== undefined && settingsOf(driver).sandbox === "workspace-write";
  if (checkpoints === undefined) return;
  if (mayChangeAnything(plan)) checkpoints.ended(session, isConfined ? (scope.writable ?? []) : null);
  else if (outcome?.changed !== undefined) checkpoints.changed(session, outcome.changed.map(changeOf));
}
