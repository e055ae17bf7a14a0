import type { Inspection } from "@holdfast/protocol";

const faults = {
  order: "isn't the one that belongs there",
  prev: "doesn't follow the one before it",
  hash: "has another header than was hashed",
  payload: "has not the content that was hashed",
  missing: "is missing",
  end: "is named by the store as the last one, and isn't",
} as const;

/** The event of a log that is wrong, and what is wrong with it. */
export function describeFault({ seq, fault }: NonNullable<Inspection["damage"]>): string {
  return `event ${seq} ${faults[fault]}`;
}

/** What a reader is told of what follows from such a log. */
export function describeDamage(damage: NonNullable<Inspection["damage"]>): string {
  return `the log was changed or damaged: ${describeFault(damage)}. What is told of the session is not all that happened`;
}
