import { isNote } from "./changes.ts";
import type { ExactValue } from "./kinds.ts";
import type { ArchivedLine, Origin } from "./lines.ts";

/**
 * What was said later of the same thing, by its event. `replaces`: it has another value. `differs`: it has, and is untrusted as
 * the earlier is not. `follows`: the earlier has no value that could be held against it.
 */
export interface Later {
  readonly seq: number;
  readonly how: "replaces" | "differs" | "follows";
}

/**
 * Lines that were found together, the one that fits best first. `isCurrent` false: what was said later of the same thing has
 * another value, or a change took the lines away.
 */
export interface FoundValues {
  readonly lines: readonly ArchivedLine[];
  readonly origin: Origin;
  readonly score: number;
  readonly isCurrent: boolean;
  readonly later: Later | null;
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
 * untrusted replaces nothing that holds: it comes right after that, which says that a later one differs. `mayBeGone`: whether
 * the session changed since what a line was seen in.
 */
export function judged(
  groups: readonly Scored[][],
  names: readonly boolean[],
  valuesOf: ValuesOf,
  mayBeGone: (line: ArchivedLine) => boolean,
): FoundValues[] {
  const holds: Holds = ([best]) => !isUntrusted(best!) && !isWords(best!) && !mayBeGone(best!.line) && valuesOf(best!.line).length > 0;
  const found: FoundValues[] = [];
  let left = [...groups];
  while (left.length > 0) {
    const [first] = left as [Scored[]];
    const same = left.filter((other) => other === first || isSame(first, other, names, valuesOf));
    left = left.filter((other) => !same.includes(other));
    found.push(...standingOf(same, holds, valuesOf));
  }
  const groupOf = new Map(groups.map((group) => [group[0]!.line, group]));
  const replaced = found.flatMap(({ lines, later }) => (later?.how === "replaces" ? valuesOf(lines[0]!).map(({ value }) => value) : []));
  return found.map((one) => {
    const group = groupOf.get(one.lines[0]!)!;
    const isReplaced = replaced.some((value) => hasValue(group[0]!.line.text, value));
    const isOfSame = (other: readonly Scored[]): boolean =>
      isReplaced ? isAbout(group, other, names) : isSame(group, other, names, valuesOf) && isSame(other, group, names, valuesOf);
    const later = one.later ?? laterOf(group, groups, isOfSame, holds, valuesOf);
    return { ...one, later, isCurrent: one.isCurrent && later?.how !== "replaces" };
  });
}

type Holds = (group: readonly Scored[]) => boolean;

/** What is said of one thing. The model's mere words are no more than what came up later, whoever said that. */
function standingOf(same: readonly Scored[][], holds: Holds, valuesOf: ValuesOf): FoundValues[] {
  if (!same.some(holds)) return chained(same, valuesOf);
  const [first, ...others] = chained(
    same.filter(([one]) => !isUntrusted(one!)),
    valuesOf,
  );
  const untrusted = same.filter(([one]) => isUntrusted(one!));
  const [beside, ...rest] = chained(untrusted, valuesOf);
  const head = same.find(([one]) => one!.line === first!.lines[0])!;
  const marked = { ...first!, later: laterOf(head, untrusted, () => true, holds, valuesOf) };
  return [marked, ...(beside === undefined ? [] : [beside]), ...others, ...rest];
}

/** The latest of those said after it that are of the same thing and have another value. */
function laterOf(
  group: readonly Scored[],
  groups: readonly Scored[][],
  isOfSame: (other: readonly Scored[]) => boolean,
  holds: Holds,
  valuesOf: ValuesOf,
): Later | null {
  const own = keyOf(group, valuesOf);
  const [last] = groups
    .filter((other) => byAge(group, other) > 0 && !["", own].includes(keyOf(other, valuesOf)) && isOfSame(other))
    .toSorted(byAge);
  if (last === undefined) return null;
  const how = own === "" ? "follows" : holds(group) && isUntrusted(last[0]!) ? "differs" : "replaces";
  return { seq: last[0]!.line.origin.seq, how };
}

/** The latest first. */
function byAge([a]: readonly Scored[], [b]: readonly Scored[]): number {
  return b!.line.origin.seq - a!.line.origin.seq || b!.line.number - a!.line.number;
}

function keyOf([best]: readonly Scored[], valuesOf: ValuesOf): string {
  return valuesOf(best!.line)
    .map(({ value }) => value)
    .join("\n");
}

function isUntrusted({ line }: Scored): boolean {
  return line.origin.trust === "untrusted";
}

/** What the model only said or tried. What it noted holds as an edit does. */
function isWords({ line: { origin } }: Scored): boolean {
  return ["model", "attempt"].includes(origin.speaker) && origin.of?.some(isNote) !== true;
}

/** What is said of one thing, the latest first. */
function chained(same: readonly Scored[][], valuesOf: ValuesOf): FoundValues[] {
  const told = new Set<string>();
  const chain = same.toSorted(byAge).filter((group) => {
    const key = keyOf(group, valuesOf);
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
  const seq = chain[0]?.[0]!.line.origin.seq ?? 0;
  return shown.map((group, place) => {
    const found = foundOf(group, place === 0, place === 0 && chain.length > shown.length, null);
    return place === 0 ? found : { ...found, later: { seq, how: keyOf(group, valuesOf) === "" ? "follows" : "replaces" } };
  });
}

export function foundOf(group: readonly Scored[], isCurrent: boolean, hasMore: boolean, changedBy: number | null): FoundValues {
  const [best] = group as [Scored];
  return { lines: group.map(({ line }) => line), origin: best.line.origin, score: best.score, isCurrent, later: null, hasMore, changedBy };
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

/** Also where a text has it between other things, as a command has: but not within a longer number. */
function hasValue(text: string, value: string): boolean {
  const at = text.indexOf(value);
  return at >= 0 && !/\d/.test(text[at - 1] ?? "") && !/\d/.test(text[at + value.length] ?? "");
}

function isSame(one: readonly Scored[], other: readonly Scored[], names: readonly boolean[], valuesOf: ValuesOf): boolean {
  return isAbout(one, other, names) && isOfKind(one, other, valuesOf);
}

/** Both meet what the query asks for alike. The model's own words replace nothing. */
function isAbout(one: readonly Scored[], other: readonly Scored[], names: readonly boolean[]): boolean {
  const [a, b] = [one[0]!, other[0]!];
  const later = a.line.origin.seq >= b.line.origin.seq ? a : b;
  if (later.line.origin.speaker === "model" || later.line.origin.speaker === "attempt") return false;
  const all = a.meets.reduce((sum, score) => sum + score, 0);
  const common = a.meets.reduce((sum, score, chunk) => sum + Math.min(score, b.meets[chunk]!), 0);
  if (common < all * sameShare) return false;
  // Above all, what it belongs to.
  const naming = a.meets.map((score, chunk) => (names[chunk] === true ? score : 0));
  const named = naming.indexOf(Math.max(...naming));
  return b.meets[named]! >= a.meets[named]! * sameName;
}

/** Both have a value of the same kind, or one has none of a kind that is known. */
function isOfKind(one: readonly Scored[], other: readonly Scored[], valuesOf: ValuesOf): boolean {
  const kindsOf = (group: readonly Scored[]): Set<string> =>
    new Set(
      group.filter(({ score }) => score >= group[0]!.score * nearlyBest).flatMap(({ line }) => valuesOf(line).map(({ kind }) => kind)),
    );
  const [kinds, others] = [kindsOf(one), kindsOf(other)];
  return kinds.size === 0 || others.size === 0 || [...others].some((kind) => kinds.has(kind));
}
