import { matcher } from "../glob.ts";
import { nameOf } from "../paths.ts";
import { fixtures, runnerFiles, testFiles } from "../toolchains.ts";
import { type Known, knownIn } from "./effects.ts";
import { isCode } from "./languages.ts";
import { tokensOf } from "./tokens.ts";
import type { Token } from "./token.ts";
import { type TestsIn, testsIn, type Unit } from "./units.ts";

/** A changed file, as it was and as it is; null where it is not there. */
export interface ChangedFile {
  readonly path: string;
  readonly was: string | null;
  readonly is: string | null;
}

export interface Side extends TestsIn {
  readonly text: string;
  readonly tokens: readonly Token[];
}

export interface Read {
  readonly path: string;
  readonly before: Side;
  readonly after: Side;
  readonly isGone: boolean;
  readonly isNew: boolean;
  /** Where the tests that were in it are now. */
  readonly pairs: Map<Unit, { readonly unit: Unit; readonly file: Read }>;
  /** The tests that are in it now and were somewhere before, by what they were. */
  readonly arrivals: Map<Unit, { readonly unit: Unit; readonly file: Read }>;
}

/** Files by whose names runners know them; in a folder of tests others lie, too. */
export const isNamed = matcher(testFiles.filter((glob) => !glob.includes("/")));
export const isTest = matcher(testFiles);
export const isFixture = matcher(fixtures);
export const isRunner = matcher(runnerFiles);
/** Configuration that is a part of the tests themselves. */
const support = /^(?:conftest\.py|(?:set-?up-?tests|test-?set-?up|test[-_]?utils)\..*|\w+_helper\.rb)$/i;
const prose = /\.(?:md|rst|adoc)$|(?:^|\/)(?:README|LICENSE)[^/]*$/i;

export function isProse(path: string): boolean {
  return prose.test(path);
}

/** In UTF-16 units: of larger programs it is only known whether they changed. */
export const mostCode = 1024 * 1024;

const none: Side = { text: "", tokens: [], units: [], others: [] };

export function isData(path: string, text: string): boolean {
  return !isCode(path) || text.length > mostCode || (isFixture(path) && !isTest(path));
}

export function readFile({ path, was, is }: ChangedFile): Read {
  return {
    path,
    before: sideOf(path, was),
    after: sideOf(path, is),
    isGone: is === null,
    isNew: was === null,
    pairs: new Map(),
    arrivals: new Map(),
  };
}

function sideOf(path: string, text: string | null): Side {
  if (text === null) return none;
  if (isData(path, text)) return { ...none, text };
  const tokens = tokensOf(path, text);
  const isHeld = isTest(path) || support.test(nameOf(path));
  return { ...none, text, tokens, ...(isHeld ? testsIn(path, text, tokens) : {}) };
}

/** The files that the tests in a file come from, itself among them where it was there. */
export function originsOf(file: Read): Read[] {
  const from = new Set([...file.arrivals.values()].map((one) => one.file));
  return [...new Set([...(file.isNew ? [] : [file]), ...from])];
}

/** The words of the files that a file's tests come from, once all tests are paired. */
export function knownTo(file: Read): Known {
  const wordsOf = ({ before }: Read): string[] => before.tokens.map(({ text }) => text);
  const known = knowledge.get(file) ?? knownIn(file.path, originsOf(file).flatMap(wordsOf));
  knowledge.set(file, known);
  return known;
}

/** Each of its tests asks for it. */
const knowledge = new WeakMap<Read, Known>();
