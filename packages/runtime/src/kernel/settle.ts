import type { CallOutcome, CallStatus, Judgement, SessionEvent } from "@holdfast/protocol";

/** The settlement of a call: what the tool brought back, as the model will read it. */
export function settled(
  callId: string,
  outcome: CallOutcome,
  judgement: Judgement | null,
  newId: (prefix: string) => string,
): SessionEvent {
  const { status, text, trust, output, images, tools } = outcome;
  const told = judgement === null ? text : `${text}${wordsOf(judgement)}`;
  const result = {
    kind: "tool_result" as const,
    id: newId("itm"),
    callId,
    status,
    text: told,
    trust,
    ...(images === undefined ? {} : { images }),
    ...(output === undefined ? {} : { output }),
    ...(tools === undefined ? {} : { tools }),
  };
  return { type: "call.settled", payload: { callId, outcome, result, judgement } };
}

/** The settlement of a call that no tool carried out. */
export function settledWithout(callId: string, status: CallStatus, text: string, newId: (prefix: string) => string): SessionEvent {
  return settled(callId, { status, text, trust: "system" }, null, newId);
}

/** What a call ends as that may have happened. */
export function inDoubt(why: string, look: string): CallOutcome {
  return {
    status: "in_doubt",
    text: `This call may have happened: its end was not seen (${why}). Before you do anything that depends on it, look at ${look}. Don't just repeat it.`,
    trust: "system",
  };
}

/** Expected and observed side by side, where they differ or where what was expected says nothing. */
function wordsOf({ verdict, cause, expected, observed, isTrivial }: Judgement): string {
  if (verdict === "unmet")
    return `\nExpected ${expected}; observed ${observed}${cause === undefined ? "" : ` (${cause.replace("_", " ")})`}.`;
  return isTrivial === true ? "\nWhat was expected would have come whatever happened: it shows nothing." : "";
}
