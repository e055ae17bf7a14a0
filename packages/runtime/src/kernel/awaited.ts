import type { SessionEvent } from "@holdfast/protocol";
import type { State, Turn } from "./state.ts";

/**
 * Why an event can't follow in this state; null where it can. What settles must have been in flight, what begins must have
 * been due: the counterpart of `decide` for whoever reads a log.
 */
export function contradiction({ head }: State, event: SessionEvent): string | null {
  const { turn, baseline } = head;
  switch (event.type) {
    case "turn.started":
      return turn === null ? null : `turn ${turn.id} is still open`;
    case "baseline.recorded":
      return baseline.attempt > 0 && !baseline.isRecorded ? null : "no baseline was being taken";
    default:
      return turn === null ? (withinTurn.has(event.type) ? "no turn is open" : null) : contradictionIn(turn, event);
  }
}

const withinTurn: ReadonlySet<string> = new Set<SessionEvent["type"]>([
  "input.taken",
  "sampling.intended",
  "sampling.failed",
  "sampling.settled",
  "sampling.abandoned",
  "call.decided",
  "call.intended",
  "call.recovered",
  "call.settled",
  "approval.requested",
  "question.asked",
  "snapshot.recorded",
  "check.completed",
  "round.judged",
  "turn.stopping",
  "turn.ended",
]);

function contradictionIn(turn: Turn, event: SessionEvent): string | null {
  const { sampling, open } = turn;
  switch (event.type) {
    case "sampling.intended":
      if (sampling !== null || open.length > 0) return "the step before it is not over";
      return event.payload.step === turn.step + 1 ? null : `step ${turn.step + 1} was next`;
    case "sampling.failed":
      if (sampling?.id === event.payload.samplingId && sampling.attempt === event.payload.attempt) return null;
      return `sampling ${event.payload.samplingId}, attempt ${event.payload.attempt}, was not in flight`;
    case "sampling.settled":
    case "sampling.abandoned":
      return sampling?.id === event.payload.samplingId ? null : `sampling ${event.payload.samplingId} was not in flight`;
    case "call.decided":
    case "call.intended":
    case "call.recovered":
    case "call.settled":
      return open.some(({ id }) => id === event.payload.callId) ? null : `call ${event.payload.callId} was not open`;
    case "approval.requested":
      return open.some(({ id }) => id === event.payload.approval.callId) ? null : `call ${event.payload.approval.callId} was not open`;
    case "question.asked":
      if (event.payload.question.plan !== undefined) return turn.saysDone ? null : "no plan was due";
      return open.some(({ id }) => id === event.payload.question.callId) ? null : `call ${event.payload.question.callId} was not open`;
    case "snapshot.recorded":
      return turn.id === event.payload.turnId && !turn.hasSnapshot ? null : "no look at the workspace was due";
    case "check.completed":
    case "round.judged":
      return turn.checking === null ? "no round of checks was open" : null;
    case "window.compacted":
      return sampling === null && open.length === 0 ? null : "something was still in flight";
    case "turn.ended":
      if (turn.id !== event.payload.turnId) return `turn ${turn.id} was open`;
      return sampling === null && open.length === 0 ? null : "something was still in flight";
    default:
      return null;
  }
}
