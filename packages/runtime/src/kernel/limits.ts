import type { Limits } from "@holdfast/protocol";
import type { Head, Turn } from "./state.ts";

export interface Reached {
  readonly limit: keyof Limits;
  readonly value: number;
  readonly max: number;
  /** For the person: what was reached, and how to go on. */
  readonly reason: string;
}

/** Tokens left for output below which a sampling makes no sense. */
const smallestAnswer = 256;

/** Uncached input plus output, over the whole session. */
export function spentTokens(head: Head): number {
  return head.usage.inputTokens - head.usage.cachedInputTokens + head.usage.outputTokens;
}

/** The worst case of the next request's input: no cache hit, three characters a token, and the fixed parts before the items. */
export function worstInputTokens(head: Head): number {
  return Math.ceil((head.windowChars + 8_000) / 3);
}

/** How many output tokens a sampling may still use, so that the session's cap is never passed. */
export function outputAllowance(head: Head, limits: Limits): number {
  return limits.tokensPerSession - spentTokens(head) - worstInputTokens(head);
}

/** The first limit that forbids another sampling; null where it may go on. */
export function reachedLimit(head: Head, turn: Turn, limits: Limits): Reached | null {
  const reach = (limit: keyof Limits, value: number, max: number, what: string, flag: string): Reached => ({
    limit,
    value,
    max,
    reason: `${what} (${value} of ${max}); raise it with ${flag} and resume`,
  });
  if (turn.step >= limits.stepsPerTurn)
    return reach("stepsPerTurn", turn.step, limits.stepsPerTurn, "the limit of steps a turn", "--max-steps");
  if (turn.calls >= limits.callsPerTurn) {
    return reach("callsPerTurn", turn.calls, limits.callsPerTurn, "the limit of tool calls a turn", "--max-tool-calls");
  }
  if (turn.activeMs >= limits.activeMsPerTurn) {
    return reach("activeMsPerTurn", turn.activeMs, limits.activeMsPerTurn, "the limit of active milliseconds a turn", "--timeout");
  }
  if (turn.repeat.count >= limits.sameCallSameResult) {
    return {
      limit: "sameCallSameResult",
      value: turn.repeat.count,
      max: limits.sameCallSameResult,
      reason: `the same call gave the same result ${turn.repeat.count} times in a row`,
    };
  }
  if (outputAllowance(head, limits) < smallestAnswer) {
    return reach(
      "tokensPerSession",
      spentTokens(head),
      limits.tokensPerSession,
      "the session's limit of tokens, the next request's worst case counted",
      "--max-tokens",
    );
  }
  if (limits.costPerSession !== null && head.cost === null && head.usage.outputTokens > 0) {
    const reason = "the model's cost is unknown, so the limit of cost can't be held; resume without --max-cost";
    return { limit: "costPerSession", value: 0, max: limits.costPerSession, reason };
  }
  if (limits.costPerSession !== null && head.cost !== null && head.cost >= limits.costPerSession) {
    return reach("costPerSession", head.cost, limits.costPerSession, "the session's limit of cost in dollars", "--max-cost");
  }
  return null;
}
