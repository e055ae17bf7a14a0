import { textOf } from "./growth.ts";
import { isNamed, type Read } from "./sides.ts";
import type { Unit } from "./units.ts";

type KeyOf = (unit: Unit) => string | null;
/** The same test is found by all of it; else, where it was, by its name; a renamed one by what it says. */
const sameness: KeyOf = (unit) => `${unit.name}\n${textOf(unit)}`;
const content: KeyOf = (unit) => (unit.statements.length > 0 ? textOf(unit) : null);
const namesake: KeyOf = ({ name }) => name;

interface Free {
  readonly unit: Unit;
  readonly file: Read;
}

/** Finds what became of each test, the surest first. */
export function pair(files: readonly Read[]): void {
  const taken = new Set<Unit>();
  for (const [keyOf, isElsewhere] of [
    [sameness, false],
    [sameness, true],
    [content, false],
    [namesake, false],
    [content, true],
    [namesake, true],
  ] as const) {
    if (isElsewhere) pairIn(files, files, keyOf, taken);
    else for (const file of files) pairIn([file], [file], keyOf, taken);
  }
}

function pairIn(from: readonly Read[], to: readonly Read[], keyOf: KeyOf, taken: Set<Unit>): void {
  const free = new Map<string, Free[]>();
  for (const file of to) {
    for (const unit of file.after.units) {
      const key = taken.has(unit) ? null : keyOf(unit);
      if (key === null) continue;
      const those = free.get(key) ?? [];
      those.push({ unit, file });
      free.set(key, those);
    }
  }
  for (const those of free.values()) those.reverse();
  for (const file of from) {
    for (const unit of file.before.units) {
      const those = file.pairs.has(unit) ? undefined : free.get(keyOf(unit) ?? "");
      // From the end: what was first is last there.
      const at = those?.findLastIndex((one) => to.length === 1 || isNamed(one.file.path) || !isNamed(file.path)) ?? -1;
      const [found] = at < 0 ? [] : (those?.splice(at, 1) ?? []);
      if (found === undefined) continue;
      taken.add(found.unit);
      file.pairs.set(unit, found);
      found.file.arrivals.set(found.unit, { unit, file });
    }
  }
}
