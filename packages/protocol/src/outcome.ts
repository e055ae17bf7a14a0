import { z } from "zod";

export const outcomes = ["verified", "unverified", "refuted", "failed", "blocked", "interrupted", "exhausted"] as const;
export const outcome = z.enum(outcomes);
export type Outcome = z.infer<typeof outcome>;

/** How a turn stands for a client: an outcome, or `waiting` while an approval or an answer is open. */
export type Standing = Outcome | "waiting";

/**
 * Exit status of `holdfast exec`. `unverified` has two: 0 where no check was asked for, 6 where checks were asked for
 * and the evidence is weak. Wrong usage exits 2.
 */
export function exitStatus(standing: Standing, isWeak = false): number {
  switch (standing) {
    case "verified":
      return 0;
    case "unverified":
      return isWeak ? 6 : 0;
    case "failed":
      return 1;
    case "refuted":
      return 3;
    case "waiting":
      return 4;
    case "exhausted":
      return 5;
    case "blocked":
      return 7;
    case "interrupted":
      return 130;
  }
}
