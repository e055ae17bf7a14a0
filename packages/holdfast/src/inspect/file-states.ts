import { relative } from "node:path";
import type { Root } from "@holdfast/protocol";
import { decodeManifest } from "@holdfast/node/observer/manifest";
import type { FileRecord, Manifest } from "@holdfast/node/observer/manifest";
import type { BlobStore, RecordedEvent } from "@holdfast/runtime";
import { inOrder, type FileState } from "@holdfast/runtime/inspect/file-history";
import { isWithin } from "../config/workspace.ts";

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
export type Versions = ReadonlyMap<string, FileRecord | { readonly blob: string } | "disk">;

/** What the log, and the lists of files that it points to, say of one file; and where its versions are kept. */
export async function fileStates(
  { path, roots, now, isInScope, subject }: SessionFile,
  events: readonly RecordedEvent[],
  blobs: BlobStore,
): Promise<{ readonly states: readonly FileState[]; readonly versions: Versions }> {
  const root = roots.find((one) => isWithin(one.path, path));
  const place = root === undefined ? null : { root: root.id, path: relative(root.path, path) };
  const states: FileState[] = [];
  const versions = new Map<string, FileRecord | { readonly blob: string } | "disk">();
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
        states.push(...undone(event.payload.callIds, path, events, event.seq));
        break;
      case "check.completed":
        // The whole tree is now as it was then: so is the file.
        if (event.payload.evidence.subjectAfter === subject && isInScope && now !== undefined) add({ seq: event.seq, digest: now });
        break;
      case "turn.ended": {
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
