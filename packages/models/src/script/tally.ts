import type { Item } from "@holdfast/protocol";

/** Counts what left no trace in a session, by the window and the place in it. */
export function createTally() {
  const counts = new WeakMap<object, Map<number, number>>();
  const nowhere = {};
  const at = (items: readonly Item[]): object => items[0] ?? nowhere;
  return {
    count: (items: readonly Item[], index: number): number => counts.get(at(items))?.get(index) ?? 0,
    add: (items: readonly Item[], index: number): void => {
      const places = counts.get(at(items)) ?? new Map<number, number>();
      places.set(index, (places.get(index) ?? 0) + 1);
      counts.set(at(items), places);
    },
  };
}
