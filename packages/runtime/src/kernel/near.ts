import type { Limits } from "@holdfast/protocol";
import { spentTokens, worstInputTokens } from "./limits.ts";
import type { Head, Turn } from "./state.ts";

export interface Near {
  readonly limit: keyof Limits;
  readonly value: number;
  readonly max: number;
  /** For the model, as it follows "little is left of": `the steps of this turn (200 of 250 used)`. */
  readonly text: string;
}

/** From here on the turn is warned: part of the limit that is used. */
const nearPart = 0.8;

/**
 * The limits of which little is left and of which the turn was not told yet. Of tokens the worst case of the next request
 * counts as used: the turn ends as soon as that no longer fits, which may be long before they are spent.
 */
export function nearLimits(head: Head, turn: Turn, limits: Limits): Near[] {
  const setAside = (limit: keyof Limits): number => (limit === "tokensPerSession" ? worstInputTokens(head) : 0);
  return usesOf(head, turn, limits).filter(
    ({ limit, value, max }) => value + setAside(limit) >= max * nearPart && value < max && turn.warned?.includes(limit) !== true,
  );
}

/** What is used of each limit; of those of a turn only within one. */
export function usesOf(head: Head, turn: Turn | null, limits: Limits): Near[] {
  const minutes = (ms: number): string => `${Number((ms / 60_000).toFixed(1))}`;
  const dollars = (value: number): string => `$${Number(value.toFixed(4))}`;
  const plain = (value: number): string => String(value);
  const all: [keyof Limits, number, number | null, string, (value: number) => string][] = [
    ["stepsPerTurn", turn?.step ?? 0, turn === null ? null : limits.stepsPerTurn, "the steps of this turn", plain],
    ["callsPerTurn", turn?.calls ?? 0, turn === null ? null : limits.callsPerTurn, "the tool calls of this turn", plain],
    ["activeMsPerTurn", turn?.activeMs ?? 0, turn === null ? null : limits.activeMsPerTurn, "the minutes of this turn", minutes],
    ["tokensPerSession", spentTokens(head), limits.tokensPerSession, "the tokens of this session", plain],
    ["costPerSession", head.cost ?? 0, limits.costPerSession, "the money of this session", dollars],
  ];
  return all.flatMap(([limit, value, max, name, write]) =>
    max === null ? [] : [{ limit, value, max, text: `${name} (${write(value)} of ${write(max)} used)` }],
  );
}
