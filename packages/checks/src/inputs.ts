import type { RunCheck } from "@holdfast/protocol";
import type { CheckFiles, ManifestEntry } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { matcher } from "./glob.ts";
import { findNamed, isRunner, isTested, type Named } from "./named.ts";
import { type FilePart, matchesPart, packagePart, sectionsPart } from "./parts.ts";
import { below, folderOf, nameOf, resolvePath } from "./paths.ts";
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

/** The root a path lies in, and the path below it; null outside the workspace. */
export function placeOf({ roots }: Workplace, path: string): { readonly root: string; readonly path: string } | null {
  for (const root of roots) {
    const inside = below(root.path, path);
    if (inside !== null) return { root: root.id, path: inside };
  }
  return null;
}

/** The inputs of `check` as `manifest` has them. `also` are scripts that another version of the workspace ran. */
export async function findInputs(
  check: RunCheck,
  manifest: string,
  files: CheckFiles,
  workplace: Workplace,
  also: ReadonlySet<string> = new Set(),
): Promise<CheckInputs> {
  const entries = await files.list(manifest);
  const home = placeOf(workplace, workplace.cwd) ?? { root: workplace.roots[0]?.id ?? "", path: "" };
  const byPath = new Map<string, ManifestEntry>();
  for (const entry of entries) if (entry.root === home.root) byPath.set(entry.path, entry);
  const text = async (path: string): Promise<string | null> => {
    const bytes = await files.content(manifest, { root: home.root, path });
    return bytes === null ? null : new TextDecoder().decode(bytes);
  };
  const packages = [...byPath.keys()].filter((path) => nameOf(path) === "package.json" && !path.includes("node_modules/"));
  const named = await findNamed({ command: check.command, folder: home.path, has: (path) => byPath.has(path), packages, text });

  const isInput = matcher(globsFor(check, named));
  const isGiven = matcher([...named.globs]);
  const isShadow = matcher(toolchains.shadows);
  const shadows = new Set<string>();
  const scripts = new Set([...named.scripts, ...also]);
  const wanted = new Map<string, ManifestEntry>();
  // Its own report is written by the run, and decides nothing of it.
  const own = check.kind === "tests" && check.report !== null ? resolvePath(home.path, check.report.path) : null;
  for (const entry of entries) {
    if (entry.root === home.root && entry.path === own) continue;
    const isNamed = entry.root === home.root && (named.files.has(entry.path) || isGiven(entry.path));
    // It would be found first wherever the check's PATH leads into the workspace.
    const isProgram = entry.kind !== "file" && (named.programs.has(nameOf(entry.path)) || isRunner(nameOf(entry.path)));
    // A link may stand for a whole folder of tests.
    const isFolder = entry.kind === "link" && isInput(`${entry.path}/x`);
    if (isNamed || isFolder || isInput(entry.path) || partOf(entry.path, scripts) !== null) wanted.set(keyOf(entry), entry);
    else if (isProgram && !isTested(nameOf(entry.path))) wanted.set(keyOf(entry), entry);
    else if (isProgram || isShadow(entry.path)) {
      wanted.set(keyOf(entry), entry);
      shadows.add(keyOf(entry));
    }
  }
  for (const entry of [...wanted.values()]) if (entry.kind === "link") await addTarget(entry, entries, files, manifest, wanted);

  const inputs = new Map<string, CheckInput>();
  for (const [key, entry] of wanted) {
    const isWhole = named.files.has(entry.path) && nameOf(entry.path) !== "package.json";
    const part = isWhole || entry.kind === "link" ? null : partOf(entry.path, scripts);
    const bytes = part === null ? null : await files.content(manifest, entry);
    const digest = part === null || bytes === null ? `${entry.kind}:${entry.digest}` : sha256(part.read(new TextDecoder().decode(bytes)));
    inputs.set(key, { entry, part, digest, isShadow: shadows.has(key) });
  }
  return { inputs, named };
}

export function keyOf(place: { readonly root: string; readonly path: string }): string {
  return `${place.root}:${place.path}`;
}

function globsFor(check: RunCheck, named: Named): string[] {
  const tools = toolchains.toolFiles.filter(({ tool }) => tool.test(named.text)).flatMap(({ files }) => files);
  const tests = check.inputs.length > 0 ? check.inputs : [...toolchains.testFiles, ...toolchains.fixtures];
  return [...tests, ...toolchains.runnerFiles, ...toolchains.dependenciesInScope, ...tools];
}

function partOf(path: string, scripts: ReadonlySet<string>): FilePart | null {
  const name = nameOf(path);
  if (name === "package.json") return packagePart(scripts);
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
