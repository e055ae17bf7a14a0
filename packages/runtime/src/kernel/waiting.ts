import type { Turn } from "./state.ts";

/** True while nothing but approvals and questions is open. */
export function isWaiting(turn: Turn): boolean {
  return turn.open.length > 0 && turn.open.every((call) => call.state === "waiting") && !turn.isInterrupted && turn.stopping === null;
}
