import { z } from "zod";
import { usage } from "./usage.ts";

/** What the state of a session is told by, once its conversation was shortened. */
export const compactedSections = [
  "goal",
  "constraints",
  "user",
  "approvals",
  "openTasks",
  "notes",
  "completed",
  "decisions",
  "artifacts",
  "checks",
  "failures",
  "exactValues",
  "world",
  "currentState",
  "nextAction",
  "history",
] as const;
export type CompactedSection = (typeof compactedSections)[number];

/** A piece of the state: a line or a few as the model reads them, and the items and calls that they were taken from. */
export const compactedEntry = z.object({ section: z.enum(compactedSections), text: z.string(), from: z.array(z.string()) });
export type CompactedEntry = z.infer<typeof compactedEntry>;

/** In an entry's `from`: it was made of the window as a whole, so it goes when anything of that is erased. */
export const fromAll = "*";

/** What a compaction kept and what it let go. `chars` counts characters of the window. */
export const compactionReport = z.object({
  before: z.object({ items: z.number().int(), chars: z.number().int(), tokens: z.number().int() }),
  after: z.object({ chars: z.number().int() }),
  /** Entries by section. */
  kept: z.record(z.string(), z.number().int()),
  /** What is no longer in the window, and how to get it back. */
  dropped: z.array(z.object({ what: z.string(), count: z.number().int(), chars: z.number().int(), back: z.string() })),
  pinned: z.number().int(),
  /** Characters by section, as the entries have them. */
  sizes: z.record(z.string(), z.number().int()).optional(),
  /** What the model's judgement said that the log doesn't bear out: left out. */
  flags: z.array(z.string()),
});
export type CompactionReport = z.infer<typeof compactionReport>;

/**
 * What a new window begins with. `state`: all that the log tells of the session's state, and what a model judged. `fresh`: what
 * must be there by rule alone (goal, what binds, the user's words, answers, open work, notes, world, where to look).
 */
export const compactionStrategies = ["state", "fresh"] as const;
export const compactionStrategy = z.enum(compactionStrategies);
export type CompactionStrategy = z.infer<typeof compactionStrategy>;

/** By a full window, by its steps, by the provider's refusal of a request, or by a person. */
export const compactionTrigger = z.enum(["tokens", "steps", "overflow", "hand"]);
export type CompactionTrigger = z.infer<typeof compactionTrigger>;

/** What asking a model for its judgement took. What it said stands in the entries and flags. */
export const judging = z.object({ model: z.string(), usage, cost: z.number().nullable() });
export type Judging = z.infer<typeof judging>;
