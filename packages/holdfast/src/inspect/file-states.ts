import { relative } from "node:path";
import type { Checkpoint, EventPayload, Report, Root, TreeNode } from "@holdfast/protocol";
import { readManifest } from "@holdfast/node/observer/manifest";
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
type Version = FileRecord | { readonly blob: string } | { readonly node: TreeNode } | "disk";
export type Versions = ReadonlyMap<string, Version>;

/** What else than the events is read. */
export interface StateSources {
  readonly blobs: BlobStore;
  /** How files changed, as checkpoints tell it; null where there are none. */
  readonly journal: readonly JournalEntry[] | null;
  readonly checkpoints: Pick<Checkpoints, "tree"> | undefined;
  /** When each call that may have changed any file began and ended. */
  readonly doers: readonly Doer[];
}

/** What is being read of one file. */
interface Reading {
  readonly file: SessionFile;
  /** Its root and its path below that; null where it lies in none. */
  readonly place: { readonly root: string; readonly path: string } | null;
  readonly sources: StateSources;
  readonly states: FileState[];
  readonly versions: Map<string, Version>;
  readonly manifest: (id: string) => Promise<Manifest | null>;
  hasBaseline: boolean;
  /** What the file was before the turn's first change. */
  atStart: FileState | undefined;
  /** From the first whole tree on, what no checkpoint names is unchanged. */
  isFollowed: boolean;
  /** The last state that was taken over in that way: the next one takes its place. */
  unchanged: FileState | null;
}

/** What the log, and the lists of files that it points to, say of one file; and where its versions are kept. */
export async function fileStates(
  file: SessionFile,
  events: readonly RecordedEvent[],
  sources: StateSources,
): Promise<{ readonly states: readonly FileState[]; readonly versions: Versions }> {
  const { path, roots, now } = file;
  const root = roots.find((one) => isWithin(one.path, path));
  const place = root === undefined ? null : { root: root.id, path: relative(root.path, path) };
  const reading: Reading = {
    ...{ file, place, sources, states: [], versions: new Map(), manifest: createManifests(sources.blobs) },
    ...{ hasBaseline: false, atStart: undefined, isFollowed: false, unchanged: null },
  };
  const undoneAt = new Set(events.flatMap(({ type, seq }) => (type === "edits.undone" ? [seq] : [])));
  for (const entry of sources.journal ?? []) {
    if (entry.path !== path || entry.callId !== undefined) continue;
    reading.states.push(...followed(entry, sources.doers, undoneAt.has(entry.seq)));
    for (const node of [entry.before, entry.after]) keep(reading, node);
  }
  for (const event of events) await read(reading, event, events);
  if (now !== undefined) reading.states.push({ seq: Number.POSITIVE_INFINITY, digest: now });
  if (now !== undefined && now !== null) reading.versions.set(now, "disk");
  return { states: inOrder(reading.states), versions: reading.versions };
}

async function read(reading: Reading, event: RecordedEvent, events: readonly RecordedEvent[]): Promise<void> {
  const { file, states } = reading;
  const { seq } = event;
  switch (event.type) {
    case "baseline.recorded":
    case "snapshot.recorded":
      // A later baseline lists the files of the first one.
      if (event.type === "baseline.recorded" && reading.hasBaseline) return;
      reading.hasBaseline ||= event.type === "baseline.recorded";
      reading.atStart = await listed(reading, seq, event.payload.manifest);
      return;
    case "call.intended":
      if (event.payload.checkpoint !== undefined) await lookedAt(reading, seq, event.payload.checkpoint);
      return;
    case "call.settled":
      settled(reading, seq, event.payload);
      return;
    case "edits.undone":
      if (event.payload.changes === undefined) states.push(...undone(event.payload.callIds, file.path, events, seq));
      return;
    case "check.completed":
      // The whole tree is now as it was then: so is the file.
      if (event.payload.evidence.subjectAfter === file.subject && file.isInScope && file.now !== undefined)
        states.push({ seq, digest: file.now });
      return;
    case "turn.ended":
      if (event.payload.checkpoint !== undefined)
        await lookedAt(reading, seq, event.payload.checkpoint, lastLook(reading.sources.doers, seq));
      ended(reading, seq, event.payload.report);
      return;
    default:
  }
}

/** The file as a list of the workspace's files has it; undefined where that tells nothing. */
async function listed(
  { file, place, states, versions, manifest }: Reading,
  seq: number,
  id: string | null,
): Promise<FileState | undefined> {
  const found = id === null || place === null ? null : await manifest(id);
  const record = found?.records.find((one) => one.root === place?.root && one.path === place.path);
  if (found === null || (record === undefined && !file.isInScope)) return undefined;
  const state = { seq, digest: record?.digest ?? null };
  states.push(state);
  if (record !== undefined && !versions.has(record.digest)) versions.set(record.digest, record);
  return state;
}

/** What a checkpoint says of a file that is not among its changes: as in its whole tree, or else as it was. */
async function lookedAt(
  reading: Reading,
  seq: number,
  { base, failed }: Checkpoint,
  looked: Pick<FileState, "looked"> = {},
): Promise<void> {
  const { file, states, sources } = reading;
  if (sources.journal === null || !file.isInScope) return;
  if (failed !== undefined) {
    reading.isFollowed = false;
    return;
  }
  if (base !== undefined) {
    const tree = await sources.checkpoints?.tree(base);
    if (tree == null) return;
    reading.isFollowed = true;
    const node = tree.get(file.path) ?? null;
    // What others changed after that look, before the command, stands at the same event.
    states.unshift({ seq, digest: node?.digest ?? null });
    keep(reading, node);
    return;
  }
  const last = states.reduce<FileState | null>((best, one) => (one.seq < seq && one.seq >= (best?.seq ?? 0) ? one : best), null);
  if (!reading.isFollowed || last === null) return;
  if (last === reading.unchanged) states.splice(states.indexOf(last), 1);
  reading.unchanged = { seq, digest: last.digest, ...looked };
  states.unshift(reading.unchanged);
}

function keep({ versions }: Reading, node: TreeNode | null): void {
  if (node !== null && node.digest !== null && node.content !== null) versions.set(node.digest, { node });
}

/** What a call's end says: an edit what it changed, others what they saw of the file. */
function settled({ file: { path }, states, versions }: Reading, seq: number, { callId, outcome }: EventPayload<"call.settled">): void {
  for (const file of outcome.changed ?? []) {
    if (file.path !== path) continue;
    states.push({ seq, digest: file.beforeDigest }, { seq, digest: file.afterDigest, by: callId });
    if (file.before !== null && file.beforeDigest !== null) versions.set(file.beforeDigest, { blob: file.before });
  }
  for (const seen of outcome.seen ?? []) if (seen.path === path) states.push({ seq, digest: seen.digest });
  for (const file of outcome.files ?? []) if (file.path === path) states.push({ seq, digest: file.after });
}

/** A file that a turn's report doesn't name is at its end what it was at its start. */
function ended(reading: Reading, seq: number, { changes, changesKnown }: Report): void {
  const { file, place, atStart, states } = reading;
  reading.atStart = undefined;
  const named = place === null || file.roots.length === 1 ? place?.path : `${place.root}:${place.path}`;
  if (!changesKnown || atStart === undefined || !file.isInScope || changes.some((change) => change.path === named)) return;
  states.push({ ...atStart, seq });
}

/** The last look before the one that an event tells of: that was begun when a call ended. */
function lastLook(doers: readonly Doer[], seq: number): Pick<FileState, "looked"> {
  const ends = doers.flatMap(({ to }) => (to < seq ? [to] : []));
  return ends.length === 0 ? {} : { looked: Math.max(...ends) };
}

/** What a checkpoint, or an undo, says of one change. Where several calls ran side by side, it can't say which of them it was. */
function followed({ seq, by, before, after }: JournalEntry, doers: readonly Doer[], isUndo: boolean): FileState[] {
  const [was, is] = [
    { seq, digest: before?.digest ?? null },
    { seq, digest: after?.digest ?? null },
  ];
  if (isUndo) return [was, { ...is, isUndo }];
  // What a call left running goes on to change files, and a look can't tell that from anybody's doing.
  if (by === "outside")
    return [{ ...was, ...lastLook(doers, seq) }, doers.some(({ from, to }) => from < seq && to > seq) ? is : { ...is, isOutside: true }];
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
    const known = read.get(id) ?? readManifest(id, (blob) => blobs.get(blob));
    read.set(id, known);
    return known;
  };
}
