import { matcher } from "../glob.ts";
import { some } from "../subject.ts";
import { nameOf } from "../paths.ts";
import { fixtures, runnerFiles, testFiles } from "../toolchains.ts";
import { assertionsIn, assertsAll, hasMoreRows, isHarmless, isTable, textOf } from "./growth.ts";
import { importedBy, isAmong, isImport } from "./imports.ts";
import { focusesIn, skipsIn } from "./marks.ts";
import { isCode } from "./languages.ts";
import { tokensOf } from "./tokens.ts";
import { type TestsIn, testsIn, type Unit } from "./units.ts";

/** A changed file, as it was and as it is; null where it is not there. */
export interface ChangedFile {
  readonly path: string;
  readonly was: string | null;
  readonly is: string | null;
}

export interface Kept {
  readonly path: string;
  /** Tests that are gone, skipped, hidden by others or assert less. */
  readonly lost: readonly string[];
  /** What it asserts is no longer the same: a reader must say whether it is less. Empty where it is. */
  readonly changed: string;
}

/** Files by whose names runners know them; in a folder of tests others lie, too. */
const isNamed = matcher(testFiles.filter((glob) => !glob.includes("/")));
const isTest = matcher(testFiles);
const isFixture = matcher(fixtures);
const isRunner = matcher(runnerFiles);
/** Configuration that is a part of the tests themselves. */
const isSupport = /^(?:conftest\.py|(?:set-?up-?tests|test-?set-?up|test[-_]?utils)\..*|\w+_helper\.rb)$/i;
const isProse = /\.(?:md|rst|adoc)$|(?:^|\/)(?:README|LICENSE)[^/]*$/i;

/** In UTF-16 units: of larger programs it is only known whether they changed. */
export const mostCode = 1024 * 1024;

interface Side extends TestsIn {
  readonly text: string;
  /** Without comments. */
  readonly code: string;
}

interface Read {
  readonly path: string;
  readonly before: Side;
  readonly after: Side;
  readonly isGone: boolean;
  readonly isNew: boolean;
  /** Where the tests that were in it are now. */
  readonly pairs: Map<Unit, { readonly unit: Unit; readonly file: Read }>;
}

const none: Side = { text: "", code: "", units: [], others: [] };

function isData(path: string, text: string): boolean {
  return !isCode(path) || text.length > mostCode || (isFixture(path) && !isTest(path));
}

function sideOf(path: string, text: string | null): Side {
  if (text === null) return none;
  if (isData(path, text)) return { ...none, text, code: text };
  const isHeld = isTest(path) || isSupport.test(nameOf(path));
  return { text, code: text, ...(isHeld ? testsIn(path, text) : { units: [], others: [] }) };
}

/** Whether a file is one that tests are, or are run with. */
export function isOfTests(path: string): boolean {
  return isTest(path) || isFixture(path) || isRunner(path);
}

/** What became of the tests in all files that changed, taken together: a test may have another name or place. */
export function keptTests(changes: readonly ChangedFile[]): Kept[] {
  const files = changes
    .filter(({ path }) => isOfTests(path))
    .map(({ path, was, is }): Read => {
      return { path, before: sideOf(path, was), after: sideOf(path, is), isGone: is === null, isNew: was === null, pairs: new Map() };
    });
  pair(files);
  const gone = changes.filter(({ is }) => is === null).map(({ path }) => path);
  return files.map((file) => ({ path: file.path, lost: lostIn(file, files), changed: file.isGone ? "" : changedIn(file, files, gone) }));
}

type Fits = (was: Unit, is: Unit) => boolean;
/** The same test is found by all of it; else, where it was, by its name; a renamed one by what it says. */
const isSame: Fits = (was, is) => was.name === is.name && textOf(was) === textOf(is);
const isRenamed: Fits = (was, is) => textOf(was) === textOf(is) && assertionsIn(was.statements) > 0;
const isNamesake: Fits = (was, is) => was.name === is.name;

function pair(files: readonly Read[]): void {
  const taken = new Set<Unit>();
  const pairWith = (fits: Fits, isElsewhere: boolean): void => {
    for (const file of files) {
      const others = files.filter((one) => one !== file && (isNamed(one.path) || !isNamed(file.path)));
      for (const was of file.before.units) {
        if (file.pairs.has(was)) continue;
        for (const one of isElsewhere ? others : [file]) {
          const unit = one.after.units.find((is) => !taken.has(is) && fits(was, is));
          if (unit === undefined) continue;
          taken.add(unit);
          file.pairs.set(was, { unit, file: one });
          break;
        }
      }
    }
  };
  for (const [fits, isElsewhere] of [
    [isSame, false],
    [isSame, true],
    [isRenamed, false],
    [isNamesake, false],
    [isRenamed, true],
    [isNamesake, true],
  ] as const)
    pairWith(fits, isElsewhere);
}

/** Tests that came into a file from others. */
function movedInto(file: Read, files: readonly Read[]): Unit[] {
  return files
    .filter((one) => one !== file)
    .flatMap(({ pairs }) => [...pairs.values()].flatMap((to) => (to.file === file ? [to.unit] : [])));
}

function lostIn(file: Read, files: readonly Read[]): string[] {
  const { path, before, after, pairs } = file;
  const gone = before.units.filter((unit) => !pairs.has(unit)).map(({ name }) => name.replace(/^["'`]|["'`]$/g, ""));
  const lost = gone.length === 0 ? [] : [`${path}: tests were removed: ${some([...new Set(gone)])}`];
  const elsewhere = new Set(files.filter((one) => one !== file).flatMap((one) => one.after.others.map(({ text }) => text)));
  const saidIn = ({ others }: Side): string[] => others.map(({ text }) => text).filter((text) => !isImport(text));
  const own = saidIn(before).filter((text) => !elsewhere.has(text));
  if (file.isGone) {
    const isMoved = files.some((one) => one.isNew && one.after.text === before.text);
    const isEmpty = before.text === "" || (before.units.length > 0 && assertionsIn(own) === 0) || gone.length > 0;
    return isMoved || isEmpty ? lost : [`${path} was deleted`];
  }
  const moved = movedInto(file, files);
  const count = (marks: (path: string, code: string) => number): number =>
    marks(path, after.code) -
    moved.reduce((sum, { from, end }) => sum + marks(path, after.text.slice(from, end)), 0) -
    marks(path, before.code);
  if (count(skipsIn) > 0) lost.push(`${path}: tests are skipped that were not`);
  if (count(focusesIn) > 0) lost.push(`${path}: tests are focused, so that others don't run`);
  const kept = [...pairs].filter(([, to]) => to.file === file);
  const was = assertionsIn([...kept.flatMap(([unit]) => unit.statements), ...own]);
  const is = assertionsIn([...kept.flatMap(([, { unit }]) => unit.statements), ...saidIn(after)]);
  if (is < was) lost.push(`${path}: ${was} assertions before, ${is} now`);
  return lost;
}

function changedIn(file: Read, files: readonly Read[], gone: readonly string[]): string {
  const { path, before, after, isNew, pairs } = file;
  if (isData(path, before.text) || isData(path, after.text))
    return isNew || isProse.test(path) || (isRunner(path) && !isFixture(path)) || holdsAll(before.text, after.text) ? "" : path;
  const moved = movedInto(file, files);
  if (isNew && moved.length === 0) return "";
  const known = wordsOf(path, before.text);
  const units = [...pairs].filter(([was, { unit }]) => !assertsAll(was, unit, known)).map(([{ name }]) => name);
  const origins = files.filter((one) => one === file || [...one.pairs.values()].some((to) => to.file === file));
  const isElse = (!isNew && othersChange(file, files, known)) || importsChange(file, origins, gone);
  return units.length === 0 && !isElse ? "" : `${path}${units.length === 0 ? "" : ` (${some(units)})`}`;
}

function wordsOf(path: string, text: string): Set<string> {
  return new Set(tokensOf(path, text).map((token) => token.text));
}

/** Whether data has every line that it had, in the same order. */
function holdsAll(was: string, is: string): boolean {
  const lines = was.split(/\r?\n/).filter((line) => line.trim() !== "");
  let at = 0;
  for (const line of is.split(/\r?\n/)) if (line === lines[at]) at += 1;
  return at === lines.length;
}

/** Whether what stands beside the tests says something else than before, or something new acts on them. */
function othersChange(file: Read, files: readonly Read[], known: ReadonlySet<string>): boolean {
  const { before, after } = file;
  const paired = new Set(files.flatMap(({ pairs }) => [...pairs.values()].map(({ unit }) => unit)));
  const left = after.others.filter(({ text }) => !isImport(text));
  const elsewhere = files.filter((one) => one !== file).flatMap((one) => one.after.others.map(({ text }) => text));
  for (const { text } of before.others) {
    if (isImport(text) || isPlan.test(text)) continue;
    const at = left.findIndex((one) => one.text === text || (isTable.test(text) && hasMoreRows(text, one.text)));
    if (at >= 0) left.splice(at, 1);
    else if (!elsewhere.includes(text)) return true;
  }
  const isOfNew = (beside: readonly Unit[]): boolean =>
    beside.length > 0 && beside.length < after.units.length && !beside.some((unit) => paired.has(unit));
  return left.some(({ text, beside }) => !isPlan.test(text) && !isOfNew(beside) && !isHarmless(text, known, true));
}

/** How many tests there are is counted elsewhere. */
const isPlan = /^(?:use Test :: More|plan\b|done_testing\b|"?1 \. \.)|^"use strict"$/;

/** Whether a name that the tests had stands for something else now. Where its source is gone, nothing else is possible. */
function importsChange(file: Read, origins: readonly Read[], gone: readonly string[]): boolean {
  const had = origins.flatMap(({ path, before }) => before.others.flatMap(({ text }) => (isImport(text) ? importedBy(path, text) : [])));
  const has = file.after.others.flatMap(({ text }) => (isImport(text) ? importedBy(file.path, text) : []));
  return has.some(({ name, source, original }) => {
    const earlier = had.filter((one) => one.name === name);
    if (earlier.length === 0 || earlier.some((one) => one.source === source && one.original === original)) return false;
    return !earlier.every((one) => isAmong(one.source, gone));
  });
}
