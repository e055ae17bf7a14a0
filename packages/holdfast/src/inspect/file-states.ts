import { relative } from "node:path";
import type { Checkpoint, Root, TreeNode } from "@holdfast/protocol";
import { decodeManifest } from "@holdfast/node/observer/manifest";
import type { FileRecord, Manifest } from "@holdfast/node/observer/manifest";
import type { BlobStore, Checkpoints, RecordedEvent } from "@holdfast/runtime";
import { type Doer, inOrder, type FileState } from "@holdfast/runtime/inspect/file-history";
import { isWithin } from "../config/workspace.ts";
import type { JournalEntry } from "../undo/journal.ts";

/** A file of a session's workspace. */
export interface SessionFile {
  /** Absolute, real. */
  readonly path: string;
  readonly roots: readonly Root[];
  /** Its content's digest now; null where it is not there, undefined where that can't be told. */
  readonly now: string | null | undefined;
  /** Whether it counts as one of the workspace's files: what is ignored stands in no list of them. */
  readonly isInScope: boolean;
  /** Digest of all files in scope as they are now; null where the folder is gone. */
  readonly subject: string | null;
}

/** Where a version's content can be had. */
export type Versions = ReadonlyMap<string, FileRecord | { readonly blob: string } | { readonly node: TreeNode } | "disk">;

/** What else than the events is read. */
export interface StateSources {
  readonly blobs: BlobStore;
  /** How files changed, as checkpoints tell it; null where there are none. */
  readonly journal: readonly JournalEntry[] | null;
  readonly checkpoints: Pick<Checkpoints, "tree"> | undefined;
  /** When each call that may have changed any file began and ended. */
  readonly doers: readonly Doer[];
}

/** What the log, and the lists of files that it points to, say of one file; and where its versions are kept. */
export async function fileStates(
  { path, roots, now, isInScope, subject }: SessionFile,
  events: readonly RecordedEvent[],
  { blobs, journal, checkpoints, doers }: StateSources,
): Promise<{ readonly states: readonly FileState[]; readonly versions: Versions }> {
  const root = roots.find((one) => isWithin(one.path, path));
  const place = root === undefined ? null : { root: root.id, path: relative(root.path, path) };
  const states: FileState[] = [];
  const versions = new Map<string, FileRecord | { readonly blob: string } | { readonly node: TreeNode } | "disk">();
  const manifests = createManifests(blobs);
  const add = (state: FileState): void => void states.push(state);
  const listed = async (seq: number, id: string | null): Promise<void> => {
    const manifest = id === null || place === null ? null : await manifests(id);
    if (manifest === null) return;
    const record = manifest.records.find((one) => one.root === place?.root && one.path === place.path);
    if (record === undefined && !isInScope) return;
    add({ seq, digest: record?.digest ?? null });
    if (record !== undefined && !versions.has(record.digest)) versions.set(record.digest, record);
  };
  const undoneAt = new Set(events.flatMap(({ type, seq }) => (type === "edits.undone" ? [seq] : [])));
  for (const entry of journal ?? []) {
    if (entry.path !== path || entry.callId !== undefined) continue;
    states.push(...followed(entry, doers, undoneAt.has(entry.seq)));
    for (const node of [entry.before, entry.after]) if (node?.digest != null && node.content !== null) versions.set(node.digest, { node });
  }
  const lookedAt = async (seq: number, { base, failed }: Checkpoint): Promise<void> => {
    if (journal === null || failed !== undefined || !isInScope) return;
    if (base === undefined) {
      // What isn't among the changes since the look before is as it was.
      const last = states.reduce<FileState | null>((best, one) => (one.seq < seq && one.seq >= (best?.seq ?? 0) ? one : best), null);
      if (!isFollowed || last === null) return;
      if (last === unchanged) states.splice(states.indexOf(last), 1);
      unchanged = { seq, digest: last.digest };
      add(unchanged);
      return;
    }
    const tree = await checkpoints?.tree(base);
    if (tree == null) return;
    isFollowed = true;
    const node = tree.get(path);
    add({ seq, digest: node?.digest ?? null });
    if (node?.digest != null && node.content !== null) versions.set(node.digest, { node });
  };
  let isFollowed = false;
  /** The last such state that was taken over: the next one takes its place. */
  let unchanged: FileState | null = null;
  /** What the file was before the turn's first change. */
  let atStart: FileState | undefined;
  let hasBaseline = false;
  for (const event of events) {
    switch (event.type) {
      case "baseline.recorded":
      case "snapshot.recorded":
        // A later baseline lists the files of the first one.
        if (event.type === "baseline.recorded" && hasBaseline) break;
        hasBaseline ||= event.type === "baseline.recorded";
        await listed(event.seq, event.payload.manifest);
        atStart = states.at(-1)?.seq === event.seq ? states.at(-1) : undefined;
        break;
      case "call.intended":
        if (event.payload.checkpoint !== undefined) await lookedAt(event.seq, event.payload.checkpoint);
        break;
      case "call.settled": {
        const { callId, outcome } = event.payload;
        for (const file of outcome.changed ?? []) {
          if (file.path !== path) continue;
          add({ seq: event.seq, digest: file.beforeDigest });
          add({ seq: event.seq, digest: file.afterDigest, by: callId });
          if (file.before !== null && file.beforeDigest !== null) versions.set(file.beforeDigest, { blob: file.before });
        }
        for (const seen of outcome.seen ?? []) if (seen.path === path) add({ seq: event.seq, digest: seen.digest });
        for (const file of outcome.files ?? []) if (file.path === path) add({ seq: event.seq, digest: file.after });
        break;
      }
      case "edits.undone":
        if (event.payload.changes === undefined) states.push(...undone(event.payload.callIds, path, events, event.seq));
        break;
      case "check.completed":
        // The whole tree is now as it was then: so is the file.
        if (event.payload.evidence.subjectAfter === subject && isInScope && now !== undefined) add({ seq: event.seq, digest: now });
        break;
      case "turn.ended": {
        if (event.payload.checkpoint !== undefined) await lookedAt(event.seq, event.payload.checkpoint);
        const { changes, changesKnown } = event.payload.report;
        const named = place === null || roots.length === 1 ? (place?.path ?? "") : `${place.root}:${place.path}`;
        const isNamed = changes.some((change) => change.path === named);
        if (changesKnown && !isNamed && atStart !== undefined && isInScope) add({ ...atStart, seq: event.seq });
        atStart = undefined;
        break;
      }
      default:
    }
  }
  if (now !== undefined) add({ seq: Number.POSITIVE_INFINITY, digest: now });
  if (now !== undefined && now !== null) versions.set(now, "disk");
  return { states: inOrder(states), versions };
}

/** What a checkpoint, or an undo, says of one change. Where several calls ran side by side, it can't say which of them it was. */
function followed({ seq, by, before, after }: JournalEntry, doers: readonly Doer[], isUndo: boolean): FileState[] {
  const [was, is] = [
    { seq, digest: before?.digest ?? null },
    { seq, digest: after?.digest ?? null },
  ];
  if (isUndo) return [was, { ...is, isUndo }];
  // What a call left running goes on to change files, and a look can't tell that from anybody's doing.
  if (by === "outside") return [was, doers.some(({ from, to }) => from < seq && to > seq) ? is : { ...is, isOutside: true }];
  const at = doers.filter(({ from, to }) => from <= seq && to > seq);
  const end = Math.max(seq, ...at.map(({ to }) => to));
  const [only] = at;
  const isKnown = only !== undefined && at.length === 1;
  return [
    { ...was, seq: Math.min(seq, ...at.map(({ from }) => from)) },
    { ...is, seq: Number.isFinite(end) ? end : seq + 0.5, ...(isKnown ? { by: only.action.callId } : {}) },
  ];
}

/** What an undo made of the file: what it was before the first of the calls that were taken back. */
function undone(callIds: readonly string[], path: string, events: readonly RecordedEvent[], seq: number): [FileState] | [] {
  for (const event of events) {
    if (event.type !== "call.settled" || !callIds.includes(event.payload.callId)) continue;
    const file = event.payload.outcome.changed?.find((one) => one.path === path);
    if (file !== undefined) return [{ seq, digest: file.beforeDigest, isUndo: true }];
  }
  return [];
}

function createManifests(blobs: BlobStore): (id: string) => Promise<Manifest | null> {
  const read = new Map<string, Promise<Manifest | null>>();
  return (id) => {
    const known = read.get(id) ?? blobs.get(id).then((bytes) => (bytes === null ? null : decodeManifest(bytes)));
    read.set(id, known);
    return known;
  };
}
