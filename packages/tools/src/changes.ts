import type { CallOutcome, CallPlan, ChangedFile } from "@holdfast/protocol/call";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Json } from "@holdfast/protocol/json";
import { identityOf } from "@holdfast/runtime/kernel/identity";
import type { BlobStore } from "@holdfast/runtime/ports/blobs";
import type { FileContent, FileEdit } from "@holdfast/runtime/ports/files";
import type { CallContext, CallIntent, CallRefusal, ProbeFinding } from "@holdfast/runtime/ports/tool-host";
import { z } from "zod";
import { describeChanges } from "./change-text.ts";
import { failed, interrupted, refuse, type Draft, type ToolPorts } from "./define.ts";
import { digestOf } from "./digest.ts";
import { fileResource, shownPath, type Place } from "./place.ts";
import { storedEdit, type StoredEdit } from "./stored-edit.ts";

/** What a tool wants to make of one file. */
export interface Change {
  readonly place: Place;
  readonly before: FileContent | null;
  readonly after: Uint8Array | null;
  /** Permission bits of a new file; null for the usual ones. */
  readonly mode: number | null;
  /** Real path of the file that this one is moved from. */
  readonly movedFrom: string | null;
}

const manifest = z.object({ edits: z.array(storedEdit), notes: z.array(z.string()) });
type Manifest = z.infer<typeof manifest>;
const prepared = z.union([manifest, z.object({ manifest: z.string() })]);

/** The intent is part of a session's small head: a longer list of edits goes into a blob. */
const maxInline = 2000;

/** The plan of a call that changes these files and nothing else. `what` becomes of them makes it the same as another. */
export function planChanges(summary: string, places: readonly Place[], what: Json): Draft {
  const resources = [...new Set(places.map((place) => fileResource(place.real)))];
  const isInside = places.some((place) => place.identity.root !== null);
  return {
    summary,
    reads: resources,
    writes: resources,
    workspace: isInside ? "shared" : "none",
    replay: "probe",
    changesWorkspace: isInside,
    identity: identityOf({ what, files: resources }),
  };
}

/**
 * Stores every file as it is and as it will be, so that `run`, `probe` and an undo need nothing else. Refuses where a path
 * leads to another file than the plan that was decided on.
 */
export async function prepareChanges(
  blobs: BlobStore,
  plan: CallPlan,
  changes: readonly Change[],
  notes: readonly string[],
): Promise<{ readonly prepared: Json; readonly blobs: readonly string[] } | CallRefusal> {
  const moved = changes.find((change) => !plan.writes.includes(fileResource(change.place.real)));
  if (moved !== undefined)
    return refuse(`${moved.place.shown} now leads to another file than when the call was decided. Propose it again.`);
  const edits: StoredEdit[] = [];
  for (const { place, before, after, mode, movedFrom } of changes) {
    edits.push({
      path: place.real,
      before: before?.digest ?? null,
      beforeBlob: before === null ? null : await blobs.put(before.bytes),
      beforeMode: before?.mode ?? null,
      after: after === null ? null : await digestOf(after),
      afterBlob: after === null ? null : await blobs.put(after),
      mode,
      movedFrom,
    });
  }
  const ids = edits.flatMap((edit) => [edit.beforeBlob, edit.afterBlob]).filter((id) => id !== null);
  const whole: Manifest = { edits, notes: [...notes] };
  const text = JSON.stringify(whole);
  if (text.length <= maxInline) return { prepared: whole, blobs: ids };
  const id = await blobs.put(new TextEncoder().encode(text));
  return { prepared: { manifest: id }, blobs: [...ids, id] };
}

export async function runChanges(ports: ToolPorts, intent: CallIntent, context: CallContext, signal: AbortSignal): Promise<CallOutcome> {
  const stored = await load(ports.blobs, intent);
  const edits = stored && (await fileEdits(ports.blobs, stored.edits));
  if (stored === null || edits === null) return failed("Nothing was changed: the prepared content is no longer stored.");
  if (signal.aborted) return interrupted("Interrupted before anything was changed.", signal);
  const result = await ports.files.apply(edits, claimOf(intent, context));
  switch (result.type) {
    case "applied":
      return outcomeOf(ports, stored, context);
    case "revoked":
      throw new HoldfastError("claim_lost", `Attempt ${intent.attempt} of call ${intent.callId} was taken or revoked by another driver.`);
    case "failed":
      return failed(`Nothing was changed: ${shownPath(result.path, context.cwd)}: ${result.message} (${result.code}).`);
    case "changed":
      return changedMeanwhile(ports, stored.edits, result.path, context);
  }
}

export async function probeChanges(ports: ToolPorts, intent: CallIntent, context: CallContext): Promise<ProbeFinding> {
  const stored = await load(ports.blobs, intent);
  const edits = stored && (await fileEdits(ports.blobs, stored.edits));
  if (stored === null || edits === null) return { type: "unknown", look: `${intent.plan.summary}: what was prepared is no longer stored` };
  switch (await ports.files.probe(edits, claimOf(intent, context))) {
    case "before":
      return { type: "not_happened" };
    case "after":
      return { type: "happened", outcome: await outcomeOf(ports, stored, context) };
    case "mixed":
      return { type: "resume" };
    case "unknown": {
      const now = await digestsNow(ports, stored.edits);
      const odd = stored.edits.filter((edit, at) => now[at] !== edit.before && now[at] !== edit.after);
      const names = (odd.length > 0 ? odd : stored.edits).map((edit) => shownPath(edit.path, context.cwd));
      return { type: "unknown", look: `${names.join(", ")}: neither as before the edit nor as after it` };
    }
  }
}

function claimOf(intent: CallIntent, context: CallContext) {
  return { session: context.session, callId: intent.callId, attempt: intent.attempt };
}

async function load(blobs: BlobStore, intent: CallIntent): Promise<Manifest | null> {
  const data = prepared.parse(intent.prepared);
  if ("edits" in data) return data;
  const bytes = await blobs.get(data.manifest);
  return bytes === null ? null : manifest.parse(JSON.parse(new TextDecoder().decode(bytes)));
}

async function fileEdits(blobs: BlobStore, stored: readonly StoredEdit[]): Promise<FileEdit[] | null> {
  const edits: FileEdit[] = [];
  for (const edit of stored) {
    const after = edit.afterBlob === null ? null : await blobs.get(edit.afterBlob);
    if (edit.afterBlob !== null && after === null) return null;
    edits.push({ path: edit.path, before: edit.before, after, afterDigest: edit.after, mode: edit.mode });
  }
  return edits;
}

async function outcomeOf(ports: ToolPorts, { edits, notes }: Manifest, context: CallContext): Promise<CallOutcome> {
  return {
    status: "completed",
    text: [await describeChanges(ports.blobs, edits, context.cwd), ...notes].join("\n"),
    trust: "tool",
    changed: edits.map(asChanged),
    seen: edits.flatMap((edit) => (edit.after === null ? [] : [{ path: edit.path, digest: edit.after }])),
  };
}

function asChanged(edit: StoredEdit): ChangedFile {
  return { path: edit.path, beforeDigest: edit.before, afterDigest: edit.after, before: edit.beforeBlob, beforeMode: edit.beforeMode };
}

/** A first attempt has changed nothing; a resumed one may have been joined by somebody else half-way, and says so. */
async function changedMeanwhile(ports: ToolPorts, edits: readonly StoredEdit[], path: string, context: CallContext): Promise<CallOutcome> {
  const now = await digestsNow(ports, edits);
  const done = edits.filter((edit, at) => edit.path !== path && now[at] === edit.after && edit.after !== edit.before);
  const what = `${shownPath(path, context.cwd)} was changed by something else just now (file_changed). Read it again.`;
  if (done.length === 0) return failed(`Nothing was changed: ${what}`);
  const names = done.map((edit) => shownPath(edit.path, context.cwd));
  return { ...failed(`Only ${names.join(", ")} of ${edits.length} files changed: ${what}`), changed: done.map(asChanged) };
}

/** Undefined where a file can't be read. */
async function digestsNow(ports: ToolPorts, edits: readonly StoredEdit[]): Promise<(string | null | undefined)[]> {
  return Promise.all(
    edits.map(async ({ path }) => {
      const { kind } = await ports.files.identify(path);
      if (kind === "missing") return null;
      return ports.files.read(path, maxFileBytes).then(
        (content) => content.digest,
        () => undefined,
      );
    }),
  );
}

/** Larger files are for commands: an edit holds the file and what it becomes in memory. */
export const maxFileBytes = 32 * 1024 * 1024;
