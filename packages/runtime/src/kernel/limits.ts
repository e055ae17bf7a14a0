import type { Limits, Usage } from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol/usage";
import { describeLoop, loopOf, noRepeats, type Loop } from "./repeats.ts";
import type { Head, Turn } from "./state.ts";

export interface Reached {
  readonly limit: keyof Limits | Loop["limit"];
  readonly value: number;
  readonly max: number;
  /** For the person: what was reached, and how to go on. */
  readonly reason: string;
}

/** US dollars of a sampling; grows with each count of the usage. */
export type CostOf = (usage: Usage) => number;

/** Tokens left for output below which a sampling makes no sense. */
const smallestAnswer = 256;

/** Uncached input plus output, over the whole session. */
export function spentTokens(head: Head): number {
  return head.usage.inputTokens - head.usage.cachedInputTokens + head.usage.outputTokens;
}

/**
 * The worst case of the next request's input, without a cache hit. The last request was counted by the provider; what came
 * since has at most a token a character. Before the first: two characters a token, and the fixed parts before the items.
 */
export function worstInputTokens({ measured, windowChars }: Head): number {
  if (measured === undefined) return Math.ceil((windowChars + 8_000) / 2);
  return measured.tokens + Math.max(0, windowChars - measured.chars);
}

/** How many output tokens a sampling may still use, so that neither of the session's caps is passed. */
export function outputAllowance(head: Head, limits: Limits, costOf: CostOf | null): number {
  return Math.min(remainingTokens(head, limits), affordableOutput(head, limits, costOf));
}

function remainingTokens(head: Head, limits: Limits): number {
  return limits.tokensPerSession - spentTokens(head) - worstInputTokens(head);
}

/** What is left of the money once the worst case of the next request's input is paid, in output tokens. */
function affordableOutput(head: Head, limits: Limits, costOf: CostOf | null): number {
  if (limits.costPerSession === null || costOf === null) return Infinity;
  const worst = (outputTokens: number): number => costOf({ ...noUsage, inputTokens: worstInputTokens(head), outputTokens });
  const left = limits.costPerSession - (head.cost ?? 0) - worst(0);
  const each = (worst(1_000_000) - worst(0)) / 1_000_000;
  // One token less, as sums of fractions are rounded.
  return left < 0 ? 0 : each > 0 ? Math.max(0, Math.floor(left / each) - 1) : Infinity;
}

/** An answer shorter than this is worth no request. The input's worst case is seldom met, so there may still be room for it. */
const smallestRoom = 1_024;

/**
 * How many output tokens fit into the model's window beside the request: providers count both against it, and refuse a
 * request that reserves more. Infinite where the window is not known.
 */
export function outputRoom(head: Head, contextWindow: number | null): number {
  return contextWindow === null ? Infinity : Math.max(smallestRoom, contextWindow - worstInputTokens(head));
}

/** The first limit that forbids another step; null where it may go on. */
export function reachedLimit(head: Head, turn: Turn, limits: Limits, costOf: CostOf | null): Reached | null {
  if (turn.step >= limits.stepsPerTurn)
    return reach("stepsPerTurn", turn.step, limits.stepsPerTurn, "the limit of steps a turn", "--max-steps");
  if (turn.calls >= limits.callsPerTurn) {
    return reach("callsPerTurn", turn.calls, limits.callsPerTurn, "the limit of tool calls a turn", "--max-tool-calls");
  }
  if (turn.activeMs >= limits.activeMsPerTurn) {
    return reach("activeMsPerTurn", turn.activeMs, limits.activeMsPerTurn, "the limit of active milliseconds a turn", "--timeout");
  }
  const loop = loopOf(turn.repeats ?? noRepeats, limits.sameCallSameResult);
  if (loop?.isReached === true) return { limit: loop.limit, value: loop.value, max: loop.max, reason: describeLoop(loop) };
  return reachedBudget(head, limits, costOf);
}

/** The cap on money or tokens that forbids another request, a retry included; null where it may go on. */
export function reachedBudget(head: Head, limits: Limits, costOf: CostOf | null): Reached | null {
  return reachedCost(head, limits, costOf) ?? reachedTokens(head, limits);
}

function reach(limit: keyof Limits, value: number, max: number, what: string, flag: string): Reached {
  return { limit, value, max, reason: `${what} (${value} of ${max}); raise it with ${flag} and resume` };
}

function reachedTokens(head: Head, limits: Limits): Reached | null {
  if (remainingTokens(head, limits) >= smallestAnswer) return null;
  const what = "the session's limit of tokens, the next request's worst case counted";
  return reach("tokensPerSession", spentTokens(head), limits.tokensPerSession, what, "--max-tokens");
}

/**
 * A limit of cost that a person set ends the turn where the cost can't be told, instead of being ignored. The one that holds
 * by itself limits what is known.
 */
function reachedCost(head: Head, limits: Limits, costOf: CostOf | null): Reached | null {
  const max = limits.costPerSession;
  if (max === null) return null;
  const spent = Number((head.cost ?? 0).toFixed(6));
  if (limits.allowsUnknownCost !== true && (head.hasUnknownCost === true || (head.cost === null && head.usage.outputTokens > 0))) {
    const from = limits.costFrom === undefined ? "" : ` (set by ${limits.costFrom})`;
    const reason = `the model's cost is unknown, so the limit of cost can't be held${from}; resume with --limits default to go on without it`;
    return { limit: "costPerSession", value: spent, max, reason };
  }
  if (spent < max && affordableOutput(head, limits, costOf) >= smallestAnswer) return null;
  const what = "the session's limit of cost in dollars, the next request's worst case counted";
  return reach("costPerSession", spent, max, what, "--max-cost");
}
