import type { Outcome, SessionEvent } from "@holdfast/protocol";

/** A row of the outbox. */
export interface Message {
  readonly messageId: string;
  readonly to: string;
  readonly body: string;
}

/** Who is told that a turn has ended: the hooks of `stop`. */
export const stopHooks = "hooks:stop";

/** The body of such a message. The text of the conversation stays in the event, where it can be erased. */
export interface StopBody {
  readonly seq: number;
  readonly outcome: Outcome;
}

/** What others must be told of an event, once it is durable. `isHeard`: there are hooks of `stop`. */
export function messagesFor(event: SessionEvent, seq: number, isHeard: () => boolean): Message[] {
  if (event.type !== "turn.ended" || !isHeard()) return [];
  const { turnId, outcome } = event.payload;
  const body: StopBody = { seq, outcome };
  return [{ messageId: turnId, to: stopHooks, body: JSON.stringify(body) }];
}
