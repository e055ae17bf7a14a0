import type { StoredEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { stepsOf } from "./journal.ts";

/** How a place in a session is written: a step as TURN.STEP, a turn as TURN., or the number of an event. */
export const pointForm = /^(?:[1-9]\d{0,8}\.(?:[1-9]\d{0,8})?|[1-9]\d{0,14})$/;

/**
 * The first event that is no longer before that place: a step's own, or the one after the event that is named. Throws `usage`
 * where the session has no such step or event.
 */
export function eventAt(events: readonly StoredEvent[], session: string, point: string): number {
  if (!point.includes(".")) {
    const last = events.at(-1)?.seq ?? 0;
    if (Number(point) <= last) return Number(point) + 1;
    throw new HoldfastError("usage", `session ${session} has no event ${point}`, { hint: `its last is ${last}` });
  }
  const [turn = 0, step = 0] = point.split(".").map(Number);
  const steps = stepsOf(events);
  const found = steps.find((one) => one.turn === turn && one.step === step);
  if (found !== undefined) return found.seq;
  const last = steps.at(-1);
  throw new HoldfastError("usage", `session ${session} has no step ${point}`, {
    hint:
      last === undefined
        ? "nothing has happened in it yet"
        : `its last is ${last.turn}.${last.step}; holdfast undo --steps lists those that changed files`,
  });
}
