import type { EventType } from "@holdfast/protocol";

/** Kinds of effect, see `decide`. */
export const effectTypes = ["sample", "call", "baseline", "snapshot", "check", "judge", "output", "compact", "sandbox", "end"] as const;
export type EffectType = (typeof effectTypes)[number];

/** Whose the claim on an attempt becomes: a driver's that is about to act, or nobody's, before a recovering driver goes on. */
export const claimTypes = ["taken", "revoked"] as const;

/**
 * A place where a driver, and with it everything, can come to an end. An event becoming durable, an effect,
 * a claim; `boundaries.ts` lists them all, and docs/durability.md says of each what happens then.
 */
export type Boundary = `commit ${EventType}` | `effect ${EffectType}` | `claim ${(typeof claimTypes)[number]}`;

/** Where manual drive stops. A commit makes all its events durable at once. `name` tells the effect's key where it is one. */
export interface Stop {
  readonly when: "before" | "after";
  readonly what: "commit" | "effect" | "claim";
  readonly name: string;
  readonly boundaries: readonly Boundary[];
}
