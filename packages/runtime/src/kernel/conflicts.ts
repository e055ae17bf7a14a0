import type { CallPlan } from "@holdfast/protocol";
import { runnableChecks } from "./active-checks.ts";
import { isWaiting } from "./waiting.ts";
import type { OpenCall, State, Turn } from "./state.ts";

/** Calls that may run at the same time, whatever the model proposes. */
const mostParallel = 16;

function conflicts(a: CallPlan, b: CallPlan): boolean {
  if (a.workspace === "exclusive" && b.workspace !== "none") return true;
  if (b.workspace === "exclusive" && a.workspace !== "none") return true;
  const overlaps = (writes: readonly string[], touched: readonly string[]): boolean =>
    writes.some((resource) => touched.includes(resource));
  return overlaps(a.writes, [...b.reads, ...b.writes]) || overlaps(b.writes, a.reads);
}

/** True once the workspace as it was is on record, so that an effect may change it. */
export function mayChangeWorkspace({ head, registers }: State, turn: Turn): boolean {
  return turn.hasSnapshot && (head.baseline.isRecorded || runnableChecks(head, registers).length === 0);
}

/** Ready calls that nothing open before them conflicts with: their intents can be made durable now. */
export function intendable(state: State): OpenCall[] {
  const turn = state.head.turn;
  if (turn === null || turn.isInterrupted || turn.stopping !== null || isWaiting(turn)) return [];
  const running = turn.open.filter((call) => call.state === "intended").length;
  const before: CallPlan[] = [];
  const found: OpenCall[] = [];
  for (const call of turn.open) {
    const plan = state.registers.get("call", call.id)?.plan;
    if (plan === undefined) continue;
    const isFree = !before.some((earlier) => conflicts(earlier, plan)) && (!plan.changesWorkspace || mayChangeWorkspace(state, turn));
    // A question is put to a person; there is nothing to run.
    const isRun = call.state === "ready" && plan.question === undefined;
    if (isRun && isFree && running + found.length < mostParallel) found.push(call);
    before.push(plan);
  }
  return found;
}

/** True where a ready call waits for the turn's first look at the workspace. */
export function wantsSnapshot(state: State, turn: Turn): boolean {
  return (
    !turn.hasSnapshot &&
    turn.open.some((call) => call.state === "ready" && state.registers.get("call", call.id)?.plan.changesWorkspace === true)
  );
}
