import type { CheckFiles, ManifestEntry } from "@holdfast/runtime";
import type { CheckInput, CheckInputs } from "../inputs.ts";
import type { InputChange } from "../original.ts";
import { keyOf } from "../inputs.ts";
import type { FilePart } from "../parts.ts";
import { matcher } from "../glob.ts";
import { folderOf, nameOf } from "../paths.ts";
import { fixtures, testFiles } from "../toolchains.ts";
import { hidesFiles, isIgnoreFile } from "./ignores.ts";
import { inlineTests } from "./inline.ts";
import { mayAsk } from "./asking.ts";
import { withoutHarmless } from "./harmless.ts";
import { comparedFields, withOpenFields } from "./compared.ts";
import { mayDiffer, mayReach, reachRules } from "./rules.ts";
import type { NewLines } from "./outside.ts";
import { changesTests } from "./held-tests.ts";
import { setsModule } from "./modules.ts";
import { isSourced } from "./sourced.ts";
import { leavesChecker, silencesLines } from "./silencers.ts";
import { escaped, isSupport } from "./support.ts";
import { usedOfTests } from "./test-names.ts";

/** A changed file that is no input of the check, with the lines that it did not have at the baseline. */
interface ChangedSource {
  readonly entry: ManifestEntry;
  /** The new lines alone. */
  readonly text: string;
  /** Null where it wasn't there, or is no longer stored. */
  readonly was: string | null;
  readonly is: string;
  readonly isGone: boolean;
  readonly path: string;
  readonly kind: string;
  readonly wasKind: string | null;
}

export interface Reach {
  /** Files that reach into the tests, with what they do. */
  readonly reaching: readonly {
    readonly entry: ManifestEntry;
    readonly what: string;
    readonly part: FilePart | null;
    readonly isGone: boolean;
  }[];
  /** Paths of files that may do so in a way that only a watched run can show. */
  readonly mayReach: readonly string[];
  /** Paths of files that ask for what may differ under test: a watched run shows whether the tests' outcome hangs on it. */
  readonly mayAsk: readonly string[];
  /** What a watched run has in place of such a file, and parts of values that are compared there as before. */
  readonly opened: readonly { readonly entry: ManifestEntry; readonly text: string }[];
  readonly compared: readonly string[];
  /** Something new can make one run differ from the next. */
  readonly mayDiffer: boolean;
  /** What the changed sources say that they did not say before. */
  readonly newLines: readonly NewLines[];
}

/** Larger files are data, or made by a program. */
const mostBytes = 512 * 1024;

/** Reads what the changed sources have new. `testText`: the check's command and the tests, which may load a script into their own process. `looked`: files that the check itself looks at. `declares`: the check's definition says what its inputs are. `commands`: its command with all that it leads to. */
export async function findReach(
  files: CheckFiles,
  manifests: { readonly before: string; readonly after: string },
  inputs: ReadonlyMap<string, CheckInput>,
  testText: string,
  { looked, declares, commands }: { readonly looked: ReadonlySet<string>; readonly declares: boolean; readonly commands: string },
): Promise<Reach> {
  const reaching: Reach["reaching"][number][] = [];
  const may: string[] = [];
  const asks: string[] = [];
  const opened: Reach["opened"][number][] = [];
  const compared: string[] = [];
  let differs = false;
  const changed = await changedSources(files, manifests, inputs);
  const sourced = await sourcedText(files, manifests.after, changed, testText);
  const namesTests = namesOfTests(inputs);
  const folders = foldersOfTests(inputs);
  const modules = await untouchedModules(files, manifests, changed);
  for (const one of changed) {
    const { entry, text, was, is, isGone } = one;
    const plain = withoutHarmless(entry.path, is, testText);
    const said = plain === is ? text : newLinesOf(plain, is, was);
    const rule = reachRules.find(
      ({ files, pattern, namedByTests, onlySourced }) =>
        files.test(entry.path) &&
        (namedByTests !== undefined ? findsNamed(pattern, said, testText, namedByTests) : pattern.test(said)) &&
        (onlySourced !== true || isSourced(entry.path, sourced)),
    );
    const open = entry.kind === "link" ? null : withOpenFields(entry.path, was, is, testText);
    if (open !== null) opened.push({ entry, text: open });
    compared.push(...comparedFields(entry.path, was));
    const inline = inlineTests(entry.path);
    const found = (what: string, part: FilePart | null = null): unknown => reaching.push({ entry, what, part, isGone });
    if (rule !== undefined) found(rule.id);
    else if (setsModule(entry.path, said, plain)) found("changes what all programs are made of");
    else if (silencesLines(entry.path, was, is, commands)) found("silences a checker");
    else if (leavesChecker(one, changed, commands)) found("goes where a checker does not look");
    else if (usedOfTests(entry.path, was, is) !== null) found("uses what is there for tests alone");
    else if (isIgnoreFile(entry.path) && (await hidesFiles(files, manifests, { entry, was, is }))) found("hides files from the check");
    else if (was === null && standsBefore(entry.path, modules, testText)) found("has the name of a module that the tests load");
    else if (isProgram(entry) && (namesTests?.test(text) === true || listsTests(text, folders))) found("names the tests' own files");
    else if (inline !== null && was !== null && inline.read(was) !== inline.read(is)) found("holds tests", inline);
    else if (changesTests(entry.path, was, is)) found("holds tests");
    else if (!looked.has(entry.path) && (await isSupport(files, manifests.after, { entry, was, is }, inputs, testText, declares)))
      found("is a part of the tests");
    else if (mayReach.some((one) => one.files.test(entry.path) && one.pattern.test(text))) may.push(entry.path);
    else if (open !== null || mayAsk.some((one) => one.files.test(entry.path) && one.pattern.test(text))) asks.push(entry.path);
    differs ||= mayDiffer.test(text);
  }
  return {
    reaching,
    mayReach: may,
    mayAsk: asks,
    opened,
    compared,
    mayDiffer: differs,
    newLines: changed.map(({ entry, text }) => ({ root: entry.root, path: entry.path, text })),
  };
}

async function changedSources(
  files: CheckFiles,
  { before, after }: { readonly before: string; readonly after: string },
  inputs: ReadonlyMap<string, CheckInput>,
): Promise<ChangedSource[]> {
  if (before === after) return [];
  const old = new Map((await files.list(before)).map((entry) => [keyOf(entry), entry]));
  const changed: ChangedSource[] = [];
  for (const entry of await files.list(after)) {
    const key = keyOf(entry);
    const earlier = old.get(key);
    old.delete(key);
    if (inputs.has(key) || (earlier?.digest === entry.digest && earlier.kind === entry.kind) || entry.size > mostBytes) continue;
    if (entry.kind !== "file" && entry.kind !== "executable" && entry.kind !== "link") continue;
    const [was, is] = [earlier === undefined ? null : await textOf(files, before, entry), await textOf(files, after, entry)];
    if (is === null) continue;
    const text = newLinesOf(is, is, was);
    changed.push({ entry, text, was, is, isGone: false, path: entry.path, kind: entry.kind, wasKind: earlier?.kind ?? null });
  }
  for (const [key, entry] of old) {
    if (inputs.has(key) || entry.size > mostBytes || entry.kind === "submodule" || entry.kind === "other") continue;
    const { path, kind } = entry;
    changed.push({ entry, text: "", was: await textOf(files, before, entry), is: "", isGone: true, path, kind, wasKind: kind });
  }
  return changed;
}

/** Files of code that the session left as they were, by what tests may load them as: Python's modules by name, all others by path. */
async function untouchedModules(
  files: CheckFiles,
  { before }: { readonly before: string },
  changed: readonly ChangedSource[],
): Promise<ReadonlyMap<string, string>> {
  if (!changed.some(({ was }) => was === null)) return new Map();
  const touched = new Set(changed.map(({ entry }) => keyOf(entry)));
  const entries = (await files.list(before)).filter((entry) => loadedCode.test(entry.path) && !touched.has(keyOf(entry)));
  return new Map(
    entries.flatMap(({ path }) => {
      const keys = path.endsWith(".py") ? [moduleOf(path), beside(path)] : [beside(path)];
      return (isIndex.test(path) ? [...keys, `${folderKey}${folderOf(path)}`] : keys).map((key) => [key, path]);
    }),
  );
}

const scriptCode = /\.[cm]?[jt]sx?$/;
const loadedCode = /\.(?:[cm]?[jt]sx?|py|pm)$/;
/** What a language finds before a file that is named alike: `f.pmc`, `f.so`, `f.js` beside `f.ts`, `f` itself. */
const foundFirst = /(?:\.(?:[cm]?[jt]sx?|pmc|pyd|so|node)|(?:^|\/)[^./]+)$/;

function moduleOf(path: string): string {
  return nameOf(path) === "__init__.py" ? nameOf(folderOf(path)) : nameOf(path).replace(/\.py$/, "");
}

/** A path without its ending. */
function beside(path: string): string {
  return `/${path.replace(/(?:\.(?:abi3|cpython-\w+(?:-[\w-]+)?))?\.\w+$/, "")}`;
}

/** Loaded where only its folder is named. */
const isIndex = /\/index\.[cm]?[jt]sx?$/;
const folderKey = "folder:";

/** A new module that the tests would load in place of one of its name that lies elsewhere, beside it with another ending, or in a folder of its name. */
function standsBefore(path: string, modules: ReadonlyMap<string, string>, testText: string): boolean {
  const named = escaped(nameOf(beside(path)));
  if (foundFirst.test(path) && modules.has(beside(path))) return new RegExp(`(?<![\\w-])${named}(?![\\w-])`).test(testText);
  // Who says the ending means the file.
  if (scriptCode.test(path) && modules.has(`${folderKey}${beside(path).slice(1)}`))
    return new RegExp(`(?<![\\w-])${named}["'\`]`).test(testText);
  // Python finds a package before a module.
  const isPackage = nameOf(path) === "__init__.py" && modules.get(`/${folderOf(path)}`)?.endsWith(".py") === true;
  if (isPackage && new RegExp(`^\\s*(?:from|import)\\s[^\\n#]*\\b${escaped(nameOf(folderOf(path)))}\\b`, "m").test(testText)) return true;
  const name = moduleOf(path);
  const other = path.endsWith(".py") && /^\w+$/.test(name) ? modules.get(name) : undefined;
  return other !== undefined && other !== path && new RegExp(`^\\s*(?:from|import)\\s+${name}\\b`, "m").test(testText);
}

const shellFile = /(?:\.(?:sh|bash|zsh|ksh|inc|bats)|(?:^|\/)[^./]+)$/;
/** Scripts that are looked through for what they source. */
const mostScripts = 1_000;

/** The text in which a sourced script may be named: the tests', and that of every script they may have sourced before it. */
async function sourcedText(files: CheckFiles, manifest: string, changed: readonly ChangedSource[], testText: string): Promise<string> {
  if (!changed.some(({ entry }) => shellFile.test(entry.path)) || !/(?:^|[\s;&|(])(?:\.|source)\s/m.test(testText)) return testText;
  const scripts = (await files.list(manifest)).filter(({ path, size }) => shellFile.test(path) && size <= mostBytes);
  const texts = await Promise.all(scripts.slice(0, mostScripts).map((entry) => textOf(files, manifest, entry)));
  return [testText, ...texts].join("\n");
}

/** Finds the name of a file of the tests. What is named so that it says nothing (`index.js`) is left out. */
function namesOfTests(inputs: ReadonlyMap<string, CheckInput>): RegExp | null {
  const isMeant = matcher([...testFiles, ...fixtures]);
  const names = [...inputs.values()]
    .filter(({ entry, part }) => part === null && isMeant(entry.path))
    .map(({ entry }) => nameOf(entry.path))
    .filter((name) => name.includes(".") && !/^(?:index|__init__|mod|main|helpers?|utils?)\.\w+$/.test(name));
  if (names.length === 0 || names.length > mostNames) return null;
  const any = names.map((name) => escaped(name)).join("|");
  return new RegExp(`(?<![\\w.-])(?:${any})(?![\\w-])`);
}

function foldersOfTests(inputs: ReadonlyMap<string, CheckInput>): ReadonlySet<string> {
  const isMeant = matcher(testFiles);
  return new Set([...inputs.values()].filter(({ entry }) => isMeant(entry.path)).map(({ entry }) => nameOf(folderOf(entry.path))));
}

const lists = /\b(?:readdir\w*|opendir\w*|glob\w*|listdir|scandir|iterdir|walk|find)\b/;

/** It looks through a folder of tests: what they expect stands there. */
function listsTests(text: string, folders: ReadonlySet<string>): boolean {
  return (
    lists.test(text) &&
    [...text.matchAll(/["'`/]([\w.-]+)(?:\/[*\w.]*)*["'`]|(?<=\bfind\s+)([\w.-]+)/g)].some(([, one, two]) => folders.has(one ?? two ?? ""))
  );
}

const mostNames = 2_000;
const programFile = /\.(?:[cm]?[jt]sx?|py|rb|pl|pm|php|sh|bash|go|rs)$/;

function isProgram(entry: ManifestEntry): boolean {
  return programFile.test(entry.path) || entry.kind === "executable";
}

async function textOf(files: CheckFiles, manifest: string, entry: ManifestEntry): Promise<string | null> {
  const bytes = await files.content(manifest, entry);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** The lines that a file did not have before, as `shown` has them. */
function newLinesOf(shown: string, is: string, was: string | null): string {
  const known = new Set(was === null ? [] : linesOf(was));
  const lines = linesOf(is);
  return linesOf(shown)
    .filter((_, at) => !known.has(lines[at] ?? ""))
    .join("\n");
}

function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

function findsNamed(pattern: RegExp, text: string, testText: string, how: "named" | "set" | "defined"): boolean {
  const names = [...text.matchAll(pattern)]
    .flatMap(([, ...lists]) => lists.flatMap((list = "") => list.replace(/["'\\]/g, "").split(/\s+/)))
    .map((word) => word.replace(/=.*$/, ""))
    .filter((name) => /^\w+$/.test(name));
  const ways: Readonly<Record<typeof how, (name: string) => string>> = {
    named: (name) => `\\b${name}\\b`,
    set: (name) => `\\b${name}\\+?=|\\bfor\\s+${name}\\b|\\bread\\b[^\\n;|&]*\\b${name}\\b`,
    defined: (name) => `\\b${name}[ \\t]*\\([ \\t]*\\)|\\bfunction[ \\t]+${name}\\b`,
  };
  return names.some((name) => new RegExp(ways[how](name)).test(testText));
}

/** The check's command with all that it leads to, and the tests: where it stands what they load. */
export async function testText(files: CheckFiles, manifest: string, { inputs, named }: CheckInputs): Promise<string> {
  let text = named.text;
  for (const { entry, part } of inputs.values()) {
    if (part !== null || entry.size > mostBytes) continue;
    const bytes = await files.content(manifest, entry);
    if (bytes !== null) text += `\n${new TextDecoder().decode(bytes)}`;
  }
  return text;
}

/** Files that act on the tests, as changed inputs. */
export async function asInputs(files: CheckFiles, before: string, reaching: Reach["reaching"]): Promise<InputChange[]> {
  if (reaching.length === 0) return [];
  const old = new Map((await files.list(before)).map((entry) => [keyOf(entry), entry]));
  return reaching.map(({ entry, part, isGone }) => {
    const asInput = (one: ManifestEntry): CheckInput => ({ entry: one, part, digest: `${one.kind}:${one.digest}`, isShadow: false });
    const earlier = old.get(keyOf(entry));
    return { path: entry.path, before: earlier === undefined ? null : asInput(earlier), after: isGone ? null : asInput(entry) };
  });
}
