import type { Dice } from "./dice.ts";
import type { Seen } from "./tally.ts";
import { enough, points } from "./tally.ts";

/** What a round can have beside its work. */
export const features = [
  "asked",
  "hooks",
  "checks",
  "schema",
  "tight",
  "late",
  "interrupts",
  "compacts",
  "recipe",
  "stumbles",
  "care",
] as const;
export type Feature = (typeof features)[number];

/** How often a round has it, and the beginnings of the points that come up through it and hardly otherwise. */
const leads: Readonly<Record<Feature, { readonly usual: number; readonly to: readonly string[] }>> = {
  /** A person is asked for what leaves the sandbox. */
  asked: { usual: 0.12, to: ["commit approval."] },
  hooks: { usual: 0.1, to: ["commit hook.", "log settleOutbox"] },
  checks: {
    usual: 0.15,
    to: ["commit baseline.", "commit check", "commit round.", "commit run.", "effect baseline", "effect check", "effect judge"],
  },
  /** The final answer is held to a schema. */
  schema: { usual: 0.1, to: ["commit output.", "effect output"] },
  /** A turn may have few calls, so that the work takes several. */
  tight: { usual: 0.1, to: ["commit limit."] },
  /** Nobody answers in time: the clock is a week ahead. */
  late: { usual: 0.1, to: ["commit approval.expired", "commit question.expired"] },
  interrupts: { usual: 0.1, to: ["commit sampling.abandoned", "commit interrupt.", "commit turn.stopping"] },
  /** The window is small beside what is put out, so that the conversation is shortened several times. */
  compacts: { usual: 0.1, to: ["commit compaction.", "commit window.", "effect compact"] },
  /** Its commands' sandbox is made by a recipe, and anew by whoever goes on with the session. */
  recipe: { usual: 0.1, to: ["commit sandbox.", "effect sandbox"] },
  /** Commands fall short of what was expected, one after the other. */
  stumbles: { usual: 0.1, to: ["commit recovery."] },
  /** What a person does with a session that has ended: a new title, undo, erasure, deletion. */
  care: {
    usual: 0.25,
    to: ["commit session.renamed", "commit edits.", "commit item.", "commit erasure.", "log erase", "log delete", "blobs delete"],
  },
};

/** A round has what leads to points that have seen few kills so far, and at times anything else. */
export function chooseFeatures(random: Dice, seen: Seen): ReadonlySet<Feature> {
  const least = Math.min(0.9 * meanKills(seen), enough.atPoint);
  return new Set(
    features.filter((feature) => {
      const { usual, to } = leads[feature];
      const led = points.filter((point) => to.some((start) => point.slice(point.indexOf(" ") + 1).startsWith(start)));
      const isShort = led.some((point) => (seen.points[point] ?? 0) < least);
      return random.chance(isShort ? 0.5 : usual);
    }),
  );
}

/** Kills that a point has seen on average. */
function meanKills(seen: Seen): number {
  return points.reduce((total, point) => total + (seen.points[point] ?? 0), 0) / points.length;
}

/** Kills with which a point counts as having seen its share: while one is short of what a full run asks for, others get hardly more than that. */
export function shareOfPoint(seen: Seen): number {
  const fewest = Math.min(...points.map((point) => seen.points[point] ?? 0));
  return Math.min(1.5 * meanKills(seen), Math.max(enough.atPoint, 1.5 * fewest)) + 1;
}
