import { z } from "zod";

/** What a call says will be observed when it worked. Judged by the runtime. */
export const expectation = z.object({
  exitCode: z.number().int().optional(),
  outputContains: z.string().optional(),
  /** A regular expression (ECMAScript), tried on each line and on the whole. */
  outputMatches: z.string().optional(),
  fileChanged: z.string().optional(),
  fileUnchanged: z.string().optional(),
  fileExists: z.string().optional(),
  /** The output shows that tests ran, and none of them failed. */
  testsPassed: z.boolean().optional(),
  /** Of an HTTP answer. */
  status: z.number().int().optional(),
});
export type Expectation = z.infer<typeof expectation>;

export const judgement = z.object({
  verdict: z.enum(["met", "unmet", "unknown"]),
  cause: z.enum(["environment", "wrong_input", "denied", "flaky", "wrong_belief"]).optional(),
  expected: z.string(),
  observed: z.string(),
  /** It would have been met whatever happened: no success to speak of. */
  isTrivial: z.literal(true).optional(),
});
export type Judgement = z.infer<typeof judgement>;

/** After calls that fell short: what is to be done next, each rung only once those before it did not help. */
export const recoveryRungs = ["retry", "another_way", "roll_back", "ask", "stop"] as const;
export type RecoveryRung = (typeof recoveryRungs)[number];
