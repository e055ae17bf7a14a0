import type { Turn } from "./state.ts";

/** True while nothing but approvals and questions is open. */
export function isWaiting(turn: Turn): boolean {
  if (turn.isInterrupted || turn.stopping !== null) return false;
  return turn.open.length > 0 ? turn.open.every((call) => call.state === "waiting") : hasOpenPlan(turn);
}

/** True while a person is asked whether a plan is accepted. */
export function hasOpenPlan(turn: Turn): boolean {
  return turn.proposed?.isOpen === true;
}
