import { join } from "node:path";
import type { BlobStore } from "@holdfast/runtime";
import { HoldfastError } from "@holdfast/protocol/error";
import { sha256 } from "@holdfast/runtime/hash";
import { type Contents, createContents } from "./content.ts";
import { createGit, type Git } from "./git.ts";
import { createKeptContents, type KeptContents } from "./kept.ts";
import type { ListPlaces } from "./list.ts";
import { encodeManifest, type Manifest, readManifest } from "./manifest.ts";
import type { SnapshotRoot } from "./snapshot.ts";
import { openStatCache } from "./stat-cache.ts";

export interface WorkspaceInput {
  /** The workspace: its roots (real paths) and the working folder. */
  readonly files: { readonly cwd: string; readonly roots: readonly { readonly id: string; readonly path: string }[] };
  readonly blobs: BlobStore;
  /** For stat caches, rule files and scratch copies: outside the workspace, out of the reach of sandboxed commands. */
  readonly cacheDir: string;
  /** The user's home folder, where git finds the user's settings. */
  readonly home: string;
}

/** What everything that looks at the workspace shares: git, what was read of each file, manifests. */
export interface WorkspaceParts {
  readonly git: Git;
  readonly kept: KeptContents;
  readonly contents: Contents;
  readonly places: ListPlaces;
  readonly rootPaths: readonly string[];
  readonly roots: () => readonly SnapshotRoot[];
  load(manifest: string): Promise<Manifest>;
  /** `scope`: the id of an earlier one of the session; where it is still much the same, only what is another is written. */
  store(manifest: Manifest, scope?: string | null): Promise<string>;
}

/** Manifests kept decoded, those used last: the baseline's, the turn's and the last two. */
const decodedManifests = 4;

export function openParts({ files, blobs, cacheDir, home }: WorkspaceInput): WorkspaceParts {
  const git = createGit(
    home,
    files.roots.map((root) => root.path),
  );
  const kept = createKeptContents(blobs);
  const decoded = new Map<string, Manifest>();
  let opened: readonly SnapshotRoot[] | null = null;
  const remember = (id: string, manifest: Manifest): void => {
    decoded.delete(id);
    decoded.set(id, manifest);
    for (const oldest of decoded.keys()) {
      if (decoded.size <= decodedManifests) break;
      decoded.delete(oldest);
    }
  };
  return {
    git,
    kept,
    contents: createContents(git, files.roots, kept),
    places: { git, rulesDir: join(cacheDir, "rules"), home, indexes: new Map(), lists: new Map() },
    rootPaths: files.roots.map((root) => root.path),
    roots: () =>
      (opened ??= files.roots.map((root) => ({
        ...root,
        cache: openStatCache(join(cacheDir, "stat", `${sha256(root.path).slice(0, 32)}.tsv`)),
      }))),
    async load(id) {
      const known = decoded.get(id);
      if (known !== undefined) {
        remember(id, known);
        return known;
      }
      const manifest = await readManifest(id, (blob) => blobs.get(blob));
      if (manifest === null) throw new HoldfastError("session_corrupt", `The list of the workspace's files (${id}) is no longer stored.`);
      for (const record of manifest.records) if (record.kept !== null) kept.know(record.digest, record.kept);
      remember(id, manifest);
      return manifest;
    },
    async store({ records, rules }, scope = null) {
      // One that is not at hand shares no record with this one.
      const earlier = scope === null ? undefined : decoded.get(scope);
      const whole = earlier?.base ?? scope;
      const base = whole === null ? undefined : decoded.get(whole);
      const encoded = encodeManifest({ records, rules }, whole === null || base === undefined ? null : { id: whole, manifest: base });
      const id = await blobs.put(encoded.bytes);
      remember(id, { records, rules, ...(encoded.base === undefined ? {} : { base: encoded.base }) });
      return id;
    },
  };
}
