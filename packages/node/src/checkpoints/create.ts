import { join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Checkpoint, ContentPlace, RefChange, TreeChange, TreeNode } from "@holdfast/protocol";
import type { BlobStore, Checkpoints } from "@holdfast/runtime";
import { fsPath } from "../observer/names.ts";
import type { WorkspaceParts } from "../observer/parts.ts";
import type { CachedDigest } from "../observer/stat-cache.ts";
import { refuseNewer } from "../stored-version.ts";
import { decodeBase, encodeBase, type Nodes } from "./base.ts";
import { openBudget } from "./budget.ts";
import { dropsHistory } from "./drops-history.ts";
import { contentOf, createKeeper, type Wanted } from "./keep.ts";
import { type Known, withoutKnown } from "./known.ts";
import { createLookTimes } from "./look-times.ts";
import { type PackedRefs, readRefs, refChanges, type Refs } from "./refs.ts";
import { cleanUp } from "./go-back.ts";
import { finishRestore, restoreTree, settleRestore } from "./restore.ts";
import { type RestorePlaces, rootOf } from "./restore-places.ts";
import { readNote } from "./restore-note.ts";
import { contentAt, nodeAt } from "./nodes-at.ts";
import { disarmRepositories, noteMarks } from "./repositories.ts";
import { lookAgain, nodeKind, permissions, readTree, type Seen, type Tree } from "./tree.ts";

export interface CheckpointsInput {
  readonly parts: WorkspaceParts;
  readonly blobs: BlobStore;
  /** Holdfast's own folder: what is kept is reckoned up there. */
  readonly home: string;
  /** The most that checkpoints of all sessions keep, bytes. */
  readonly mostBytes: number;
  /** Told what a person should know: older content was let go. */
  readonly onNote: (message: string) => void;
}

/** A session that follows the workspace: what has changed since its last checkpoint. */
interface Follower {
  readonly changes: TreeChange[];
  readonly refs: RefChange[];
  readonly known: Known;
  /** Every path that could not be kept, once. */
  readonly unkept: Map<string, "too_large" | "unreadable" | "no_room">;
  untold: string[];
  /** There was a look since the last checkpoint. */
  hasMore: boolean;
}

/** Content that git has is copied all the same while there is no more of it than this: then git's objects may go. */
const littleBytes = 16 * 1024 * 1024;
const littleFiles = 2_000;
/** More changes than these are listed in a blob. */
const mostInline = 200;
const mostNamed = 20;
const mostFollowers = 8;

export function createCheckpoints({ parts, blobs, home, mostBytes, onNote }: CheckpointsInput): Checkpoints {
  const keeper = createKeeper(blobs, parts.kept, openBudget(join(home, "checkpoints.tsv"), blobs, mostBytes), mostBytes);
  const followers = new Map<string, Follower>();
  const packed: PackedRefs = new Map();
  const origins = new WeakMap<Tree["scope"], ReadonlyMap<string, { readonly oid: string; readonly repo: string }>>();
  let trees: readonly Tree[] | null = null;
  let refs: Refs = new Map();
  let keepsAll = false;
  const times = createLookTimes();
  let last: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
  const places: RestorePlaces = { home, roots: parts.rootPaths, pieces: (node) => contentOf(parts.git, blobs, node) };
  const gitPlace = (tree: Tree, path: string, entry: CachedDigest): ContentPlace | null => {
    const { scope, root } = tree;
    let origin = origins.get(scope);
    if (origin === undefined) {
      origin = new Map(
        scope.listing.files.flatMap(({ path: name, oid, repo }) =>
          oid === null ? [] : [[name, { oid, repo: scope.listing.repos[repo] ?? "" }] as const],
        ),
      );
      origins.set(scope, origin);
    }
    const found = origin.get(path);
    if (found === undefined || found.oid !== entry.oid) return null;
    return { oid: found.oid, folder: found.repo === "" ? root.path : `${root.path}/${found.repo}` };
  };
  const nodeOf = async (tree: Tree, path: string, seen: Seen | null): Promise<TreeNode | null> => {
    if (seen === null) return null;
    if (seen.type === "folder") return { kind: "folder", mode: seen.mode, digest: null, size: 0, content: null };
    const { entry } = seen;
    const kind = nodeKind(entry.stat.mode);
    const mode = kind === "link" ? null : permissions(entry.stat.mode);
    if (kind !== "file" && kind !== "link") return { kind, mode, digest: null, size: 0, content: null };
    const content = (await keeper.placeOf(entry.digest)) ?? gitPlace(tree, path, entry);
    return { kind, mode, digest: entry.digest, size: entry.size, content };
  };
  const wantedOf = (tree: Tree, path: string, entry: CachedDigest, bytes: Buffer | null): Wanted => ({
    path: `${tree.root.path}/${path}`,
    at: fsPath(tree.root.path, path),
    entry,
    bytes,
  });
  const keep = async (wanted: readonly Wanted[]): Promise<readonly string[]> => {
    const { blobs: written, unkept, gone } = await keeper.keep(wanted.filter(({ entry }) => hasContent(entry)));
    const found = [
      ...unkept,
      ...wanted.filter(({ entry }) => isUnreadable(entry)).map(({ path }) => ({ path, why: "unreadable" as const })),
    ];
    for (const follower of followers.values()) {
      for (const { path, why } of found) {
        if (follower.unkept.get(path) === why) continue;
        follower.unkept.set(path, why);
        follower.untold.push(path);
      }
    }
    if (gone > 0) onNote(`checkpoints: ${megabytes(gone)} MB of the oldest were let go, to keep no more than ${megabytes(mostBytes)} MB`);
    return written;
  };
  const readRefsNow = (): Refs =>
    new Map((trees ?? []).flatMap(({ root, scope }) => [...readRefs(root.path, scope.listing.repos, packed)]));

  const lookAtTree = async (tree: Tree, owner: string | null): Promise<void> => {
    const before = origins.get(tree.scope);
    const seen = await lookAgain(parts.places, tree);
    if (before !== undefined && !origins.has(tree.scope)) origins.set(tree.scope, before);
    await keep(
      seen.flatMap(({ path, after, bytes }) =>
        after?.type !== "entry" || (gitPlace(tree, path, after.entry) !== null && !keepsAll)
          ? []
          : [wantedOf(tree, path, after.entry, bytes)],
      ),
    );
    const changes: Omit<TreeChange, "by">[] = [];
    for (const { path, before: was, after } of seen) {
      changes.push({ path: `${tree.root.path}/${path}`, before: await nodeOf(tree, path, was), after: await nodeOf(tree, path, after) });
    }
    for (const [session, follower] of followers) {
      const by = session === owner ? "session" : "outside";
      follower.changes.push(...withoutKnown(changes, by, follower.known));
    }
  };

  /**
   * `owner`: the session whose call has just ended; null: whatever differs, no call did. `approved`: what a person let a confined
   * call write; null of one that may leave what it likes.
   */
  const look = async (owner: string | null, approved: readonly string[] | null): Promise<void> => {
    const over = times.begin();
    for (const tree of trees ?? []) {
      await lookAtTree(tree, owner);
      if (approved === null) noteMarks(tree);
      else {
        const said = await disarmRepositories(parts.git, tree, approved);
        for (const each of said) onNote(each);
        // What was renamed is a part of what the call did.
        if (said.length > 0) await lookAtTree(tree, owner);
      }
    }
    for (const { known } of followers.values()) known.clear();
    const now = readRefsNow();
    if (owner !== null) followers.get(owner)?.refs.push(...refChanges(refs, now));
    refs = now;
    over();
  };

  /** All of the tree, for who begins to follow. */
  const baseOf = async (manifest: string): Promise<{ readonly id: string; readonly blobs: readonly string[] }> => {
    const nodes: Nodes = new Map();
    for (const tree of trees ?? []) {
      for (const [path, { mode }] of tree.folders)
        if (path !== "") nodes.set(`${tree.root.path}/${path}`, { kind: "folder", mode, digest: null, size: 0, content: null });
      for (const [path, entry] of tree.entries) {
        const node = await nodeOf(tree, path, { type: "entry", entry });
        if (node !== null) nodes.set(`${tree.root.path}/${path}`, node);
      }
    }
    const roots = (trees ?? []).map(({ root }) => root);
    const id = await blobs.put(encodeBase(manifest, await parts.load(manifest), roots, nodes));
    return { id, blobs: [id, ...new Set([...nodes.values()].flatMap(({ content }) => blobsOf(content)))] };
  };

  const keepTree = async (commands: readonly string[]): Promise<readonly string[]> => {
    const entries = (trees ?? []).flatMap((tree) => [...tree.entries].map(([path, entry]) => ({ tree, path, entry })));
    const bytes = entries.reduce((sum, { entry }) => sum + entry.size, 0);
    keepsAll ||= (entries.length <= littleFiles && bytes <= littleBytes) || commands.some(dropsHistory);
    return keep(
      entries.flatMap(({ tree, path, entry }) =>
        keepsAll || gitPlace(tree, path, entry) === null ? [wantedOf(tree, path, entry, null)] : [],
      ),
    );
  };
  const read = async (manifest: string): Promise<void> => {
    const { rules } = await parts.load(manifest);
    const roots = parts.roots();
    trees = await Promise.all(roots.map((root) => readTree(parts.places, root, rules[root.id] ?? null)));
    trees.forEach(noteMarks);
    refs = readRefsNow();
  };
  const told = async (follower: Follower, base: Awaited<ReturnType<typeof baseOf>> | undefined): Promise<Checkpoint> => {
    const changes = follower.changes.splice(0);
    const moved = follower.refs.splice(0);
    const untold = follower.untold;
    follower.untold = [];
    follower.hasMore = false;
    const isLong = changes.length > mostInline;
    const list = isLong ? await blobs.put(new TextEncoder().encode(JSON.stringify(changes))) : undefined;
    const places = changes.flatMap(({ before, after }) => [before?.content, after?.content]);
    return {
      ...(base === undefined ? {} : { base: base.id }),
      changes: isLong ? [] : changes,
      ...(list === undefined ? {} : { list }),
      ...(moved.length === 0 ? {} : { refs: moved }),
      ...(untold.length === 0
        ? {}
        : { unkept: untold.slice(0, mostNamed).map((path) => ({ path, why: follower.unkept.get(path) ?? ("unreadable" as const) })) }),
      ...(untold.length <= mostNamed ? {} : { more: untold.length - mostNamed }),
      blobs: [...new Set([...places.flatMap(blobsOf), ...(base?.blobs ?? []), ...(list === undefined ? [] : [list])])],
    };
  };
  /** A look besides those of checkpoints, which the next one tells of. After one that failed, what comes begins anew. */
  const follow = async (session: string, work: () => Promise<void>): Promise<void> => {
    const follower = followers.get(session);
    if (follower === undefined) return;
    follower.hasMore = true;
    await inTurn(work).catch(() => {
      trees = null;
      followers.clear();
    });
  };

  return {
    take: ({ session, commands, manifest }) => {
      const askedAt = performance.now();
      return inTurn(async () => {
        try {
          if (!followers.has(session)) await settleRestore(places, session);
          const isFirst = trees === null;
          if (isFirst) await read(manifest);
          else if (!times.isOfNow(askedAt)) await look(null, null);
          const known = followers.get(session);
          const follower = known ?? newFollower();
          followers.delete(session);
          followers.set(session, follower);
          forgetOldest();
          const isKept = known !== undefined && (keepsAll || !commands.some(dropsHistory));
          const written = isKept ? [] : await keepTree(commands);
          const checkpoint = await told(follower, known === undefined ? await baseOf(manifest) : undefined);
          return { ...checkpoint, blobs: [...new Set([...checkpoint.blobs, ...written])] };
        } catch (error) {
          // Without a checkpoint the step can't be taken back, and says so; what comes after begins anew.
          trees = null;
          followers.clear();
          return { changes: [], blobs: [], failed: reasonOf(error) };
        }
      });
    },
    begun: (session) => follow(session, () => look(null, null)),
    ended: (session, approved) => void follow(session, () => look(session, approved)),
    close: (session) =>
      inTurn(async () => {
        const follower = followers.get(session);
        return follower === undefined || !follower.hasMore ? null : told(follower, undefined).catch(() => null);
      }),
    ready: () => inTurn(async () => undefined),
    changed(session, changes) {
      times.touch();
      const known = followers.get(session)?.known;
      for (const { path, before, after } of changes) known?.set(path, { before: known.get(path)?.before ?? before, after });
    },
    changesOf: async ({ changes, list }) => {
      if (list === undefined) return changes;
      const bytes = await blobs.get(list);
      if (bytes === null) return null;
      const found = JSON.parse(new TextDecoder().decode(bytes)) as TreeChange[] | { readonly version?: number };
      // The first format is the list alone; a later one says which it is.
      if (!Array.isArray(found)) refuseNewer("a checkpoint's list of changes", found.version ?? "unknown", 1);
      return found as TreeChange[];
    },
    async tree(base) {
      const bytes = await blobs.get(base);
      return bytes === null ? null : decodeBase(bytes, parts.roots(), parts.load);
    },
    async nodesAt(paths) {
      const nodes = new Map<string, TreeNode | null>();
      for (const path of paths) nodes.set(path, await nodeAt(rootOf(places, path), path));
      return nodes;
    },
    async content(node, mostBytes) {
      if (node.size > mostBytes) return null;
      const pieces: Uint8Array[] = [];
      for await (const piece of places.pieces(node)) {
        if (piece === null) return null;
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    },
    contentAt: async (path) => contentAt(rootOf(places, path), path),
    restore: (session, restore) => inTurn(() => restoreTree(places, session, restore)),
    finish: (session) => inTurn(() => finishRestore(places, session)),
    unfinished: async (session) => readNote(home, session)?.restore ?? null,
    settled: async (session) => cleanUp(places, session),
  };

  /** Whoever is followed gathers changes: a session that comes back later begins anew. */
  function forgetOldest(): void {
    for (const oldest of followers.keys()) {
      if (followers.size <= mostFollowers) return;
      followers.delete(oldest);
    }
  }
}

function newFollower(): Follower {
  return { changes: [], refs: [], known: new Map(), unkept: new Map(), untold: [], hasMore: false };
}

function hasContent(entry: CachedDigest): boolean {
  const kind = nodeKind(entry.stat.mode);
  return (kind === "file" || kind === "link") && !isUnreadable(entry);
}

/** A file that could not be opened was told apart by its stat alone. */
function isUnreadable(entry: CachedDigest): boolean {
  return entry.kind === "other" && nodeKind(entry.stat.mode) === "file";
}

function blobsOf(place: ContentPlace | null | undefined): readonly string[] {
  if (place === null || place === undefined) return [];
  return "blobs" in place ? place.blobs : "blob" in place ? [place.blob] : [];
}

function megabytes(bytes: number): number {
  return Math.max(1, Math.round(bytes / 1_000_000));
}

function reasonOf(error: unknown): string {
  return error instanceof HoldfastError || error instanceof Error ? error.message : String(error);
}
