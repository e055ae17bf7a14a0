import type { RestoreStep } from "@holdfast/runtime";
import { isSameNode } from "@holdfast/runtime/tree-change";
import type { Journal, JournalEntry, UndoEntry } from "./journal.ts";

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

/**
 * For the files as they were before an event: what an undo took back from before it comes again, so such an undo counts as a
 * change like any.
 */
export function undosSince({ undos }: Pick<Journal, "undos">, before: number): readonly UndoEntry[] {
  return undos.filter((undo) => undo.since >= before && isExact(undo, undos));
}

/** Whether the files were, after it, as before its first event. An earlier undo that reached further back stays in force. */
function isExact({ seq, since, isPoint }: UndoEntry, undos: readonly UndoEntry[]): boolean {
  return isPoint || !undos.some((other) => other.since < since && other.seq >= since && other.seq < seq);
}

/** Undos that a later return to a place before them has not made as if they had never been. */
function standing(undos: readonly UndoEntry[]): readonly UndoEntry[] {
  const left: UndoEntry[] = [];
  for (const undo of undos.toReversed()) if (!left.some(({ isPoint, since }) => isPoint && since <= undo.seq)) left.unshift(undo);
  return left;
}

/** What no undo has taken back. */
export function withoutUndone(entries: readonly JournalEntry[], undos: readonly UndoEntry[]): readonly JournalEntry[] {
  let left = entries;
  for (const { seq, since } of standing(undos)) {
    const isWithin = (entry: JournalEntry): boolean => entry.seq >= since && entry.seq <= seq;
    const paths = new Set(left.filter((entry) => isWithin(entry) && entry.by === "session").map(({ path }) => path));
    left = left.filter((entry) => !isWithin(entry) || !paths.has(entry.path));
  }
  return left;
}
