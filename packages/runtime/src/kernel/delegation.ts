import type { Limits } from "@holdfast/protocol";
import { takenCost, takenTokens } from "./limits.ts";
import type { Head } from "./state.ts";

/** What a session has handed on to sessions below it: taken from its own, given back in part when one ends. */
export interface Delegated {
  /** Sessions that it has started, or let others start below them. */
  readonly descendants: number;
  readonly running: number;
  readonly tokens: number;
  readonly cost: number;
}

export const nothingDelegated: Delegated = { descendants: 0, running: 0, tokens: 0, cost: 0 };

/** What a child is to have: a part of what is left. */
export interface Wish {
  readonly tokens: number;
  /** US dollars; null: no more than the parent is held to. */
  readonly cost: number | null;
  /** Sessions that it may have below itself. */
  readonly descendants: number;
}

export type Carved =
  | { readonly type: "child"; readonly limits: Limits; readonly delegated: Delegated }
  /** For the model: a result like any other, and nothing is started. */
  | { readonly type: "refused"; readonly text: string };

/**
 * Carves a child's limits out of its parent's: whatever the tree below does, it spends no more than the parent was given.
 * `head` and `limits` are the parent's. Pure: the parent's commit records what comes back.
 */
export function carve(head: Head, limits: Limits, delegated: Delegated, wish: Wish): Carved {
  const { depth, descendants = 0, childrenAtOnce = 0 } = limits;
  const refuse = (what: string): Carved => ({
    type: "refused",
    text: `No session was started: ${what}. Do the work yourself, or say what remains.`,
  });
  if (depth < 1) return refuse("this one is as deep as sessions may go");
  if (delegated.running >= childrenAtOnce) return refuse(`${childrenAtOnce} of yours are running, which is the limit; wait for one to end`);
  const below = Math.min(wish.descendants, descendants - delegated.descendants - 1, depth > 1 ? Infinity : 0);
  if (below < 0) return refuse(`${descendants} sessions were started below this one, which is the limit`);
  const tokens = Math.min(wish.tokens, limits.tokensPerSession - takenTokens({ head, delegated }));
  const costLeft = limits.costPerSession === null ? null : limits.costPerSession - takenCost({ head, delegated });
  const cost = costLeft === null ? wish.cost : Math.min(wish.cost ?? costLeft, costLeft);
  if (tokens < 1 || (cost !== null && cost <= 0)) return refuse("nothing is left of its tokens or its money");
  return {
    type: "child",
    limits: { ...limits, tokensPerSession: tokens, costPerSession: cost, depth: depth - 1, descendants: below },
    delegated: {
      descendants: delegated.descendants + 1 + below,
      running: delegated.running + 1,
      tokens: delegated.tokens + tokens,
      cost: delegated.cost + (cost ?? 0),
    },
  };
}

/** What is given back when a child ends: what it and those below it have not used. `used` counts all of them. */
export function giveBack(
  delegated: Delegated,
  given: Limits,
  used: { readonly tokens: number; readonly cost: number; readonly descendants: number },
): Delegated {
  return {
    descendants: delegated.descendants - Math.max(0, (given.descendants ?? 0) - used.descendants),
    running: delegated.running - 1,
    tokens: delegated.tokens - Math.max(0, given.tokensPerSession - used.tokens),
    cost: delegated.cost - Math.max(0, (given.costPerSession ?? 0) - used.cost),
  };
}
