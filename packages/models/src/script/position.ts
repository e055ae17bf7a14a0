import type { Item } from "@holdfast/protocol";
import type { Script, ScriptStep } from "./script.ts";

/**
 * How many answers of a model the items hold, so that a session goes on at the right step in another process too. The
 * items of one answer stand together in the order reasoning, message, calls; a new answer begins behind anything else,
 * and where that order starts again. An answer without items can't be seen and counts for nothing.
 */
export function countAnswers(items: readonly Item[]): number {
  let count = 0;
  let last = -1;
  for (const item of items) {
    const rank = ranks[item.kind];
    if (rank >= 0 && (last < 0 || rank < last || (rank === last && item.kind !== "tool_call"))) count += 1;
    last = rank;
  }
  return count;
}

const ranks: Readonly<Record<Item["kind"], number>> = {
  reasoning: 0,
  assistant_message: 1,
  tool_call: 2,
  user_message: -1,
  tool_result: -1,
  notice: -1,
};

export interface Position {
  readonly step: ScriptStep;
  /** From 0. */
  readonly at: number;
}

/**
 * The step that follows `answers` answers. A step that fails leaves no answer behind, so `failures` (how many requests
 * failed at this very place) says which of the failing steps before the next answering one is due. Null past the end.
 */
export function stepAt(script: Script, answers: number, failures: number): Position | null {
  let answersLeft = answers;
  let failuresLeft = failures;
  for (const [at, step] of script.steps.entries()) {
    const times = step.repeat ?? 1;
    if (leavesAnswer(step)) {
      if (answersLeft < times) return { step, at };
      answersLeft -= times;
    } else if (answersLeft === 0) {
      if (failuresLeft < times) return { step, at };
      failuresLeft -= times;
    }
  }
  return null;
}

/** Whether the session's items will show that the step was taken. */
function leavesAnswer(step: ScriptStep): boolean {
  if (step.fail !== undefined) return false;
  return Boolean(step.text) || Boolean(step.reasoning) || (step.calls?.length ?? 0) > 0;
}
