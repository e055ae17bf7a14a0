import { existsSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { WorldSection } from "@holdfast/protocol";
import type { CheckFiles, Observer, Place } from "@holdfast/runtime";
import { fileChanges, fileDiff } from "./changes.ts";
import { readGitState } from "./git-state.ts";
import { listIgnored } from "./ignored.ts";
import type { FileRecord, Manifest } from "./manifest.ts";
import { openParts, type WorkspaceInput, type WorkspaceParts } from "./parts.ts";
import { makeScratch } from "./scratch.ts";
import { signPlaces } from "./signature.ts";
import { rootPath, takeSnapshot } from "./snapshot.ts";
import { standingAt } from "./standing.ts";
import { type InstructionRules, usualInstructions } from "./instructions.ts";
import { worldMark, worldSections } from "./world.ts";
import { lookThrough } from "../files/missing.ts";

export interface ObserverInput extends WorkspaceInput {
  readonly now?: () => number;
  /** Where others look at the same workspace: what they share. */
  readonly parts?: WorkspaceParts;
  /** What else there is to see at the start of a turn. It is looked for beside the rest. */
  readonly more?: (isTrusted: boolean) => Promise<readonly WorldSection[]>;
  /** Another text where what `more` sees may have changed. It is asked between all steps. */
  readonly moreMark?: () => string;
  readonly instructions?: InstructionRules;
}

const mostRead = 16 * 1024 * 1024;
/** Reads the workspace on Node. It writes nothing into the workspace or its `.git`, and runs nothing they name. */
export function createObserver(input: ObserverInput): Observer & CheckFiles {
  const { cacheDir } = input;
  const { cwd } = input.files;
  const { git, kept, contents, places, roots: openRoots, load, store } = input.parts ?? openParts(input);
  const inTurn = serialised();

  let seen: string | null = null;
  const place = () => ({
    roots: input.files.roots,
    cwd,
    now: (input.now ?? Date.now)(),
    instructions: input.instructions ?? usualInstructions,
  });
  /** Null where it can't be told; then nothing is known to have moved. */
  const mark = (): string | null => {
    try {
      return `${worldMark(place())}\n${input.moreMark?.() ?? ""}`;
    } catch {
      return seen;
    }
  };

  return {
    async world(isTrusted) {
      // Before the look: what changes while it is taken is seen by the next.
      seen = mark();
      const [sections, more = []] = await Promise.all([worldSections({ git, isTrusted, ...place() }), input.more?.(isTrusted)]);
      return [...sections, ...more];
    },
    hasMoved: () => mark() !== seen,
    snapshot: (scope, wantsTree = false) =>
      inTurn(async () => {
        const earlier = scope === null ? null : await load(scope);
        const { manifest, subject, gitTree } = await takeSnapshot(places, openRoots(), kept, earlier, wantsTree);
        return { subject, manifest: await store(manifest, scope), gitTree };
      }),
    blobsOf: async (id) => {
      const { records, base } = await load(id);
      const packs = records.flatMap(({ kept: place }) => (place === null ? [] : [place.blob]));
      return [id, ...(base === undefined ? [] : [base]), ...new Set(packs)];
    },
    async isTracked(path) {
      if (existsSync(join(path, ".git"))) return true;
      let folder = dirname(path);
      while (lookThrough(folder)?.isDirectory() !== true && folder !== dirname(folder)) folder = dirname(folder);
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
    async look(manifest, place, begin) {
      const record = find(await load(manifest), place);
      return record === undefined ? null : contents.look(record, begin);
    },
    async read({ root, path }) {
      const folder = root === "" ? "" : input.files.roots.find(({ id }) => id === root)?.path;
      const place = folder === undefined ? null : join(folder, path);
      const stat = place === null ? undefined : lookThrough(place);
      return place === null || stat === undefined || !stat.isFile() || stat.size > mostRead ? null : readFile(place).catch(() => null);
    },
    async standing({ root, path }, throughLinks = false) {
      const folder = root === "" ? "" : rootPath(input.files.roots, root);
      return folder === null ? null : standingAt(join(folder, path), throughLinks);
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
    async gitState(manifest, root) {
      const path = rootPath(input.files.roots, root);
      const { records } = await load(manifest);
      const own = records.filter((record) => record.root === root);
      return path === null ? null : readGitState(git, path, input.home, own);
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

/** Runs one after the other: two snapshots at once would read every file twice. */
function serialised(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}
