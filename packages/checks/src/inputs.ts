import type { RunCheck } from "@holdfast/protocol";
import type { CheckFiles, ManifestEntry } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { matcher } from "./glob.ts";
import { configLoads, loadsOf, sourceFolder } from "./loads.ts";
import { findNamed, type Named } from "./named.ts";
import { isRunner, isTested } from "./programs.ts";
import { type FilePart, matchesPart, packagePart, sectionsPart } from "./parts.ts";
import { below, folderOf, nameOf, resolvePath } from "./paths.ts";
import { isTestText, mayBeSource } from "./among.ts";
import * as toolchains from "./toolchains.ts";

/** One file that decides a check's result. */
export interface CheckInput {
  readonly entry: ManifestEntry;
  /** Set where only a part of the file counts. */
  readonly part: FilePart | null;
  /** Hex SHA-256 of the part, or of the whole. */
  readonly digest: string;
  /** It counts only because of its name, which stands before a runner's: where it was there at the baseline it does not. */
  readonly isShadow: boolean;
}

export interface CheckInputs {
  /** By `root:path`. */
  readonly inputs: ReadonlyMap<string, CheckInput>;
  readonly named: Named;
}

export interface Workplace {
  readonly cwd: string;
  readonly roots: readonly { readonly id: string; readonly path: string }[];
  /** Where programs are looked for, in order. */
  readonly programFolders?: readonly string[];
  /** The user's home folder, where the session's commands could have written into it. */
  readonly userFolder?: string | null;
}

/** Larger files are no configuration, and past so many inputs nothing more is looked for. */
const mostConfigBytes = 256 * 1024;
const mostWanted = 100_000;
/** Matches of globs that are looked through for whether they are tests. */
const mostRead = 2_000;

/** The root a path lies in, and the path below it; null outside the workspace. */
export function placeOf({ roots }: Workplace, path: string): { readonly root: string; readonly path: string } | null {
  for (const root of roots) {
    const inside = below(root.path, path);
    if (inside !== null) return { root: root.id, path: inside };
  }
  return null;
}

/** What another version of the workspace led to: scripts that it ran, and, where it is the earlier one, its own parts of the test. */
export interface OtherVersion {
  readonly scripts: ReadonlySet<string>;
  readonly suites?: ReadonlySet<string>;
}

/** The inputs of `check` as `manifest` has them, by `also` another version. */
export async function findInputs(
  check: RunCheck,
  manifest: string,
  files: CheckFiles,
  workplace: Workplace,
  also: OtherVersion = { scripts: new Set() },
): Promise<CheckInputs> {
  const entries = await files.list(manifest);
  const home = placeOf(workplace, workplace.cwd) ?? { root: workplace.roots[0]?.id ?? "", path: "" };
  // What lies in another root has its root before its path.
  const nameIn = ({ root, path }: { readonly root: string; readonly path: string }): string =>
    root === home.root ? path : path === "" ? `//${root}` : `//${root}/${path}`;
  const byPath = new Map(entries.map((entry) => [nameIn(entry), entry]));
  const text = async (path: string): Promise<string | null> => {
    const entry = byPath.get(path);
    const bytes = entry === undefined ? null : await files.content(manifest, entry);
    return bytes === null ? null : new TextDecoder().decode(bytes);
  };
  const holdsScripts = (path: string): boolean => /^(?:package|project)\.json$/.test(nameOf(path)) && !/node_modules\/|^\/\//.test(path);
  const packages = [...byPath.keys()].filter(holdsScripts);
  const top = workplace.roots.find(({ id }) => id === home.root)?.path ?? "";
  const named = await findNamed({
    command: check.command,
    folder: home.path,
    has: (path) => byPath.has(path),
    inside(path) {
      const place = placeOf(workplace, path);
      return place === null ? null : nameIn(place);
    },
    top,
    packages,
    text,
    ...(also.suites === undefined ? {} : { suites: also.suites }),
  });

  const isInput = matcher(globsFor(check, named));
  const isGiven = matcher([...named.globs]);
  const isRead = matcher([...named.read]);
  const isTest = testsAmongRead((path) => byPath.has(path), text);
  const isShadow = matcher(toolchains.shadows);
  const shadows = new Set<string>();
  const scripts = new Set([...named.scripts, ...also.scripts]);
  const wanted = new Map<string, ManifestEntry>();
  // Its own report is written by the run, and decides nothing of it.
  const own = check.kind === "tests" && check.report !== null ? resolvePath(home.path, check.report.path) : null;
  for (const entry of entries) {
    if (entry.root === home.root && entry.path === own) continue;
    const isRun = entry.root === home.root && isGiven(entry.path);
    const isMatched = isRun || (entry.root === home.root && isRead(entry.path) && !isInput(entry.path) && (await isTest(entry)));
    const isNamed = named.files.has(nameIn(entry)) || isMatched;
    // It would be found first wherever the check's PATH leads into the workspace.
    const isProgram = entry.kind !== "file" && (named.programs.has(nameOf(entry.path)) || isRunner(nameOf(entry.path)));
    // A link may stand for a whole folder of tests.
    const isFolder = entry.kind === "link" && isInput(`${entry.path}/x`);
    if (isNamed || isFolder || isInput(entry.path) || partOf(entry.path, scripts, named) !== null) wanted.set(keyOf(entry), entry);
    else if (isProgram && !isTested(nameOf(entry.path))) wanted.set(keyOf(entry), entry);
    else if (isProgram || isShadow(entry.path)) {
      wanted.set(keyOf(entry), entry);
      shadows.add(keyOf(entry));
    }
  }
  await addLoads(named, { root: home.root, byPath, text }, wanted);
  for (const entry of [...wanted.values()]) if (entry.kind === "link") await addTarget(entry, entries, files, manifest, wanted);

  const inputs = new Map<string, CheckInput>();
  for (const [key, entry] of wanted) {
    const isWhole = named.files.has(nameIn(entry)) && nameOf(entry.path) !== "package.json";
    const part = isWhole || entry.kind === "link" ? null : partOf(entry.path, scripts, named);
    const bytes = part === null ? null : await files.content(manifest, entry);
    const digest = part === null || bytes === null ? `${entry.kind}:${entry.digest}` : sha256(part.read(new TextDecoder().decode(bytes)));
    inputs.set(key, { entry, part, digest, isShadow: shadows.has(key) });
  }
  // A check looks at its own report: that its line names it makes no part of the tests of it.
  return { inputs, named: own === null ? named : { ...named, looked: new Set([...named.looked, own]) } };
}

export function keyOf(place: { readonly root: string; readonly path: string }): string {
  return `${place.root}:${place.path}`;
}

function toolsOf(named: Named): string[] {
  return toolchains.toolFiles.filter(({ tool }) => tool.test(named.text)).flatMap(({ files }) => files);
}

function globsFor(check: RunCheck, named: Named): string[] {
  const tools = toolsOf(named);
  const tests = check.inputs.length > 0 ? check.inputs : [...toolchains.testFiles, ...toolchains.fixtures];
  return [...tests, ...toolchains.runnerFiles, ...toolchains.dependenciesInScope, ...tools];
}

/** What runners' configuration leads to, and what that loads from beside it. */
async function addLoads(
  named: Named,
  files: { readonly root: string; readonly byPath: ReadonlyMap<string, ManifestEntry>; text(path: string): Promise<string | null> },
  wanted: Map<string, ManifestEntry>,
): Promise<void> {
  const isConfig = matcher([...toolchains.runnerFiles, ...toolsOf(named), "package.json"]);
  const pending = [...wanted.values()].filter(({ root, path }) => root === files.root && isConfig(path) && !path.includes("node_modules/"));
  for (let entry = pending.pop(); entry !== undefined; entry = pending.pop()) {
    const { path } = entry;
    const text = entry.size > mostConfigBytes ? null : await files.text(path);
    const home = folderOf(path);
    // Among sources what it loads is what is tested.
    const isAlone = isConfig(path) || sourceFolder.test(path) || home === "";
    const beside = isAlone || text === null ? [] : loadsOf(text, home).filter((one) => one.startsWith(`${home}/`));
    for (const one of text === null ? [] : [...configLoads(path, text, isConfig(path)), ...beside]) {
      const loaded = files.byPath.get(one);
      if (loaded === undefined || wanted.has(keyOf(loaded)) || wanted.size > mostWanted) continue;
      wanted.set(keyOf(loaded), loaded);
      pending.push(loaded);
    }
  }
}

/** Whether what a glob matches that is only read is a test all the same. What can't be read is taken for one. */
function testsAmongRead(
  has: (path: string) => boolean,
  read: (path: string) => Promise<string | null>,
): (entry: ManifestEntry) => Promise<boolean> {
  let left = mostRead;
  return async ({ path, size, kind }) => {
    if (!mayBeSource(path) || size > mostConfigBytes || (left -= 1) < 0) return true;
    const text = kind === "file" || kind === "executable" ? await read(path) : null;
    return text === null || isTestText(path, text, has);
  };
}

function partOf(path: string, scripts: ReadonlySet<string>, named: Named): FilePart | null {
  const name = nameOf(path);
  if (name === "package.json") {
    const keys = toolchains.toolKeys.filter(({ tool }) => tool.test(named.text)).flatMap((one) => one.keys);
    return packagePart(scripts, keys, new Set([...named.programs].filter((program) => !isTested(program))));
  }
  if (name === "go.mod") return matchesPart(toolchains.goReplacements);
  const sections = toolchains.sectionFiles.find(({ file }) => file === name);
  return sections === undefined ? null : sectionsPart(sections.sections);
}

/** A linked test is what it leads to: the target's files in scope count as inputs too. */
async function addTarget(
  link: ManifestEntry,
  entries: readonly ManifestEntry[],
  files: CheckFiles,
  manifest: string,
  wanted: Map<string, ManifestEntry>,
): Promise<void> {
  const bytes = await files.content(manifest, link);
  const target = bytes === null ? null : new TextDecoder().decode(bytes);
  const path = target === null || target.startsWith("/") ? null : resolvePath(folderOf(link.path), target);
  if (path === null) return;
  for (const entry of entries) {
    if (entry.root === link.root && (entry.path === path || entry.path.startsWith(`${path}/`))) wanted.set(keyOf(entry), entry);
  }
}
