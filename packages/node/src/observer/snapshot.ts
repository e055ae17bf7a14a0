import { readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sha256 } from "@holdfast/runtime/hash";
import { gitMode, readDigest, smallFile } from "./digest.ts";
import type { KeptContents } from "./kept.ts";
import { type Listed, type Listing, type ListPlaces, listScope } from "./list.ts";
import { type FileRecord, type Manifest, subjectOf } from "./manifest.ts";
import { fsPath } from "./names.ts";
import { type CachedDigest, nextLook, type StatCache } from "./stat-cache.ts";
import { lookAt } from "../files/missing.ts";

export interface SnapshotRoot {
  readonly id: string;
  readonly path: string;
  readonly cache: StatCache;
}

export interface Taken {
  readonly manifest: Manifest;
  readonly subject: string;
  readonly gitTree: string | null;
}

/** All content kept for one manifest, besides what git has. */
const keptBound = 64 * 1024 * 1024;
/** Files looked at before other work gets its turn. */
const slice = 500;

/** Reads the whole scope of all roots. `scope` gives the ignore rules and the files that stay in scope. */
export async function takeSnapshot(
  places: ListPlaces,
  roots: readonly SnapshotRoot[],
  kept: KeptContents,
  scope: Manifest | null,
  wantsTree: boolean,
): Promise<Taken> {
  const records: FileRecord[] = [];
  const rules: Record<string, Listing["rules"]> = {};
  const trees: (string | null)[] = [];
  const room = { bytes: keptBound };
  const number = nextLook();
  for (const root of roots) {
    // The files known from before are looked at while git lists those of today.
    const wasThere = (folder: string): boolean =>
      scope?.records.some((record) => record.root === root.id && record.path.startsWith(`${folder}/`)) === true;
    const listed = listScope(places, root.path, scope?.rules[root.id] ?? null, wasThere);
    const [listing] = await Promise.all([listed, root.cache.look(root.path, number)]);
    const found = await readRoot(root, number, withEarlier(root, listing, scope), listing);
    root.cache.save();
    rules[root.id] = listing.rules;
    trees.push(wantsTree ? await cleanTree(places, root, listing, found) : null);
    await keepLoose(root, found, kept, room);
    for (const record of found.records) records.push(record);
  }
  return { manifest: { records, rules }, subject: subjectOf(records), gitTree: roots.length === 1 ? (trees[0] ?? null) : null };
}

function look(root: SnapshotRoot, path: string): Stats | null {
  return lookAt(fsPath(root.path, path)) ?? null;
}

/** Everything to look at below a root. */
interface Ordered {
  readonly root: string;
  readonly scope: Manifest | null;
  readonly files: readonly Listed[];
  /** What was found last at each of them. */
  readonly entries: (CachedDigest | undefined)[];
}

/** By what is listed: it holds while that and the scope are the same objects. */
const ordered = new WeakMap<Listing["files"], Ordered>();

/** What was in scope stays in scope: `git rm --cached` and a new ignore rule hide nothing. */
function withEarlier(root: SnapshotRoot, listing: Listing, scope: Manifest | null): Ordered {
  const known = ordered.get(listing.files);
  if (known !== undefined && known.root === root.id && known.scope === scope) return known;
  const files = [...listing.files];
  for (const record of scope?.records ?? []) {
    if (record.root !== root.id || listing.has(record.path)) continue;
    files.push({ path: record.path, oid: null, gitMode: null, repo: record.repo === null ? -1 : listing.repos.indexOf(record.repo) });
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const made = { root: root.id, scope, files, entries: [] };
  ordered.set(listing.files, made);
  return made;
}

interface Found {
  readonly records: FileRecord[];
  /** Those that git doesn't have. */
  readonly loose: readonly Loose[];
  /** Each is as the index has it, in kind and content. */
  readonly isAsStaged: boolean;
}

interface Loose {
  /** Index into the records. */
  readonly at: number;
  readonly entry: CachedDigest;
  /** Content that was read just now, where it is small. */
  readonly bytes: Buffer | null;
}

async function readRoot(root: SnapshotRoot, number: number, { files, entries }: Ordered, listing: Listing): Promise<Found> {
  const oidLengths = listing.repos.map((_, repo) => files.find((file) => file.repo === repo && file.oid !== null)?.oid?.length ?? 40);
  const records: FileRecord[] = [];
  const loose: Loose[] = [];
  let isAsStaged = true;
  let count = 0;
  let held = 0;
  const add = (listed: Listed, entry: CachedDigest, bytes: Buffer | null): void => {
    const record = recordOf(root, listed, listing, entry);
    const at = records.push(record) - 1;
    if (record.oid === null) {
      isAsStaged = false;
      const isHeld = bytes !== null && held + bytes.length <= keptBound;
      if (isHeld) held += bytes.length;
      loose.push({ at, entry, bytes: isHeld ? bytes : null });
    } else if (listed.gitMode !== gitMode(record.kind)) isAsStaged = false;
  };
  for (const [n, listed] of files.entries()) {
    const { path } = listed;
    const oidLength = oidLengths[listed.repo] ?? 0;
    // One that was replaced before this snapshot began has an earlier number.
    const last = entries[n];
    const entry = last?.seenBy === number ? last : root.cache.entries.get(path);
    if (entry !== undefined && entry.seenBy === number && (oidLength === 0 || entry.oid !== null || entry.kind === "other")) {
      entries[n] = entry;
      add(listed, entry, null);
      continue;
    }
    if (++count % slice === 0) await nextTurn();
    const readAt = Date.now();
    const stat = look(root, path);
    if (stat === null || stat.isDirectory()) {
      if (listed.gitMode === "160000" && !isPopulated(root, path)) records.push(submodule(root, listed));
      continue;
    }
    const read = await readDigest(fsPath(root.path, path), stat, oidLength);
    if (read === null) continue;
    const { bytes, stat: readStat, ...content } = read;
    const { size, mtimeMs, ctimeMs, ino, mode } = readStat;
    const fresh: CachedDigest = { ...content, stat: { size, mtimeMs, ctimeMs, ino, mode }, readAt, seenBy: number, record: null, row: -1 };
    root.cache.set(path, fresh);
    entries[n] = fresh;
    add(listed, fresh, bytes);
  }
  return { records, loose, isAsStaged };
}

function recordOf(root: SnapshotRoot, listed: Listed, listing: Listing, entry: CachedDigest): FileRecord {
  const last = entry.record;
  // An id that a record has is its entry's.
  const inGit = listed.oid !== null && listed.oid === (last?.oid ?? entry.oid);
  const oid = inGit ? listed.oid : null;
  const repo = inGit ? (listing.repos[listed.repo] ?? null) : null;
  if (last !== null && last.oid === oid && last.repo === repo && last.root === root.id) return last;
  const { kind, digest, size } = entry;
  const record = { root: root.id, path: listed.path, kind, digest, size, oid, repo, kept: null };
  entry.record = record;
  return record;
}

function submodule(root: SnapshotRoot, listed: Listed): FileRecord {
  return {
    root: root.id,
    path: listed.path,
    kind: "submodule",
    digest: sha256(listed.oid ?? ""),
    size: 0,
    oid: null,
    repo: null,
    kept: null,
  };
}

function isPopulated(root: SnapshotRoot, path: string): boolean {
  try {
    return readdirSync(fsPath(root.path, path)).length > 0;
  } catch {
    return false;
  }
}

/** Keeps small content that git doesn't have, so that a later diff and a later run of the same tests can have it. */
async function keepLoose(root: SnapshotRoot, { records, loose }: Found, kept: KeptContents, room: { bytes: number }): Promise<void> {
  const fresh = new Map<string, Uint8Array>();
  const wanted: (Loose & { readonly record: FileRecord })[] = [];
  for (const file of loose) {
    const record = records[file.at];
    if (record === undefined || record.kind === "other" || record.size > smallFile) continue;
    if (room.bytes < record.size) continue;
    room.bytes -= record.size;
    wanted.push({ ...file, record });
    if (fresh.has(record.digest) || (await kept.find(record.digest)) !== null) continue;
    const bytes = file.bytes ?? (await readAgain(root, record));
    if (bytes !== null) fresh.set(record.digest, bytes);
  }
  await kept.add(fresh);
  for (const { at, entry, record } of wanted) {
    const where = await kept.find(record.digest);
    if (record.kept !== null && where?.blob === record.kept.blob && where.offset === record.kept.offset) continue;
    const placed = { ...record, kept: where };
    records[at] = placed;
    entry.record = placed;
  }
}

/** The content of `record` from the disk; null where that is another by now. */
export async function readAgain(root: { readonly path: string }, record: FileRecord): Promise<Buffer | null> {
  const path = fsPath(root.path, record.path);
  const stat = lookAt(path);
  const read = stat === undefined || stat.size > smallFile ? null : await readDigest(path, stat, 0);
  return read?.digest === record.digest ? read.bytes : null;
}

/** The tree of HEAD where files, index and HEAD are all the same; null otherwise, and where submodules are checked out. */
async function cleanTree({ git }: ListPlaces, root: SnapshotRoot, listing: Listing, found: Found): Promise<string | null> {
  if (listing.repos.length !== 1 || listing.repos[0] !== "") return null;
  const staged = listing.files.filter((file) => file.gitMode !== null).length;
  if (staged !== found.records.length || !found.isAsStaged) return null;
  const [top, tree] = await Promise.all([
    git(root.path, ["rev-parse", "--show-prefix"]),
    git(root.path, ["rev-parse", "-q", "--verify", "HEAD^{tree}"]),
  ]);
  if (top.code !== 0 || top.stdout.toString().trim() !== "" || tree.code !== 0) return null;
  const same = await git(root.path, ["diff-index", "--cached", "--quiet", "--no-ext-diff", "HEAD", "--"]);
  return same.code === 0 ? tree.stdout.toString().trim() : null;
}

export function rootPath(roots: readonly { readonly id: string; readonly path: string }[], id: string): string | null {
  return roots.find((root) => root.id === id)?.path ?? null;
}

export function repoFolder(root: string, record: FileRecord): string {
  return record.repo === null || record.repo === "" ? root : join(root, record.repo);
}
