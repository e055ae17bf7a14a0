import type { RestoreStep } from "@holdfast/runtime";
import { isSameNode } from "@holdfast/runtime/tree-change";
import type { Journal, JournalEntry } from "./journal.ts";

export interface UndoPlan {
  /** Each path that the session changed, from what it left there to what was there before. */
  readonly steps: readonly RestoreStep[];
  /** Of these, those that something else changed in between: what it did can't be told apart. */
  readonly interleaved: readonly string[];
}

/**
 * What a journal comes to, path by path. What only others changed is theirs, and left alone; what was undone before is as if
 * it had never been. Pure.
 */
export function planUndo({ entries, undos }: Pick<Journal, "entries" | "undos">): UndoPlan {
  const byPath = new Map<string, JournalEntry[]>();
  for (const entry of withoutUndone(entries, undos)) {
    const known = byPath.get(entry.path);
    if (known === undefined) byPath.set(entry.path, [entry]);
    else known.push(entry);
  }
  const steps: RestoreStep[] = [];
  const interleaved: string[] = [];
  for (const [path, changes] of byPath) {
    const own = changes.filter(({ by }) => by === "session");
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) continue;
    const isMixed =
      changes.length > own.length || own.some((change, at) => at > 0 && !isSameNode(own[at - 1]?.after ?? null, change.before));
    if (isMixed) interleaved.push(path);
    else if (isSameNode(first.before, last.after)) continue;
    steps.push({ path, from: last.after, to: first.before });
  }
  return { steps: steps.sort((a, b) => (a.path < b.path ? -1 : 1)), interleaved };
}

/** What no undo has taken back. */
export function withoutUndone(entries: readonly JournalEntry[], undos: Journal["undos"]): readonly JournalEntry[] {
  let left = entries;
  for (const { seq, since } of undos) {
    const isWithin = (entry: JournalEntry): boolean => entry.seq >= since && entry.seq <= seq;
    const paths = new Set(left.filter((entry) => isWithin(entry) && entry.by === "session").map(({ path }) => path));
    left = left.filter((entry) => !isWithin(entry) || !paths.has(entry.path));
  }
  return left;
}
