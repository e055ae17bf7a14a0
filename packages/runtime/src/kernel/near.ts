import type { Limits, Usage } from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol/usage";
import { takenCost, takenTokens, type Budget } from "./limits.ts";
import type { Head, Turn } from "./state.ts";

export interface Near {
  readonly limit: keyof Limits;
  readonly value: number;
  readonly max: number;
  /** For the model: `the steps of this turn (200 of 250 used)`. */
  readonly text: string;
}

/** From here on the turn is warned: part of the limit that is used. */
const nearPart = 0.8;

/**
 * The limits of which little is left and of which the turn was not told yet. Of tokens and money the worst case of the next
 * request counts as used, and that of the one after it where the next comes as they came so far: the turn ends as soon as a
 * worst case no longer fits, which may be long before all is spent. Of what is counted the last one is always told.
 */
export function nearLimits(turn: Turn, budget: Budget): Near[] {
  return usesOf(budget.head, turn, budget.limits, budget.delegated).flatMap((use): Near[] => {
    const { limit, value, max, text } = use;
    if (turn.warned?.includes(limit) === true) return [];
    const isCounted = limit === "stepsPerTurn" || limit === "callsPerTurn";
    if (value >= max) return limit === "callsPerTurn" ? [use] : [];
    if (value >= max * nearPart || (isCounted && value >= max - 1)) return [use];
    const ahead = aheadOf(budget, limit);
    if (ahead === null || (value + ahead.worst < max * nearPart && value + ahead.next + ahead.worst < max)) return [];
    return [{ ...use, text: `${text}; the next request may take ${ahead.write(ahead.worst)}` }];
  });
}

/** What the next request takes as they came so far, and what at worst; null for what no request takes. */
function aheadOf(
  { head, costOf, worstInput }: Budget,
  limit: keyof Limits,
): { readonly next: number; readonly worst: number; readonly write: (value: number) => string } | null {
  const measure = limit === "tokensPerSession" ? uncached : limit === "costPerSession" && costOf !== null ? costOf : null;
  if (measure === null) return null;
  const { inputTokens, cachedInputTokens } = head.usage;
  const cachedPart = inputTokens === 0 ? 0 : cachedInputTokens / inputTokens;
  const cached = Math.floor((head.measured?.tokens ?? 0) * cachedPart);
  const asked = { ...noUsage, inputTokens: worstInput };
  return {
    next: measure({ ...asked, cachedInputTokens: Math.min(cached, worstInput) }),
    worst: measure(asked),
    write: limit === "costPerSession" ? dollars : plain,
  };
}

function uncached({ inputTokens, cachedInputTokens, outputTokens }: Usage): number {
  return inputTokens - cachedInputTokens + outputTokens;
}

const minutes = (ms: number): string => `${Number((ms / 60_000).toFixed(1))}`;
const dollars = (value: number): string => `$${Number(value.toFixed(4))}`;
const plain = (value: number): string => String(value);

/** What is used of each limit; of those of a turn only within one. */
export function usesOf(head: Head, turn: Turn | null, limits: Limits, delegated?: Budget["delegated"]): Near[] {
  const taken = delegated === undefined ? { head } : { head, delegated };
  const all: [keyof Limits, number, number | null, string, (value: number) => string][] = [
    ["stepsPerTurn", turn?.step ?? 0, turn === null ? null : limits.stepsPerTurn, "the steps of this turn", plain],
    ["callsPerTurn", turn?.calls ?? 0, turn === null ? null : limits.callsPerTurn, "the tool calls of this turn", plain],
    ["activeMsPerTurn", turn?.activeMs ?? 0, turn === null ? null : limits.activeMsPerTurn, "the minutes of this turn", minutes],
    ["tokensPerSession", takenTokens(taken), limits.tokensPerSession, "the tokens of this session", plain],
    ["costPerSession", takenCost(taken), limits.costPerSession, "the money of this session", dollars],
  ];
  return all.flatMap(([limit, value, max, name, write]) =>
    max === null ? [] : [{ limit, value, max, text: `${name} (${write(value)} of ${write(max)} used)` }],
  );
}
