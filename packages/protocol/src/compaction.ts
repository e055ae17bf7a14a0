import { z } from "zod";

/** What the state of a session is told by, once its conversation was shortened. */
export const compactedSections = [
  "goal",
  "constraints",
  "user",
  "approvals",
  "openTasks",
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

/** What a compaction kept and what it let go. `chars` counts characters of the window. */
export const compactionReport = z.object({
  before: z.object({ items: z.number().int(), chars: z.number().int(), tokens: z.number().int() }),
  after: z.object({ chars: z.number().int() }),
  /** Entries by section. */
  kept: z.record(z.string(), z.number().int()),
  /** What is no longer in the window, and how to get it back. */
  dropped: z.array(z.object({ what: z.string(), count: z.number().int(), chars: z.number().int(), back: z.string() })),
  pinned: z.number().int(),
  /** What the model's judgement said that the log doesn't bear out: left out. */
  flags: z.array(z.string()),
});
export type CompactionReport = z.infer<typeof compactionReport>;

/** By a full window, by the provider's refusal of one, or by a person. */
export const compactionTrigger = z.enum(["tokens", "overflow", "hand"]);
export type CompactionTrigger = z.infer<typeof compactionTrigger>;
