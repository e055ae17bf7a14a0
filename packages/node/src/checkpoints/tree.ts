import { readdirSync, type Stats } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TreeNode } from "@holdfast/protocol";
import { readDigest } from "../observer/digest.ts";
import type { ListPlaces } from "../observer/list.ts";
import { decodeName, fsPath } from "../observer/names.ts";
import { type CachedDigest, holds, nextLook, type StatCache, statSignature } from "../observer/stat-cache.ts";
import { neverInScope } from "../observer/walk.ts";
import { isBare } from "../sandbox/made.ts";
import { isBelow, readScope, type Scope, scopeOf } from "./scope.ts";
import { lookAt } from "../files/missing.ts";

/** What was seen at a path of a root. Folders have no content. */
export type Seen = { readonly type: "entry"; readonly entry: CachedDigest } | { readonly type: "folder"; readonly mode: number };

export interface SeenChange {
  readonly path: string;
  readonly before: Seen | null;
  readonly after: Seen | null;
  /** What was read of it just now, where it is small. */
  readonly bytes: Buffer | null;
}

interface Folder {
  readonly mode: number;
  readonly signature: string;
  /** True where it may have changed within the tick of the file system's clock in which it was listed. */
  readonly isFresh: boolean;
  readonly names: ReadonlySet<string>;
}

/** The workspace below one root as it was seen last: files, links, pipes and folders in scope. */
export interface Tree {
  readonly root: { readonly id: string; readonly path: string; readonly cache: StatCache };
  readonly entries: Map<string, CachedDigest>;
  readonly folders: Map<string, Folder>;
  /** Places of other repositories than the root's own (see `Repositories`), with what git obeyed there; "" of one that has come. */
  readonly repositories: Map<string, string>;
  scope: Scope;
}

/** Files looked at before other work gets its turn. */
const slice = 500;

/** The whole tree, read by these ignore rules (null: by today's). */
export async function readTree(places: ListPlaces, root: Tree["root"], rules: Readonly<Record<string, string>> | null): Promise<Tree> {
  const tree: Tree = {
    root,
    entries: new Map(),
    folders: new Map(),
    repositories: new Map(),
    scope: await readScope(places, root.path, rules),
  };
  await discover(tree, [""], tree.scope, []);
  root.cache.save();
  return tree;
}

/**
 * Looks again, and says what differs. Git is asked only about names that are new; what can't have changed (a folder whose
 * stat is the same has the same names) isn't read.
 */
export async function lookAgain(places: ListPlaces, tree: Tree): Promise<SeenChange[]> {
  const changes: SeenChange[] = [];
  const appeared = lookAtFolders(tree, changes);
  const number = nextLook();
  await tree.root.cache.look(tree.root.path, number);
  for (const [path, entry] of tree.entries) {
    if (entry.seenBy === number) continue;
    const stat = look(tree, path);
    if (stat !== null && holds(entry, stat)) continue;
    if (stat === null || stat.isDirectory()) {
      forget(tree, path);
      changes.push({ path, before: { type: "entry", entry }, after: null, bytes: null });
      if (stat !== null) appeared.push(path);
      continue;
    }
    const read = await readEntry(tree, path, stat);
    if (read === null) {
      forget(tree, path);
      changes.push({ path, before: { type: "entry", entry }, after: null, bytes: null });
    } else if (!isSame(entry, read.entry)) {
      changes.push({ path, before: { type: "entry", entry }, after: { type: "entry", entry: read.entry }, bytes: read.bytes });
    }
  }
  if (appeared.length > 0) {
    const asked = await scopeOf(places, tree.root.path, tree.scope, appeared);
    if (asked === null) {
      tree.scope = await readScope(places, tree.root.path, tree.scope.listing.rules);
      await discover(tree, appeared, tree.scope, changes);
    } else await discover(tree, appeared, asked, changes);
  }
  tree.root.cache.save();
  return settled(changes);
}

/** Names that weren't there before, whose kind is another, or which make a folder a repository of its own. */
function lookAtFolders(tree: Tree, changes: SeenChange[]): string[] {
  const appeared: string[] = [];
  for (const [path, folder] of tree.folders) {
    const stat = look(tree, path);
    if (stat === null || !stat.isDirectory()) {
      tree.folders.delete(path);
      changes.push({ path, before: { type: "folder", mode: folder.mode }, after: null, bytes: null });
      if (stat !== null) appeared.push(path);
      continue;
    }
    if (!folder.isFresh && statSignature(stat) === folder.signature) continue;
    const now = listFolder(tree, path, stat);
    tree.folders.set(path, now);
    noteBare(tree, path, now);
    if (now.mode !== folder.mode)
      changes.push({ path, before: { type: "folder", mode: folder.mode }, after: { type: "folder", mode: now.mode }, bytes: null });
    for (const name of now.names) if (!folder.names.has(name)) appeared.push(inside(path, name));
  }
  return appeared;
}

/** Takes in what stands at these paths and below, as far as it is in scope. */
async function discover(tree: Tree, paths: readonly string[], scope: Omit<Scope, "listing">, changes: SeenChange[]): Promise<void> {
  const pending = [...paths];
  let count = 0;
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    if (++count % slice === 0) await nextTurn();
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (tree.folders.has(path) || tree.entries.has(path)) continue;
    const stat = look(tree, path);
    if (stat === null) continue;
    // A repository is git's. A file of that name only says where a submodule's is, and goes with its folder.
    const isPointer = name === ".git" && stat.isFile();
    if (name === ".git") noteRepository(tree, path);
    if (name === ".git" && !isPointer) continue;
    if (stat.isDirectory()) {
      if (isOutOfScope(tree, path, name, scope)) {
        noteRepository(tree, inside(path, ".git"));
        continue;
      }
      const folder = listFolder(tree, path, stat);
      tree.folders.set(path, folder);
      noteBare(tree, path, folder);
      if (path !== "") changes.push({ path, before: null, after: { type: "folder", mode: folder.mode }, bytes: null });
      for (const child of folder.names) pending.push(inside(path, child));
      continue;
    }
    const isListable = stat.isFile() || stat.isSymbolicLink();
    if (isListable && !isPointer && !scope.files.has(path) && !scope.vacant.some((place) => isBelow(path, place))) continue;
    const known = tree.root.cache.entries.get(path);
    if (known !== undefined && holds(known, stat)) {
      tree.entries.set(path, known);
      changes.push({ path, before: null, after: { type: "entry", entry: known }, bytes: null });
      continue;
    }
    const read = await readEntry(tree, path, stat);
    if (read !== null) changes.push({ path, before: null, after: { type: "entry", entry: read.entry }, bytes: read.bytes });
  }
}

function isOutOfScope(tree: Tree, path: string, name: string, { ignored }: Pick<Scope, "ignored">): boolean {
  return ignored.has(path) || (tree.scope.listing.repos.length === 0 && neverInScope.includes(name));
}

function noteBare(tree: Tree, path: string, { names }: Folder): void {
  if (isBare(names)) noteRepository(tree, path);
}

/** The root's own has what protects it. */
function noteRepository(tree: Tree, path: string): void {
  if (path !== ".git" && !tree.repositories.has(path)) tree.repositories.set(path, "");
}

/** What was a file and is a folder, or the other way, was first lost and then found: one change. */
function settled(changes: readonly SeenChange[]): SeenChange[] {
  const byPath = new Map<string, SeenChange>();
  for (const change of changes) {
    const earlier = byPath.get(change.path);
    byPath.set(change.path, earlier === undefined ? change : { ...change, before: earlier.before });
  }
  return [...byPath.values()].filter(({ before, after }) => !isSameSeen(before, after));
}

function isSameSeen(a: Seen | null, b: Seen | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.type === "folder") return b.type === "folder" && a.mode === b.mode;
  return b.type === "entry" && isSame(a.entry, b.entry);
}

function isSame(a: CachedDigest, b: CachedDigest): boolean {
  const [one, other] = [nodeKind(a.stat.mode), nodeKind(b.stat.mode)];
  if (one !== other || permissions(a.stat.mode) !== permissions(b.stat.mode)) return false;
  // A pipe's times move with what passes through it.
  return one === "pipe" || one === "other" ? a.stat.ino === b.stat.ino : a.digest === b.digest;
}

async function readEntry(
  tree: Tree,
  path: string,
  stat: Stats,
): Promise<{ readonly entry: CachedDigest; readonly bytes: Buffer | null } | null> {
  const readAt = Date.now();
  const read = await readDigest(fsPath(tree.root.path, path), stat, tree.scope.listing.repos.length === 0 ? 0 : oidLength(tree));
  if (read === null) return null;
  const { bytes, stat: readStat, ...content } = read;
  const { size, mtimeMs, ctimeMs, ino, mode } = readStat;
  const entry: CachedDigest = { ...content, stat: { size, mtimeMs, ctimeMs, ino, mode }, readAt, seenBy: 0, record: null, row: -1 };
  tree.entries.set(path, entry);
  tree.root.cache.set(path, entry);
  return { entry, bytes };
}

function oidLength(tree: Tree): number {
  for (const { oid } of tree.scope.listing.files) if (oid !== null) return oid.length;
  return 40;
}

function forget(tree: Tree, path: string): void {
  tree.entries.delete(path);
  tree.root.cache.forget(path);
}

function listFolder(tree: Tree, path: string, stat: Stats): Folder {
  const readAt = Date.now();
  const names = namesIn(fsPath(tree.root.path, path));
  const isFresh = Math.max(stat.mtimeMs, stat.ctimeMs) + freshMs(stat) >= readAt;
  return { mode: permissions(stat.mode), signature: statSignature(stat), isFresh, names };
}

/** As for files: a clock may tick in hundredths of a second, or in seconds. */
function freshMs(stat: Stats): number {
  return Number.isInteger(stat.mtimeMs / 1000) || Number.isInteger(stat.ctimeMs / 1000) ? 2_100 : 100;
}

function namesIn(folder: string | Buffer): ReadonlySet<string> {
  try {
    const names = readdirSync(folder);
    if (!names.some((name) => name.includes("\ufffd"))) return new Set(names);
    return new Set(readdirSync(folder, { encoding: "buffer" }).map(decodeName));
  } catch {
    // One that can't be read holds nothing that could be kept.
    return new Set();
  }
}

function look(tree: Tree, path: string): Stats | null {
  return lookAt(fsPath(tree.root.path, path)) ?? null;
}

function inside(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function permissions(mode: number): number {
  return mode & 0o7777;
}

/** By the file type in a stat's mode. */
export function nodeKind(mode: number): TreeNode["kind"] {
  switch (mode & 0o170000) {
    case 0o100000:
      return "file";
    case 0o120000:
      return "link";
    case 0o040000:
      return "folder";
    case 0o010000:
      return "pipe";
    default:
      return "other";
  }
}
