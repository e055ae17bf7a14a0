import { declaredBy } from "./effects.ts";
import { definedIn } from "./growth.ts";
import { type Imported, importedBy, type Imports } from "./imported.ts";
import { originsOf, type Read, type Side } from "./sides.ts";
import type { Token } from "./token.ts";
import type { Other } from "./units.ts";

const importing =
  /^(?:import|from|use|using|alias|package|require|require_relative|include|load|source|\.)(?= |$)|^# include\b|^(?:export )?(?:const|let|var) .+? = (?:await )?(?:require|import) \( /;

/** Whether a statement, as it is compared, brings in what other files hold. */
export function isImport(text: string): boolean {
  return importing.test(text);
}

/** What tests are written with: a file that had it without saying so may say so. */
const runners =
  /^(?:vitest|@jest\/globals|mocha|chai|assert(?:\/strict)?|test|bun:test|@playwright\/test|@testing-library\/[\w-]+|ava|tap|tape|uvu|pytest|unittest|testing|org\.(?:junit|testng|hamcrest|assertj|mockito)\b.*|kotlin\.test.*|io\.kotest.*|PHPUnit\b.*|Test::More)$/;

/** Whether a name that the tests had stands for something else now. Where its source is gone, nothing else is possible. */
export function importsChange(file: Read, gone: readonly string[], isMoved: (one: Other) => boolean): boolean {
  const origins = originsOf(file);
  const had = merged(origins.flatMap(({ path, before }) => importsOf(path, before)));
  const has = merged(importsOf(file.path, file.after));
  const used = lazily(() => new Set(origins.flatMap(({ before }) => [...freeIn(before.tokens)])));
  const isElse = (one: Imported): boolean => {
    const earlier = had.names.filter(({ name }) => name === one.name);
    if (earlier.some(({ source, original }) => source === one.source && original === one.original)) return false;
    if (earlier.length > 0) return !earlier.every(({ source }) => isAmong(source, gone));
    if (runners.test(one.source) || isAmong(one.name, gone) || [...had.open, ...had.hiding].includes(one.source)) return false;
    const definitions = origins.flatMap(({ before }) => before.others.filter((other) => namesIn(other).includes(one.name)));
    return definitions.length === 0 ? used().has(one.name) : !definitions.every(isMoved);
  };
  return (
    has.names.some(isElse) ||
    has.hiding.some((source) => !had.hiding.includes(source) && !runners.test(source)) ||
    isReplaced(had.open, has.open, gone, false) ||
    isReplaced(had.run, has.run, gone, true)
  );
}

/** Whether other places are taken in; of what is run, whether any is or isn't any more. */
function isReplaced(had: readonly string[], has: readonly string[], gone: readonly string[], isAny: boolean): boolean {
  const away = had.filter((one) => !has.includes(one));
  const come = has.filter((one) => !had.includes(one));
  if (come.length <= away.length && away.every((one) => isAmong(one, gone))) return false;
  return isAny ? away.length > 0 || come.length > 0 : away.length > 0 && come.length > 0;
}

function importsOf(path: string, { others }: Side): Imports[] {
  return others.filter(({ text }) => isImport(text)).map((one) => importedBy(path, one));
}

function merged(all: readonly Imports[]): Imports {
  return {
    names: all.flatMap(({ names }) => names),
    hiding: all.flatMap(({ hiding }) => hiding),
    open: all.flatMap(({ open }) => open),
    run: all.flatMap(({ run }) => run),
  };
}

function namesIn(one: Other): readonly string[] {
  if (isImport(one.text)) return [];
  return declaredBy(one.words)?.names ?? definedIn(one) ?? [];
}

/** Names that stand for themselves: no properties, no keys, and none that a test gives to something of its own. */
function freeIn(tokens: readonly Token[]): Set<string> {
  const free = new Set<string>();
  const own = new Set<string>();
  for (const [at, { text, isString }] of tokens.entries()) {
    const before = tokens[at - 1]?.text ?? "";
    const isKey = tokens[at + 1]?.text === ":" && /^[{,]$/.test(before);
    if (/^(?:const|let|var|val)$/.test(before)) own.add(text);
    else if (!isString && before !== "." && !isKey) free.add(text);
  }
  return new Set([...free].filter((name) => !own.has(name)));
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Whether a place that things were brought in from is one of these files, by its name with or without an ending. */
function isAmong(source: string, paths: readonly string[]): boolean {
  const bare = source.includes("/") ? source.replace(/\.\w+$/, "") : source.replaceAll(".", "/").replace(/^\/+/, "");
  return paths.some((path) => [path, path.replace(/\.\w+$/, "")].some((one) => one === bare || one.endsWith(`/${bare}`)));
}
