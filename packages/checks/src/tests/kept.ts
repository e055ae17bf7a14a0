import { some } from "../subject.ts";
import { assertionsIn } from "./assertions.ts";
import { cameInto, isActedOnElse, isElsewhere, othersChange, saidIn } from "./beside.ts";
import { assertsAll } from "./growth.ts";
import { importsChange } from "./imports.ts";
import { focusesIn, skipsIn } from "./marks.ts";
import { pair } from "./pairs.ts";
import type { Said } from "./words.ts";
import { selectsElse } from "./selection.ts";
import {
  type ChangedFile,
  isData,
  isFixture,
  isNamed,
  isProse,
  isRunner,
  isTest,
  knownTo,
  originsOf,
  type Read,
  readFile,
} from "./sides.ts";
import type { Unit } from "./units.ts";

export { type ChangedFile, mostCode } from "./sides.ts";

export interface Kept {
  readonly path: string;
  /** Tests that are gone, skipped, hidden by others or assert less. */
  readonly lost: readonly string[];
  /** What it asserts is no longer the same: a reader must say whether it is less. Empty where it is. */
  readonly changed: string;
}

/** What came of all files that changed, taken together. */
interface All {
  readonly files: readonly Read[];
  readonly came: ReturnType<typeof cameInto>;
  readonly gone: readonly string[];
}

/** Whether a file is one that tests are, or are run with. */
export function isOfTests(path: string): boolean {
  return isTest(path) || isFixture(path) || isRunner(path);
}

/** What became of the tests in all files that changed, taken together: a test may have another name or place. */
export function keptTests(changes: readonly ChangedFile[]): Kept[] {
  const files = changes.filter(({ path }) => isOfTests(path)).map(readFile);
  pair(files);
  const gone = changes.filter(({ is }) => is === null).map(({ path }) => path);
  const all = { files, came: cameInto(files), gone };
  return files.map((file) => ({ path: file.path, lost: lostIn(file, all), changed: changedIn(file, all) }));
}

function lostIn(file: Read, all: All): string[] {
  const { path, before, after, pairs, arrivals } = file;
  const gone = before.units.filter((unit) => !pairs.has(unit)).map(({ name }) => name.replace(/^["'`]|["'`]$/g, ""));
  const lost = gone.length === 0 ? [] : [`${path}: tests were removed: ${some([...new Set(gone)])}`];
  if (file.isGone) {
    // A file of tests that no tests are told apart in is one by its name.
    const isWhole = isNamed(path) && !isData(path, before.text) && before.units.length === 0 && before.others.length > 0;
    return isWhole && !isMoved(file, all) ? [`${path} was deleted`] : lost;
  }
  if (marksMore(file, skipsIn)) lost.push(`${path}: tests are skipped that were not`);
  if (marksMore(file, focusesIn)) lost.push(`${path}: tests are focused, so that others don't run`);
  const own = saidIn(before).filter((one) => !isElsewhere(one, file, all.came));
  const saidBy = ({ head, statements }: Unit): Said[] => [head, ...statements];
  const was = assertionsIn([...[...arrivals.values()].flatMap(({ unit }) => saidBy(unit)), ...own]);
  const is = assertionsIn([...[...arrivals.keys()].flatMap(saidBy), ...saidIn(after)]);
  if (is < was) lost.push(`${path}: ${was} assertions before, ${is} now`);
  return lost;
}

/** Whether a file of the same content came for one that is gone. */
function isMoved({ before }: Read, { files }: All): boolean {
  return files.some((one) => one.isNew && one.after.text === before.text);
}

type Marks = (path: string, text: string) => number;

/** Whether a file has more marks than it had, and its tests brought along from elsewhere. */
function marksMore(file: Read, marks: Marks): boolean {
  const { path, before, after } = file;
  const left = marks(path, before.text) - marksAway(file, (to) => to !== file, marks);
  const brought = originsOf(file)
    .filter((one) => one !== file)
    .map((one) => {
      const away = marks(one.path, one.before.text) - marks(one.path, one.after.text);
      return Math.max(
        away,
        marksAway(one, (to) => to === file, marks),
      );
    });
  return marks(path, after.text) > brought.reduce((sum, count) => sum + count, left);
}

/** Marks in the text of tests that lie in other files now. */
function marksAway({ path, before, pairs }: Read, isThere: (file: Read) => boolean, marks: Marks): number {
  let count = 0;
  for (const [{ from, end }, to] of pairs) if (isThere(to.file)) count += marks(path, before.text.slice(from, end));
  return count;
}

function changedIn(file: Read, all: All): string {
  const { path, before, after, isNew, isGone, pairs, arrivals } = file;
  if (!isGone && selectsElse(path, before.text, after.text)) return path;
  if (isGone && before.units.length === 0) return isMissed(file) && !isMoved(file, all) ? path : "";
  if (isData(path, before.text) || isData(path, after.text)) return isDataKept(file) ? "" : path;
  if (isNew && arrivals.size === 0) return "";
  // Of a test it is said where it was: who accepts changes of that file accepts what became of it.
  const units = [...pairs]
    .filter(([was, to]) => !assertsAll(was, to.unit, knownTo(to.file)) || isActedOnElse(was, to.unit, to.file !== file))
    .map(([{ name }]) => name);
  const isElse = othersChange(file, all.came) || (!isGone && importsChange(file, all.gone, (one) => isElsewhere(one, file, all.came)));
  return units.length === 0 && !isElse ? "" : `${path}${units.length === 0 ? "" : ` (${some(units)})`}`;
}

/** Whether a file that is gone was more than a text or a sample for people. */
function isMissed({ path, before }: Read): boolean {
  return !isProse(path) && !/\.(?:example|sample|template)$/.test(path) && before.text.trim() !== "";
}

function isDataKept({ path, before, after, isNew }: Read): boolean {
  return isNew || isProse(path) || (isRunner(path) && !isFixture(path)) || holdsAll(before.text, after.text);
}

/** Whether data has every line that it had, in the same order. */
function holdsAll(was: string, is: string): boolean {
  const lines = was.split(/\r?\n/).filter((line) => line.trim() !== "");
  let at = 0;
  for (const line of is.split(/\r?\n/)) if (line === lines[at]) at += 1;
  return at === lines.length;
}
