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

/** What the limits of tokens and money are held against. */
export interface Budget {
  readonly head: Head;
  readonly limits: Limits;
  readonly costOf: CostOf | null;
  /** The worst case of the next request's input, tokens. */
  readonly worstInput: number;
  /** What sessions below this one were given: it is theirs. */
  readonly delegated?: { readonly tokens: number; readonly cost: number };
}

/** Tokens that are spent or given away. */
export function takenTokens({ head, delegated }: Pick<Budget, "head" | "delegated">): number {
  return spentTokens(head) + (delegated?.tokens ?? 0);
}

/** US dollars that are spent or given away. */
export function takenCost({ head, delegated }: Pick<Budget, "head" | "delegated">): number {
  return (head.cost ?? 0) + (delegated?.cost ?? 0);
}

/** How many output tokens a sampling may still use, so that neither of the session's caps is passed. */
export function outputAllowance(budget: Budget): number {
  return Math.min(remainingTokens(budget), affordableOutput(budget));
}

function remainingTokens(budget: Budget): number {
  return budget.limits.tokensPerSession - takenTokens(budget) - budget.worstInput;
}

/** What is left of the money once the worst case of the next request's input is paid, in output tokens. */
function affordableOutput(budget: Budget): number {
  const { limits, costOf, worstInput } = budget;
  if (limits.costPerSession === null || costOf === null) return Infinity;
  const worst = (outputTokens: number): number => costOf({ ...noUsage, inputTokens: worstInput, outputTokens });
  const left = limits.costPerSession - takenCost(budget) - worst(0);
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
  return contextWindow === null ? Infinity : Math.max(smallestRoom, contextWindow - likelyMost(head));
}

/** No worst case: an answer is not to be cut short for a text that hardly ever comes. */
function likelyMost({ measured, windowChars }: Head): number {
  return measured === undefined ? Math.ceil((windowChars + 8_000) / 2) : measured.tokens + Math.max(0, windowChars - measured.chars);
}

/** The first limit that forbids another step; null where it may go on. */
export function reachedLimit(turn: Turn, budget: Budget): Reached | null {
  const { limits } = budget;
  if (turn.step >= limits.stepsPerTurn)
    return reach("stepsPerTurn", turn.step, limits.stepsPerTurn, "the limit of steps a turn", "--max-steps");
  // Where one answer took the last of them, another one without a call says what was done and what remains.
  if (turn.calls >= limits.callsPerTurn && turn.warned?.includes("callsPerTurn") === true) {
    return reach("callsPerTurn", turn.calls, limits.callsPerTurn, "the limit of tool calls a turn", "--max-tool-calls");
  }
  if (turn.activeMs >= limits.activeMsPerTurn) {
    return reach("activeMsPerTurn", turn.activeMs, limits.activeMsPerTurn, "the limit of active milliseconds a turn", "--timeout");
  }
  const loop = loopOf(turn.repeats ?? noRepeats, limits.sameCallSameResult);
  if (loop?.isReached === true) return { limit: loop.limit, value: loop.value, max: loop.max, reason: describeLoop(loop) };
  return reachedBudget(budget);
}

/** The cap on money or tokens that forbids another request, a retry included; null where it may go on. */
export function reachedBudget(budget: Budget): Reached | null {
  return reachedCost(budget) ?? reachedTokens(budget);
}

function reach(limit: keyof Limits, value: number, max: number, what: string, flag: string): Reached {
  return { limit, value, max, reason: `${what} (${value} of ${max}); raise it with ${flag} and resume` };
}

function reachedTokens(budget: Budget): Reached | null {
  if (remainingTokens(budget) >= smallestAnswer) return null;
  const what = `the session's limit of tokens, the next request's worst case of ${budget.worstInput} counted`;
  return reach("tokensPerSession", takenTokens(budget), budget.limits.tokensPerSession, what, "--max-tokens");
}

/**
 * A limit of cost that a person set ends the turn where the cost can't be told, instead of being ignored. The one that holds
 * by itself limits what is known.
 */
function reachedCost(budget: Budget): Reached | null {
  const { head, limits } = budget;
  const max = limits.costPerSession;
  if (max === null) return null;
  const spent = Number(takenCost(budget).toFixed(6));
  if (limits.allowsUnknownCost !== true && (head.hasUnknownCost === true || (head.cost === null && head.usage.outputTokens > 0))) {
    const from = limits.costFrom === undefined ? "" : ` (set by ${limits.costFrom})`;
    const reason = `the model's cost is unknown, so the limit of cost can't be held${from}; resume with --limits default to go on without it`;
    return { limit: "costPerSession", value: spent, max, reason };
  }
  if (spent < max && affordableOutput(budget) >= smallestAnswer) return null;
  const what = "the session's limit of cost in dollars, the next request's worst case counted";
  return reach("costPerSession", spent, max, what, "--max-cost");
}
