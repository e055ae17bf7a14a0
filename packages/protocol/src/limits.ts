import { z } from "zod";

/** Hard limits of a session. Times in milliseconds; tokens are uncached input plus output; cost in US dollars. */
export const limits = z.object({
  stepsPerTurn: z.number().int().positive(),
  callsPerTurn: z.number().int().positive(),
  activeMsPerTurn: z.number().int().positive(),
  tokensPerSession: z.number().int().positive(),
  costPerSession: z.number().positive().nullable(),
  /** Who or what set the limit of cost, for a person: `--max-cost`, or file and line. */
  costFrom: z.string().optional(),
  /** Nobody named the limit of cost: where a cost can't be told, that is only said. Otherwise the turn ends. */
  allowsUnknownCost: z.boolean().optional(),
  /** The longest that a command may run, and that a call may wait which changes something over the network. */
  commandMs: z.number().int().positive().optional(),
  mutatingCallMs: z.number().int().positive().optional(),
  sameCallSameResult: z.number().int().positive(),
  checkRounds: z.number().int().nonnegative(),
  /** Of a tree of sessions: how deep it may go below this one, how many there may be in it, and how many of a session's own at once. */
  depth: z.number().int().nonnegative(),
  descendants: z.number().int().nonnegative().optional(),
  childrenAtOnce: z.number().int().nonnegative().optional(),
});
export type Limits = z.infer<typeof limits>;

export const defaultLimits: Limits = {
  stepsPerTurn: 250,
  callsPerTurn: 500,
  activeMsPerTurn: 2 * 60 * 60 * 1000,
  tokensPerSession: 5_000_000,
  costPerSession: 20,
  allowsUnknownCost: true,
  commandMs: 10 * 60 * 1000,
  mutatingCallMs: 15_000,
  sameCallSameResult: 4,
  checkRounds: 3,
  depth: 2,
  descendants: 16,
  childrenAtOnce: 4,
};

/** The `strict` preset, for runs where a surprise is worse than a stop. */
export const strictLimits: Limits = { ...defaultLimits, callsPerTurn: 15, tokensPerSession: 200_000 };
