import { existsSync, realpathSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BlobStore, CheckFiles, Observer, Place } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { HoldfastError } from "@holdfast/protocol/error";
import { fileChanges, fileDiff } from "./changes.ts";
import { createContents } from "./content.ts";
import { createGit } from "./git.ts";
import { listIgnored } from "./ignored.ts";
import { createKeptContents } from "./kept.ts";
import { decodeManifest, encodeManifest, type FileRecord, type Manifest } from "./manifest.ts";
import { makeScratch } from "./scratch.ts";
import { signPlaces } from "./signature.ts";
import { takeSnapshot } from "./snapshot.ts";
import { openStatCache } from "./stat-cache.ts";
import { worldSections } from "./world.ts";

export interface ObserverInput {
  /** The workspace: its roots (real paths) and the working folder. */
  readonly files: { readonly cwd: string; readonly roots: readonly { readonly id: string; readonly path: string }[] };
  readonly blobs: BlobStore;
  /** For stat caches, rule files and scratch copies: outside the workspace, out of the reach of sandboxed commands. */
  readonly cacheDir: string;
  /** The user's home folder, where git finds the user's settings. */
  readonly home: string;
  readonly now?: () => number;
}

const mostRead = 16 * 1024 * 1024;
/** Manifests kept decoded, those used last: the baseline's, the turn's and the last two. */
const decodedManifests = 4;

/** Reads the workspace on Node. It writes nothing into the workspace or its `.git`, and runs nothing they name. */
export function createObserver(input: ObserverInput): Observer & CheckFiles {
  const { blobs, cacheDir } = input;
  const { cwd } = input.files;
  const git = createGit(
    input.home,
    input.files.roots.map((root) => root.path),
  );
  const kept = createKeptContents(blobs);
  const contents = createContents(git, input.files.roots, kept);
  const places = { git, rulesDir: join(cacheDir, "rules"), home: input.home, indexes: new Map() };
  const openRoots = once(() =>
    input.files.roots.map((root) => ({ ...root, cache: openStatCache(join(cacheDir, "stat", `${sha256(root.path).slice(0, 32)}.tsv`)) })),
  );
  const decoded = new Map<string, Manifest>();
  const inTurn = serialised();

  const remember = (id: string, manifest: Manifest): void => {
    decoded.delete(id);
    decoded.set(id, manifest);
    for (const oldest of decoded.keys()) {
      if (decoded.size <= decodedManifests) break;
      decoded.delete(oldest);
    }
  };
  const load = async (id: string): Promise<Manifest> => {
    const known = decoded.get(id);
    if (known !== undefined) {
      remember(id, known);
      return known;
    }
    const bytes = await blobs.get(id);
    if (bytes === null) throw new HoldfastError("session_corrupt", `The list of the workspace's files (${id}) is no longer stored.`);
    const manifest = decodeManifest(bytes);
    for (const record of manifest.records) if (record.kept !== null) kept.know(record.digest, record.kept);
    remember(id, manifest);
    return manifest;
  };
  const store = async (manifest: Manifest): Promise<string> => {
    const id = await blobs.put(encodeManifest(manifest));
    remember(id, manifest);
    return id;
  };

  return {
    world: (isTrusted) => worldSections({ git, roots: input.files.roots, cwd, isTrusted, now: (input.now ?? Date.now)() }),
    snapshot: (scope, wantsTree = false) =>
      inTurn(async () => {
        const earlier = scope === null ? null : await load(scope);
        const { manifest, subject, gitTree } = await takeSnapshot(places, openRoots(), kept, earlier, wantsTree);
        return { subject, manifest: await store(manifest), gitTree };
      }),
    blobsOf: async (id) => {
      const packs = (await load(id)).records.flatMap(({ kept: place }) => (place === null ? [] : [place.blob]));
      return [id, ...new Set(packs)];
    },
    async isTracked(path) {
      if (existsSync(join(path, ".git"))) return true;
      let folder = dirname(path);
      while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
      const { stdout } = await git(realpathSync(folder), ["ls-files", "-z", "--", path], { untilOutput: true });
      return stdout.length > 0;
    },
    changes: async (before, after) => fileChanges(contents, await load(before), await load(after)),
    diff: async (before, after, path) => fileDiff(contents, await load(before), await load(after), path),
    list: async (manifest) => (await load(manifest)).records,
    async content(manifest, place) {
      const record = find(await load(manifest), place);
      return record === undefined ? null : contents.read(record);
    },
    async read({ root, path }) {
      const folder = root === "" ? "" : input.files.roots.find(({ id }) => id === root)?.path;
      const place = folder === undefined ? null : join(folder, path);
      const stat = place === null ? undefined : statSync(place, { throwIfNoEntry: false });
      return place === null || stat === undefined || !stat.isFile() || stat.size > mostRead ? null : readFile(place).catch(() => null);
    },
    async keep(id, wanted) {
      const manifest = await load(id);
      const fresh = new Map<string, Uint8Array>();
      const named = new Set<FileRecord>();
      for (const place of wanted) {
        const record = find(manifest, place);
        if (record === undefined || record.kept !== null) continue;
        const bytes = await contents.read(record);
        if (bytes === null) continue;
        fresh.set(record.digest, bytes);
        named.add(record);
      }
      if (named.size === 0) return id;
      await kept.add(fresh);
      const records: FileRecord[] = [];
      for (const record of manifest.records) records.push(named.has(record) ? { ...record, kept: await kept.find(record.digest) } : record);
      return store({ ...manifest, records });
    },
    ignored: () => listIgnored(git, input.files.roots),
    sign: (wanted) => signPlaces(input.files.roots, wanted),
    async scratch(id, changes, options) {
      const [manifest, ignored] = await Promise.all([load(id), listIgnored(git, input.files.roots)]);
      return makeScratch({ folder: join(cacheDir, "scratch"), roots: input.files.roots, manifest, changes, ignored, ...options });
    },
  };
}

function find(manifest: Manifest, place: Place): FileRecord | undefined {
  return manifest.records.find((record) => record.path === place.path && record.root === place.root);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** Runs one after the other: two snapshots at once would read every file twice. */
function serialised(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}
