import type { CallOutcome, CallPlan, Checkpoint, SessionEvent } from "@holdfast/protocol";
import { changeOf } from "../tree-change.ts";
import type { CallRegister } from "../kernel/state.ts";
import { type Driver, settingsOf } from "./driver.ts";
import { isWorkspaceHeld } from "./workspace-lock.ts";

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
  // Whoever has the workspace goes on changing it after the look.
  if (await isWorkspaceHeld(driver)) for (const event of events) if (event.type === "call.intended") driver.early.add(event.payload.callId);
  const checkpoint: Checkpoint = await checkpoints.take({ session: driver.session, commands, manifest });
  let isFirst = true;
  return events.map((event) => {
    const plan = planOf(event);
    if (event.type !== "call.intended" || !isFirst || plan === null || !mayChangeAnything(plan)) return event;
    isFirst = false;
    return { type: event.type, payload: { ...event.payload, checkpoint } };
  });
}

/**
 * To be said when a call has the workspace, and when it ends without having run. Looks again only where somebody else had it
 * since the call's checkpoint: what was changed until then is theirs.
 */
export async function beforeCall(driver: Driver, callId: string, { plan }: CallRegister, hasWaited: boolean): Promise<void> {
  const isEarly = driver.early.delete(callId) || hasWaited;
  if (isEarly && mayChangeAnything(plan)) await driver.ports.checkpoints?.begun(driver.session);
}

/** Tells what a call has done to whom it may concern: at once, and without waiting for anything. */
export function afterCall(driver: Driver, { plan, scope }: CallRegister, outcome: CallOutcome | null): void {
  const { ports, session } = driver;
  const { checkpoints } = ports;
  const isConfined = (plan.command ?? plan.typed) !== undefined && settingsOf(driver).sandbox === "workspace-write";
  if (checkpoints === undefined) return;
  if (mayChangeAnything(plan)) checkpoints.ended(session, isConfined ? (scope.writable ?? []) : null);
  // An edit that failed on the way may have changed files all the same.
  else if (plan.changesWorkspace) checkpoints.changed(session, (outcome?.changed ?? []).map(changeOf));
}
