import type { ExactValue } from "./kinds.ts";
import type { ArchivedLine, Origin } from "./lines.ts";

/** Lines that were found together, the one that fits best first. `isCurrent` false: what was said later of the same thing has another value. */
export interface FoundValues {
  readonly lines: readonly ArchivedLine[];
  readonly origin: Origin;
  readonly score: number;
  readonly isCurrent: boolean;
}

/** A line that fits a query. */
export interface Scored {
  readonly line: ArchivedLine;
  /** What it has of each part of the query. */
  readonly meets: readonly number[];
  readonly score: number;
}

/** Two lines speak of the same thing where they meet this share of what the query and the better one have in common. */
const sameShare = 0.55;
const sameName = 0.7;
const nearlyBest = 0.6;

type ValuesOf = (line: ArchivedLine) => readonly ExactValue[];

/** Of what is said of the same thing, the latest comes first, and the earlier ones count as superseded where they differ. */
export function judged(groups: readonly Scored[][], names: readonly boolean[], valuesOf: ValuesOf): FoundValues[] {
  const found: FoundValues[] = [];
  let left = [...groups];
  while (left.length > 0) {
    const [first] = left as [Scored[]];
    const same = left.filter((other) => other === first || isSame(first, other, names, valuesOf));
    left = left.filter((other) => !same.includes(other));
    same.sort(([a], [b]) => b!.line.origin.seq - a!.line.origin.seq || b!.line.number - a!.line.number);
    const told = new Set<string>();
    for (const [best, ...others] of same as [Scored, ...Scored[]][]) {
      const key = valuesOf(best.line)
        .map(({ value }) => value)
        .join("\n");
      if (told.has(key)) continue;
      const lines = [best, ...others].map(({ line }) => line);
      found.push({ lines, origin: best.line.origin, score: best.score, isCurrent: told.size === 0 });
      told.add(key);
    }
  }
  return found;
}

/**
 * Both meet what the query asks for alike, and have a value of the same kind, or one has none of a kind that is known. The
 * model's own words replace nothing.
 */
function isSame(one: readonly Scored[], other: readonly Scored[], names: readonly boolean[], valuesOf: ValuesOf): boolean {
  const [a, b] = [one[0]!, other[0]!];
  const later = a.line.origin.seq >= b.line.origin.seq ? a : b;
  if (later.line.origin.speaker === "model") return false;
  const all = a.meets.reduce((sum, score) => sum + score, 0);
  const common = a.meets.reduce((sum, score, chunk) => sum + Math.min(score, b.meets[chunk]!), 0);
  if (common < all * sameShare) return false;
  // Above all, what it belongs to.
  const naming = a.meets.map((score, chunk) => (names[chunk] === true ? score : 0));
  const named = naming.indexOf(Math.max(...naming));
  if (b.meets[named]! < a.meets[named]! * sameName) return false;
  const kindsOf = (group: readonly Scored[]): Set<string> =>
    new Set(
      group.filter(({ score }) => score >= group[0]!.score * nearlyBest).flatMap(({ line }) => valuesOf(line).map(({ kind }) => kind)),
    );
  const [kinds, others] = [kindsOf(one), kindsOf(other)];
  return kinds.size === 0 || others.size === 0 || [...others].some((kind) => kinds.has(kind));
}
