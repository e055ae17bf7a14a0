import type { RecordedRun } from "@holdfast/protocol";
import type { Baseline } from "@holdfast/runtime";
import { storedInputs } from "./baseline.ts";
import { commandCheck } from "./command-check.ts";
import { matcher } from "./glob.ts";
import { findInputs, keyOf, placeOf } from "./inputs.ts";
import { dependencyNames, type Installer, installerOf } from "./installers.ts";
import { folderOf, nameOf, resolvePath } from "./paths.ts";
import type { VerifierInput } from "./verifier-input.ts";
import { changedKeys, takeSignatures } from "./signatures.ts";

type Place = { readonly root: string; readonly path: string };
type Lock = RecordedRun["locks"][number];

/** The scripts of package.json that an install runs; their pre and post scripts come along. */
const lifecycle = ["install", "prepublish", "prepare", "dependencies"].map((name) => `npm run ${name}`).join("; ");
/** What in a lock file leads to code of the workspace, or to no fixed version. */
const namesLocalCode =
  /"link": true|"?\b(?:file|link|portal|git(?:\+\w+)?):|^\s*directory = |^\s*(?:PATH|GIT)$|^\s*-[a-z-]|^\s*\.{0,2}\/|\w @ /;

/**
 * Looks at the dependencies right before an install; the function it returns looks again once the install has succeeded.
 * Null where the command is no plain install, or where what steers it is not as at the baseline: then its result is the
 * session's own making.
 */
export async function beforeInstall(
  input: VerifierInput,
  command: string,
  cwd: string,
  baseline: Baseline,
): Promise<(() => Promise<RecordedRun | null>) | null> {
  const { observer, files } = input;
  const installer = installerOf(command);
  const place = placeOf(files, cwd);
  if (installer === null || place === null || baseline.manifest === null) return null;
  const before = await takeSignatures(observer, files, []);
  const others = changedKeys(storedInputs(baseline.inputs).around, before.around).filter((key) => !isBelow(key, dependencyNames));
  if (others.length > 0) return null;
  const start = await observer.snapshot(baseline.manifest);
  const [then, now] = [await steering(input, installer, baseline.manifest), await steering(input, installer, start.manifest)];
  if (changedKeys(then, now).length > 0) return null;
  return async () => {
    const end = await observer.snapshot(baseline.manifest);
    const locks = await lockFiles(input, installer, place, end.manifest);
    if (locks.length === 0) return null;
    const after = await takeSignatures(observer, files, []);
    const removed = installer.removes === null ? null : keyOf({ root: place.root, path: resolvePath(place.path, installer.removes) ?? "" });
    const folders = changedKeys(before.around, after.around)
      .filter((key) => isBelow(key, new Set(installer.folders)))
      .map((key) => ({ key, before: key === removed ? null : (before.around[key] ?? null), after: after.around[key] ?? null }));
    return { command: command.trim(), folders, locks, subject: null };
  };
}

function isBelow(key: string, names: ReadonlySet<string>): boolean {
  return (
    !key.startsWith("/") &&
    key
      .slice(key.indexOf(":") + 1)
      .split("/")
      .some((part) => names.has(part))
  );
}

/** Digests of what an install runs or obeys besides the lock file, by `root:path`. */
async function steering(input: VerifierInput, { steering: globs }: Installer, manifest: string): Promise<Record<string, string>> {
  const { inputs, named } = await findInputs(commandCheck(lifecycle, { inputs: [...globs] }), manifest, input.observer, input.files);
  const steers = matcher(globs);
  const out: Record<string, string> = {};
  for (const [key, { entry, digest }] of inputs) {
    if (steers(entry.path) || named.files.has(entry.path) || nameOf(entry.path) === "package.json") out[key] = digest;
  }
  return out;
}

/** The lock files that an install in `place` goes by. All of them are in scope, so that a change of them shows. */
async function lockFiles(input: VerifierInput, installer: Installer, place: Place, manifest: string): Promise<Lock[]> {
  const entries = new Map((await input.observer.list(manifest)).map((entry) => [keyOf(entry), entry]));
  const paths = installer.given.map((path) => (path.startsWith("/") ? null : resolvePath(place.path, path)));
  if (installer.given.length === 0)
    paths.push(nearest(place.path, installer.locks, (path) => entries.has(keyOf({ root: place.root, path }))));
  const locks: Lock[] = [];
  for (const path of paths) {
    const entry = path === null ? undefined : entries.get(keyOf({ root: place.root, path }));
    const content = entry === undefined ? null : await input.observer.content(manifest, entry);
    if (entry === undefined || content === null) return [];
    locks.push({ root: entry.root, path: entry.path, digest: entry.digest, content: await input.blobs.put(content) });
  }
  return locks;
}

function nearest(start: string, names: readonly string[], has: (path: string) => boolean): string | null {
  for (let folder = start; ; folder = folderOf(folder)) {
    for (const name of names) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (has(path)) return path;
    }
    if (folder === "") return null;
  }
}

export interface Installed {
  /** Signatures that the recorded installs lead to from the baseline's. */
  readonly around: Readonly<Record<string, string>>;
  /** For a person: what was installed, and which lock files changed. */
  readonly notes: readonly string[];
}

/**
 * Follows the installs from the baseline's signatures. One counts where it found the folder as the baseline or an install
 * before it left it, or not at all, and where the lock file it went by is the baseline's, or shows as changed in the final
 * tree: every line it has is in one of the two.
 */
export async function followInstalls(
  { observer, blobs }: Pick<VerifierInput, "observer" | "blobs">,
  baseline: Readonly<Record<string, string>>,
  installs: readonly RecordedRun[],
  manifests: { readonly before: string; readonly after: string },
): Promise<Installed> {
  const around: Record<string, string> = { ...baseline };
  const notes: string[] = [];
  const linesIn = async (manifest: string, lock: Lock): Promise<readonly string[]> => linesOf(await observer.content(manifest, lock));
  for (const { command, folders, locks, subject } of installs) {
    if (subject !== null) continue;
    let isShown = true;
    const changed: string[] = [];
    for (const lock of locks) {
      const [old, final] = [await linesIn(manifests.before, lock), await linesIn(manifests.after, lock)];
      const used = linesOf(await blobs.get(lock.content));
      if (used.join("\n") === old.join("\n")) continue;
      changed.push(lock.path);
      const [known, shown] = [new Set(old), new Set(final)];
      const isPlain = (line: string): boolean => known.has(line) || (shown.has(line) && !namesLocalCode.test(line));
      if (!used.every(isPlain) || unsealed(used) > unsealed(old)) isShown = false;
    }
    const counted = isShown ? folders.filter(({ key, before }) => before === null || before === (around[key] ?? null)) : [];
    for (const { key, after } of counted) {
      if (after === null) delete around[key];
      else around[key] = after;
    }
    if (counted.length > 0) notes.push(`dependencies by \`${command}\`${changed.length === 0 ? "" : `, ${changed.join(", ")} changed`}`);
  }
  return { around, notes };
}

/** Packages that a lock file names without a digest of their content. */
function unsealed(lines: readonly string[]): number {
  const count = (word: RegExp): number => lines.filter((line) => word.test(line)).length;
  return count(/^\s*"?resolved"?:? /) - count(/^\s*"?integrity"?:? /);
}

/** Lines as a set is made of them: without indentation at the end and commas that only say whether another line follows. */
function linesOf(content: Uint8Array | null): string[] {
  if (content === null) return [];
  return new TextDecoder()
    .decode(content)
    .split("\n")
    .map((line) => line.replace(/,?\s*$/, ""))
    .filter((line) => line !== "");
}
