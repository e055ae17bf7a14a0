import { createHash } from "node:crypto";
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sha256 } from "@holdfast/runtime";
import { isMissing, readDigest, smallFile } from "./digest.ts";
import type { KeptContents } from "./kept.ts";
import { type Listed, type Listing, type ListPlaces, listScope } from "./list.ts";
import type { FileRecord, Manifest } from "./manifest.ts";
import { fsPath } from "./names.ts";
import type { StatCache } from "./stat-cache.ts";

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

type Stated = Map<string, Stats | null>;

/** Reads the whole scope of all roots. `scope` gives the ignore rules and the files that stay in scope. */
export async function takeSnapshot(
  places: ListPlaces,
  roots: readonly SnapshotRoot[],
  kept: KeptContents,
  scope: Manifest | null,
): Promise<Taken> {
  const records: FileRecord[] = [];
  const rules: Record<string, Listing["rules"]> = {};
  const trees: (string | null)[] = [];
  const room = { bytes: keptBound };
  for (const root of roots) {
    const stated: Stated = new Map();
    // The files known from before are looked at while git lists those of today.
    const [listing] = await Promise.all([listScope(places, root.path, scope?.rules[root.id] ?? null), statAll(root, root.cache.paths, stated)]);
    const earlier = scope?.records.filter((record) => record.root === root.id) ?? [];
    const found = await readRoot(root, withEarlier(listing, earlier), listing, stated);
    root.cache.save();
    rules[root.id] = listing.rules;
    trees.push(await cleanTree(places, root, listing, found));
    records.push(...(await keepDirty(root, found, kept, room)));
  }
  return { manifest: { records, rules }, subject: subjectOf(records), gitTree: roots.length === 1 ? (trees[0] ?? null) : null };
}

export function subjectOf(records: readonly FileRecord[]): string {
  const lines = records.map((r) => `${JSON.stringify([r.root, r.path])}\t${r.kind}\t${r.digest}\n`);
  return createHash("sha256").update(lines.join("")).digest("hex");
}

interface Found {
  readonly record: FileRecord;
  readonly listed: Listed;
  /** Content that was read just now, where it is small. */
  readonly bytes: Buffer | null;
}

async function statAll(root: SnapshotRoot, paths: Iterable<string>, stated: Stated): Promise<void> {
  let count = 0;
  for (const path of [...paths]) {
    stated.set(path, look(root, path));
    if (++count % slice === 0) await nextTurn();
  }
}

function look(root: SnapshotRoot, path: string): Stats | null {
  try {
    return lstatSync(fsPath(root.path, path), { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** What was in scope stays in scope: `git rm --cached` and a new ignore rule hide nothing. */
function withEarlier(listing: Listing, earlier: readonly FileRecord[]): Listed[] {
  const seen = new Set<string>();
  const files: Listed[] = [];
  for (const file of listing.files) {
    if (seen.has(file.path)) continue;
    seen.add(file.path);
    files.push(file);
  }
  for (const { path, repo } of earlier) {
    if (!seen.has(path)) files.push({ path, oid: null, gitMode: null, repo: repo === null ? -1 : listing.repos.indexOf(repo) });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function readRoot(root: SnapshotRoot, files: readonly Listed[], listing: Listing, stated: Stated): Promise<Found[]> {
  const oidLengths = listing.repos.map((_, repo) => files.find((file) => file.repo === repo && file.oid !== null)?.oid?.length ?? 40);
  const found: Found[] = [];
  let count = 0;
  for (const listed of files) {
    if (++count % slice === 0) await nextTurn();
    const { path } = listed;
    const known = stated.get(path);
    const readAt = known === undefined ? Date.now() : 0;
    const stat = known === undefined ? look(root, path) : known;
    if (stat === null || stat.isDirectory()) {
      if (listed.gitMode === "160000" && !isPopulated(root, path)) found.push({ record: submodule(root, listed), listed, bytes: null });
      continue;
    }
    const cached = root.cache.get(path, stat);
    const oidLength = oidLengths[listed.repo] ?? 0;
    if (cached !== null && (oidLength === 0 || cached.oid !== null || cached.kind === "other")) {
      found.push({ record: recordOf(root, listed, listing, cached), listed, bytes: null });
      continue;
    }
    const startedAt = readAt === 0 ? Date.now() : readAt;
    const read = await readDigest(fsPath(root.path, path), stat, oidLength);
    if (read === null) continue;
    const { bytes, signature, ...content } = read;
    root.cache.set(path, { ...content, signature, readAt: startedAt });
    found.push({ record: recordOf(root, listed, listing, content), listed, bytes });
  }
  return found;
}

function recordOf(
  root: SnapshotRoot,
  listed: Listed,
  listing: Listing,
  content: { readonly kind: FileRecord["kind"]; readonly digest: string; readonly size: number; readonly oid: string | null },
): FileRecord {
  const { kind, digest, size } = content;
  const inGit = listed.oid !== null && listed.oid === content.oid;
  const repo = listing.repos[listed.repo] ?? null;
  return { root: root.id, path: listed.path, kind, digest, size, oid: inGit ? listed.oid : null, repo: inGit ? repo : null, kept: null };
}

function submodule(root: SnapshotRoot, listed: Listed): FileRecord {
  return { root: root.id, path: listed.path, kind: "submodule", digest: sha256(listed.oid ?? ""), size: 0, oid: null, repo: null, kept: null };
}

function isPopulated(root: SnapshotRoot, path: string): boolean {
  try {
    return readdirSync(fsPath(root.path, path)).length > 0;
  } catch {
    return false;
  }
}

/** Keeps small content that git doesn't have, so that a later diff and a later run of the same tests can have it. */
async function keepDirty(root: SnapshotRoot, found: readonly Found[], kept: KeptContents, room: { bytes: number }): Promise<FileRecord[]> {
  const fresh = new Map<string, Uint8Array>();
  const wanted: Found[] = [];
  for (const file of found) {
    const { record } = file;
    if (record.oid !== null || record.kind === "submodule" || record.kind === "other" || record.size > smallFile) continue;
    if (room.bytes < record.size) continue;
    room.bytes -= record.size;
    wanted.push(file);
    if (fresh.has(record.digest) || (await kept.find(record.digest)) !== null) continue;
    const bytes = file.bytes ?? (await readAgain(root, record));
    if (bytes !== null) fresh.set(record.digest, bytes);
  }
  await kept.add(fresh);
  const places = new Map<FileRecord, FileRecord>();
  for (const { record } of wanted) places.set(record, { ...record, kept: await kept.find(record.digest) });
  return found.map(({ record }) => places.get(record) ?? record);
}

/** The content of `record` from the disk; null where that is another by now. */
export async function readAgain(root: { readonly path: string }, record: FileRecord): Promise<Buffer | null> {
  const path = fsPath(root.path, record.path);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  const read = stat === undefined || stat.size > smallFile ? null : await readDigest(path, stat, 0);
  return read?.digest === record.digest ? read.bytes : null;
}

/** The tree of HEAD where files, index and HEAD are all the same; null otherwise, and where submodules are checked out. */
async function cleanTree({ git }: ListPlaces, root: SnapshotRoot, listing: Listing, found: readonly Found[]): Promise<string | null> {
  if (listing.repos.length !== 1 || listing.repos[0] !== "") return null;
  const staged = listing.files.filter((file) => file.gitMode !== null).length;
  if (staged !== found.length) return null;
  for (const { record, listed } of found) {
    const mode = record.kind === "executable" ? "100755" : record.kind === "link" ? "120000" : record.kind === "submodule" ? "160000" : "100644";
    if (listed.gitMode !== mode || (record.oid === null && record.kind !== "submodule")) return null;
  }
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
