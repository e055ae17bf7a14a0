import { declaredBy } from "./effects.ts";
import { acts, isHarmless } from "./growth.ts";
import { isImport } from "./imports.ts";
import { hasMoreRows, isTable } from "./rows.ts";
import { knownTo, originsOf, type Read, type Side } from "./sides.ts";
import type { Token } from "./token.ts";
import type { Group, Other, Unit } from "./units.ts";

/** How many tests there are is counted elsewhere. */
const plan = /^(?:use Test :: More|plan\b|done_testing\b|"?1 \. \.)|^"use strict"$/;

/** What a file says beside its tests, without what it brings in. */
export function saidIn({ others }: Side): Other[] {
  return others.filter(({ text }) => !isImport(text) && !plan.test(text));
}

/** What came into each file that was not in it before. */
export function cameInto(files: readonly Read[]): Map<string, Set<Read>> {
  const came = new Map<string, Set<Read>>();
  for (const file of files) {
    const had = countsOf(file.before);
    for (const one of saidIn(file.after)) {
      const text = bare(one.text);
      const count = had.get(text) ?? 0;
      had.set(text, count - 1);
      if (count > 0) continue;
      const those = came.get(text) ?? new Set();
      came.set(text, those.add(file));
    }
  }
  return came;
}

function countsOf(side: Side): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of saidIn(side)) counts.set(bare(text), (counts.get(bare(text)) ?? 0) + 1);
  return counts;
}

/** What is taken in elsewhere is the same there. */
function bare(text: string): string {
  return text.replace(/^(?:export|pub) /, "");
}

export function isElsewhere(one: Other, file: Read, came: ReadonlyMap<string, ReadonlySet<Read>>): boolean {
  const those = came.get(bare(one.text));
  return those !== undefined && [...those].some((other) => other !== file);
}

/** Whether what stands beside the tests says something else than before, or something new acts on them. */
export function othersChange(file: Read, came: ReadonlyMap<string, ReadonlySet<Read>>): boolean {
  return hasGone(file, came) || hasCome(file);
}

/** What acts on tests is gone with them where all of them are elsewhere: there each is held against it. */
function hasGone(file: Read, came: ReadonlyMap<string, ReadonlySet<Read>>): boolean {
  const left = countedIn(saidIn(file.after), file.after);
  return saidIn(file.before).some((one) => {
    if (left.take(one)) return false;
    const { units } = one.group;
    const isAway = units.length > 0 && units.every((unit) => (file.pairs.get(unit)?.file ?? file) !== file);
    return !isAway && (acts(one) || !isElsewhere(one, file, came));
  });
}

function hasCome(file: Read): boolean {
  const known = knownTo(file);
  const had = countedIn(
    originsOf(file).flatMap(({ before }) => saidIn(before)),
    file.after,
  );
  const isOfNew = ({ units }: Group): boolean =>
    units.length > 0 && units.length < file.after.units.length && !units.some((unit) => file.arrivals.has(unit));
  return saidIn(file.after).some((one) => !had.takeFor(one) && !isOfNew(one.group) && !isHarmless(one, known, true));
}

/** Statements of which each stands for one other; a table also for one with more rows. */
function countedIn(all: readonly Other[], { tokens }: Side): { take(one: Other): boolean; takeFor(one: Other): boolean } {
  const counts = new Map<string, number>();
  for (const { text } of all) counts.set(text, (counts.get(text) ?? 0) + 1);
  const names = goneThrough(tokens);
  const isOfRows = (one: Other): boolean => isTable(one) || declaredBy(one.words)?.names.some((name) => names.has(name)) === true;
  const tables = all.filter(isOfRows);
  const takeText = (text: string): boolean => {
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count > 0;
  };
  const takeTable = (fits: (table: Other) => boolean): boolean => tables.some((table) => fits(table) && takeText(table.text));
  return {
    take: (one) => takeText(one.text) || (isOfRows(one) && takeTable((now) => hasMoreRows(one.words, now.words))),
    takeFor: (one) => takeText(one.text) || takeTable((was) => hasMoreRows(was.words, one.words)),
  };
}

/** Names of what tests are made from, row by row. */
function goneThrough(tokens: readonly Token[]): Set<string> {
  const isLoop = (at: number): boolean => {
    const [one, two] = [tokens[at - 2]?.text, tokens[at - 1]?.text];
    return /^(?:of|in|range)$/.test(two ?? "") || (two === "(" && /^(?:each|for)$/.test(one ?? ""));
  };
  return new Set(tokens.flatMap(({ text }, at) => (isLoop(at) ? [text] : [])));
}

/** What acts on the tests of a group from beside them, as hooks do. */
function actsIn(group: Group): readonly string[] {
  const known = acting.get(group);
  if (known !== undefined) return known;
  const texts = group.others.filter((one) => !isImport(one.text) && !plan.test(one.text) && acts(one)).map(({ text }) => text);
  acting.set(group, texts);
  return texts;
}

/** All tests of a group ask for it. */
const acting = new WeakMap<Group, readonly string[]>();

/** Whether something else acts on a test than where it was; what does on all of a file is compared with the file. */
export function isActedOnElse(was: Unit, is: Unit, isElsewhere: boolean): boolean {
  const all = ({ group }: Unit): string => {
    const texts: string[] = [];
    for (let one: Group | null = group; one !== null; one = one.outer) if (one.outer !== null || isElsewhere) texts.push(...actsIn(one));
    return texts.sort().join("\n");
  };
  return was.group !== is.group && all(was) !== all(is);
}
