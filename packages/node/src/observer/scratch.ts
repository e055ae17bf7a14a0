import { constants, existsSync } from "node:fs";
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readlink, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { IgnoredEntry, Place, ScratchChange, ScratchCopy } from "@holdfast/runtime";
import type { Manifest } from "./manifest.ts";
import { fsPath } from "./names.ts";
import { markedCachesIn } from "./own-caches.ts";
import { cacheNames, rebuiltFolders } from "./tools.ts";
import { lookAt } from "../files/missing.ts";

/** Ignored files copied along with a scratch copy, in all. */
const ignoredBound = { bytes: 256 * 1024 * 1024, files: 20_000 };
/** Files copied side by side: one after the other, most of the time goes by in waiting. */
const copiesAtOnce = 16;
/** A copy that a crash left behind is removed after this time. */
const leftoverMs = 24 * 60 * 60 * 1000;
const longAgo = new Date("2000-01-01T00:00:00Z");

type Bind = ScratchCopy["binds"][number];

export interface ScratchInput {
  /** Where scratch copies lie: outside the workspace, out of the session's reach. */
  readonly folder: string;
  readonly roots: readonly { readonly id: string; readonly path: string }[];
  readonly manifest: Manifest;
  readonly changes: readonly ScratchChange[];
  readonly ignored: readonly IgnoredEntry[];
  readonly linksDependencies: boolean;
  readonly without: readonly Place[];
}

export async function makeScratch(input: ScratchInput): Promise<ScratchCopy> {
  await mkdir(input.folder, { recursive: true, mode: 0o700 });
  await removeLeftovers(input.folder);
  const top = await mkdtemp(join(input.folder, "copy-"));
  const remove = (): Promise<void> => rm(top, { recursive: true, force: true });
  try {
    const roots: Record<string, string> = {};
    const binds: Bind[] = [];
    for (const [index, root] of input.roots.entries()) {
      const copy = join(top, `root${index}`);
      await mkdir(copy, { recursive: true });
      roots[root.id] = copy;
      binds.push({ from: copy, to: root.path, writable: true });
    }
    await copyScope(input, roots);
    // What goes makes room first: a folder may have become a file, or a file a folder.
    for (const change of input.changes) await clear(roots[change.root] ?? top, change);
    for (const change of input.changes) await put(roots[change.root] ?? top, change);
    binds.push(...(await bringIgnored(input, roots, top)));
    return { roots, binds, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function copyScope({ roots, manifest }: ScratchInput, copies: Readonly<Record<string, string>>): Promise<void> {
  const made = new Map<string, Promise<unknown>>();
  // What was listed below a folder that is a link now is reached through the link.
  const links = new Set(manifest.records.filter(({ kind }) => kind === "link").map(({ root, path }) => `${root}:${path}`));
  const isBelowLink = (root: string, path: string): boolean => {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
      if (links.has(`${root}:${path.slice(0, at)}`)) return true;
    return false;
  };
  const copyOne = async ({ root, path, kind }: Manifest["records"][number]): Promise<void> => {
    const from = roots.find((candidate) => candidate.id === root)?.path;
    const copy = copies[root];
    if (from === undefined || copy === undefined || kind === "other" || kind === "submodule") return;
    if (links.size > 0 && isBelowLink(root, path)) return;
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const key = `${copy}/${folder}`;
    if (!made.has(key)) made.set(key, mkdir(fsPath(copy, folder), { recursive: true }));
    await made.get(key);
    if (kind === "link") await symlink(await readlink(fsPath(from, path), "buffer"), fsPath(copy, path));
    else await copyFile(fsPath(from, path), fsPath(copy, path), constants.COPYFILE_FICLONE);
  };
  const records = manifest.records[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const record of records) await copyOne(record);
  };
  await Promise.all(Array.from({ length: copiesAtOnce }, work));
}

async function clear(copy: string, { path, content }: ScratchChange): Promise<void> {
  const parts = path.split("/");
  // From the top, so that nothing is taken away through a link that leads out of the copy.
  for (let depth = 1; depth < parts.length; depth += 1) {
    const above = fsPath(copy, parts.slice(0, depth).join("/"));
    if (lookAt(above)?.isDirectory() !== false) continue;
    if (content !== null) await rm(above);
    return;
  }
  await rm(fsPath(copy, path), { recursive: true, force: true });
}

async function put(copy: string, change: ScratchChange): Promise<void> {
  if (change.content === null) return;
  const path = fsPath(copy, change.path);
  const folder = change.path.slice(0, Math.max(0, change.path.lastIndexOf("/")));
  await mkdir(fsPath(copy, folder), { recursive: true });
  if (change.kind === "link") await symlink(Buffer.from(change.content), path);
  else {
    await writeFile(path, change.content);
    await chmod(path, change.kind === "executable" ? 0o755 : 0o644);
    if (change.isOld === true) await utimes(path, longAgo, longAgo);
  }
}

/** Dependencies as they are, read-only; other ignored files as copies, while they are few: a check may need them. */
async function bringIgnored(input: ScratchInput, copies: Readonly<Record<string, string>>, top: string): Promise<Bind[]> {
  const binds: Bind[] = [];
  const room = { ...ignoredBound };
  // What is ignored by now may have been in scope at the baseline, and then a copy says whether it is there.
  const inScope = new Set([...input.manifest.records, ...input.changes].map(({ root, path }) => `${root}:${path}`));
  const dependencies = input.ignored.filter((entry) => entry.isDependency);
  for (const { root, path, isDependency } of input.ignored) {
    const from = input.roots.find((candidate) => candidate.id === root)?.path;
    const copy = copies[root];
    const without = input.without.filter((place) => place.root === root);
    if (from === undefined || copy === undefined || without.some((place) => isWithin(path, place.path, isDependency))) continue;
    const [source, target] = [join(from, path), join(copy, path)];
    // A cache in a folder of dependencies comes with that, or is made anew in it.
    const isInDependency = !isDependency && dependencies.some((one) => one.root === root && path.startsWith(`${one.path}/`));
    if (isInDependency || existsSync(target) || lookAt(source) === undefined) continue;
    if (isDependency) {
      await mkdir(dirname(target), { recursive: true });
      if (input.linksDependencies) await linkDependency(source, target, new Set(without.map((place) => join(from, place.path))));
      else binds.push(...(await bindDependency(source, target, top, binds.length)));
    } else if (!path.split("/").some((part) => rebuiltFolders.has(part))) {
      const filter = (file: string): boolean => !inScope.has(`${root}:${file.slice(from.length + 1)}`);
      const how = { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE, filter };
      if (await fits(source, room)) await cp(source, target, how);
    }
  }
  if (!input.linksDependencies) {
    for (const root of input.roots) {
      // A folder, or in linked work trees a file.
      const git = join(root.path, ".git");
      if (existsSync(git)) binds.push({ from: git, to: git, writable: false });
    }
  }
  return binds;
}

/** As one link, or where something in it is to be left out as one for each of the others. */
async function linkDependency(source: string, target: string, without: ReadonlySet<string>): Promise<void> {
  if (![...without].some((path) => dirname(path) === source)) return symlink(source, target);
  await mkdir(target);
  for (const name of await readdir(source)) if (!without.has(join(source, name))) await symlink(join(source, name), join(target, name));
}

async function bindDependency(source: string, target: string, top: string, number: number): Promise<Bind[]> {
  const isFolder = (await stat(source)).isDirectory();
  if (isFolder) await mkdir(target, { recursive: true });
  else await writeFile(target, "");
  const binds: Bind[] = [{ from: source, to: source, writable: false }];
  if (!isFolder) return binds;
  // Runners keep caches in there and fail where they can't write them.
  const marked = markedCachesIn(source);
  for (const name of await readdir(source)) {
    if (!(cacheNames.has(name) || marked.includes(name)) || !(await stat(join(source, name))).isDirectory()) continue;
    const fresh = join(top, `cache${number}`, name);
    await mkdir(fresh, { recursive: true });
    binds.push({ from: fresh, to: join(source, name), writable: true });
  }
  return binds;
}

/** What lies around a place is left out with it, but a folder of dependencies is not. */
function isWithin(path: string, folder: string, isDependency: boolean): boolean {
  return path === folder || path.startsWith(`${folder}/`) || (!isDependency && folder.startsWith(`${path}/`));
}

/** Takes what lies at `path` out of `room`; false where it doesn't fit. */
async function fits(path: string, room: { bytes: number; files: number }): Promise<boolean> {
  const pending = [path];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const found = lookAt(next);
    if (found === undefined) continue;
    room.files -= 1;
    if (found.isFile()) room.bytes -= found.size;
    else if (found.isDirectory()) for (const name of await readdir(next)) pending.push(join(next, name));
    else if (!found.isSymbolicLink()) return false;
    if (room.files < 0 || room.bytes < 0) return false;
  }
  return true;
}

async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const made = await stat(path).catch(() => null);
    if (made !== null && Date.now() - made.mtimeMs > leftoverMs) await rm(path, { recursive: true, force: true });
  }
}
