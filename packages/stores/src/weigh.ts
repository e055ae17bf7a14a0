import type { Weight } from "@holdfast/runtime";

/** A session as far as its weight goes: also one that is deleted and whose events a fork shares. */
export interface Weighed {
  readonly session: string;
  readonly parent: string | null;
  /** The last event it shares with the parent. */
  readonly parentSeq: number;
  readonly isDeleted: boolean;
  /** Blobs it refers to. */
  readonly blobs: ReadonlySet<string>;
}

/**
 * What goes if these sessions are deleted together. `bytesOf(session, keptUpTo)`: what it takes itself, but for its events
 * up to there; null: nothing of it stays. A deleted session that stayed for them alone is counted with the first of them.
 */
export function weigh(
  all: readonly Weighed[],
  going: readonly string[],
  bytesOf: (session: string, keptUpTo: number | null) => number,
): Weight[] {
  const byName = new Map(all.map((one) => [one.session, one]));
  const isGoing = new Set(going);
  const forks = Map.groupBy(
    all.filter((one) => one.parent !== null),
    (one) => one.parent,
  );
  /** The last of its own events that a session which stays shares. */
  const neededIn = (session: string): number | null => {
    const staying = (forks.get(session) ?? []).filter(
      (fork) => (!fork.isDeleted && !isGoing.has(fork.session)) || neededIn(fork.session) !== null,
    );
    return staying.length === 0 ? null : Math.max(...staying.map((fork) => fork.parentSeq));
  };
  const referenced = new Set(all.flatMap((one) => (one.isDeleted || isGoing.has(one.session) ? [] : [...one.blobs])));
  const counted = new Set<string>();
  const ancestorsOf = ({ parent }: Weighed): Weighed[] => {
    const found = parent === null ? undefined : byName.get(parent);
    if (found === undefined || !found.isDeleted || counted.has(found.session) || neededIn(found.session) !== null) return [];
    counted.add(found.session);
    return [found, ...ancestorsOf(found)];
  };
  return going.flatMap((session) => {
    const one = byName.get(session);
    if (one === undefined || one.isDeleted) return [];
    const blobs = [...one.blobs].filter((blob) => !referenced.has(blob));
    for (const blob of blobs) referenced.add(blob);
    const hidden = ancestorsOf(one).reduce((sum, ancestor) => sum + bytesOf(ancestor.session, null), 0);
    const needed = neededIn(session);
    return [{ session, bytes: bytesOf(session, needed) + hidden, blobs, isWhole: needed === null }];
  });
}
