import type { ExactValue } from "./kinds.ts";
import type { ArchivedLine, Origin } from "./lines.ts";

/**
 * Lines that were found together, the one that fits best first. `isCurrent` false: what was said later of the same thing has
 * another value, or a change took the lines away.
 */
export interface FoundValues {
  readonly lines: readonly ArchivedLine[];
  readonly origin: Origin;
  readonly score: number;
  readonly isCurrent: boolean;
  /** Whether it supersedes more than is told. */
  readonly hasMore: boolean;
  /** The event that changed the file, or replaced the note, that the lines are from. */
  readonly changedBy: number | null;
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

/** Of one thing so many values are told at most: the one that holds, and of those before it each wording's latest, then the last. */
const mostOfOne = 3;
const sameWording = 0.5;

/**
 * Of what is said of the same thing, the latest comes first, and the earlier ones count as superseded where they differ. What is
 * untrusted replaces nothing that isn't: it is a finding of its own, after the other.
 */
export function judged(groups: readonly Scored[][], names: readonly boolean[], valuesOf: ValuesOf): FoundValues[] {
  const found: FoundValues[] = [];
  let left = [...groups];
  while (left.length > 0) {
    const [first] = left as [Scored[]];
    const same = left.filter((other) => other === first || isSame(first, other, names, valuesOf));
    left = left.filter((other) => !same.includes(other));
    for (const trusted of [true, false])
      found.push(
        ...chained(
          same.filter(([one]) => isTrusted(one!) === trusted),
          valuesOf,
        ),
      );
  }
  return found;
}

function isTrusted({ line }: Scored): boolean {
  return line.origin.trust !== "untrusted";
}

/** What is said of one thing, the latest first. */
function chained(same: readonly Scored[][], valuesOf: ValuesOf): FoundValues[] {
  const told = new Set<string>();
  const chain = same
    .toSorted(([a], [b]) => b!.line.origin.seq - a!.line.origin.seq || b!.line.number - a!.line.number)
    .filter(([best]) => {
      const key = valuesOf(best!.line)
        .map(({ value }) => value)
        .join("\n");
      return !told.has(key) && told.add(key);
    });
  const shown = chain.slice(0, 1);
  const wordings = chain.slice(0, 1).map(([best]) => wordingOf(best!.line));
  // What is said in other words may be of something else: many lines of one form don't take its place.
  for (const group of chain.slice(1)) {
    const wording = wordingOf(group[0]!.line);
    if (shown.length >= mostOfOne || wordings.some((other) => isAlike(wording, other))) continue;
    wordings.push(wording);
    shown.push(group);
  }
  shown.push(...chain.filter((group) => !shown.includes(group)).slice(0, mostOfOne - shown.length));
  return shown.map((group, place) => foundOf(group, place === 0, place === 0 && chain.length > shown.length, null));
}

export function foundOf(group: readonly Scored[], isCurrent: boolean, hasMore: boolean, changedBy: number | null): FoundValues {
  const [best] = group as [Scored];
  return { lines: group.map(({ line }) => line), origin: best.line.origin, score: best.score, isCurrent, hasMore, changedBy };
}

/** The words of a line, without what has a digit. */
function wordingOf({ text }: ArchivedLine): ReadonlySet<string> {
  return new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}_-]+/u)
      .filter((word) => word.length > 1 && !/\d/.test(word)),
  );
}

function isAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const common = [...one].filter((word) => other.has(word)).length;
  return common >= sameWording * (one.size + other.size - common);
}

/**
 * Both meet what the query asks for alike, and have a value of the same kind, or one has none of a kind that is known. The
 * model's own words replace nothing.
 */
function isSame(one: readonly Scored[], other: readonly Scored[], names: readonly boolean[], valuesOf: ValuesOf): boolean {
  const [a, b] = [one[0]!, other[0]!];
  const later = a.line.origin.seq >= b.line.origin.seq ? a : b;
  if (later.line.origin.speaker === "model" || later.line.origin.speaker === "attempt") return false;
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
