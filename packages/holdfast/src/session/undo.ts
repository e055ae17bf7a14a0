import { readdir } from "node:fs/promises";
import type { EventPayload, StoredEvent, TreeChange } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { eventPayloads } from "@holdfast/protocol/event";
import type { Checkpoints, Restore, RestoreResult, RestoreStep } from "@holdfast/runtime";
import { isSameNode } from "@holdfast/runtime/tree-change";
import type { OpenHost } from "../runtime-api.ts";
import { changedAtOnce } from "../undo/at-once.ts";
import { undoDiff } from "../undo/diff.ts";
import { payloadOf, readJournal, stepsOf } from "../undo/journal.ts";
import { notUndone, type OtherCall } from "../undo/not-undone.ts";
import { planUndo, undosSince } from "../undo/plan.ts";
import { withContents } from "../undo/contents.ts";
import { blobsLeft, keepLeft } from "../undo/left.ts";

/**
 * How far back: the newest turn that has something left to undo, everything, or what was changed from this event on. `at`: the
 * files as they were before that event, also where an undo has taken more back since. `begun`: only what
 * a process that died had begun.
 */
export type UndoReach = "last" | "all" | "begun" | { readonly before: number } | { readonly at: number };

export interface Undone {
  readonly files: readonly { readonly path: string; readonly change: "restored" | "deleted" }[];
  /** What it makes of the files, line by line. */
  readonly diff: readonly string[];
  /** What stays as the session left it. */
  readonly left: readonly string[];
  /** True where it was begun by a process that died. */
  readonly isFinished: boolean;
}

export interface UndoOptions {
  readonly reach: UndoReach;
  /** Only says what would be done. */
  readonly isDry: boolean;
  readonly onWait?: (message: string) => void;
}

/** What a restore that is under way keeps for its record. */
interface UndoNote {
  readonly callIds: readonly string[];
  readonly since: number;
  readonly isPoint?: boolean;
}
/** More changes than these are listed in a blob. */
const mostInline = 200;
const largestShown = 1024 * 1024;

/**
 * Takes back what the session's calls changed in files, all of it or nothing. What others changed meanwhile stays; where they
 * changed the same file it throws `undo_conflict` and names every such file, and those whose earlier content is gone.
 */
export async function undoSession(host: OpenHost, session: string, options: UndoOptions): Promise<Undone> {
  const { ports, runtime } = host;
  const checkpoints = checkpointsOf(host);
  let undone: Undone = { files: [], diff: [], left: [], isFinished: false };
  if (options.isDry) {
    const begun = await checkpoints.unfinished(session);
    return begun === null ? (await prepare(host, checkpoints, session, options)).undone : dryOf(begun);
  }
  let isOver = false;
  let changes: readonly TreeChange[] = [];
  await runtime.recordUndo(
    ports,
    session,
    async () => {
      // Not earlier: a living process may have been at it until now.
      const pending = await checkpoints.unfinished(session);
      let restore: Restore;
      let result: RestoreResult;
      if (pending !== null) {
        restore = pending;
        result = await checkpoints.finish(session);
        undone = { ...dryOf(pending), isFinished: true };
      } else {
        const prepared = await prepare(host, checkpoints, session, options);
        undone = prepared.undone;
        if (prepared.steps.length === 0) return null;
        const steps = await keepLeft(prepared.steps, checkpoints, ports.blobs);
        restore = { steps, note: { ...prepared.note, callIds: [...prepared.note.callIds] } };
        result = await checkpoints.restore(session, restore);
      }
      const kept = keptFolders(result);
      undone = {
        ...undone,
        files: undone.files.filter(({ path }) => !kept.some((folder) => path === `${folder}/`)),
        left: [...(await Promise.all(kept.map(stillHolds))), ...undone.left],
      };
      isOver = true;
      changes = restore.steps.map(({ path, from, to }) => ({ path, by: "session", before: from, after: bare(to) }));
      if (pending !== null && (await isRecorded(host, session, pending))) return null;
      const isLong = changes.length > mostInline;
      const list = isLong ? await ports.blobs.put(new TextEncoder().encode(JSON.stringify(changes))) : undefined;
      const blobs = [...blobsLeft(restore.steps), ...(list === undefined ? [] : [list])];
      const payload: EventPayload<"edits.undone"> = {
        ...eventPayloads["edits.undone"].parse(restore.note),
        changes: isLong ? [] : [...changes],
        ...(list === undefined ? {} : { list }),
        ...(blobs.length === 0 ? {} : { blobs }),
      };
      return payload;
    },
    options.onWait,
  );
  if (isOver) {
    await checkpoints.settled(session);
    checkpoints.changed(session, changes);
  }
  return undone;
}

/** A process may die after the record, before what waited beside the files is cleared away. */
async function isRecorded({ ports }: OpenHost, session: string, { note }: Restore): Promise<boolean> {
  const events = await ports.log.read(session, 1);
  const what = ({ callIds, since, isPoint }: EventPayload<"edits.undone">): string => JSON.stringify([callIds, since, isPoint]);
  const own = what(eventPayloads["edits.undone"].parse(note));
  return events.some((event) => {
    const undone = payloadOf(event, "edits.undone");
    return undone !== null && what(undone) === own;
  });
}

/** Its content stays with the calls that were taken back. */
function bare(node: RestoreStep["to"]): RestoreStep["to"] {
  return node === null ? null : { ...node, content: null };
}

interface PreparedUndo {
  readonly steps: readonly RestoreStep[];
  readonly note: UndoNote;
  readonly undone: Undone;
}

async function prepare(host: OpenHost, checkpoints: Checkpoints, session: string, { reach }: UndoOptions): Promise<PreparedUndo> {
  const events = await host.ports.log.read(session, 1);
  const lookNow = async (manifest: string) => {
    const { base } = await checkpoints.take({ session, commands: [], manifest });
    return base === undefined ? null : checkpoints.tree(base);
  };
  const isPoint = typeof reach === "object" && "at" in reach;
  for (const before of placesOf(events, reach)) {
    const whole = await readJournal(events, before, checkpoints, lookNow);
    const journal = isPoint ? { ...whole, undos: undosSince(whole, before) } : whole;
    const plan = planUndo(journal);
    const { interleaved } = plan;
    const steps = isPoint ? await withContents(plan.steps, events, checkpoints) : plan.steps;
    const now = await checkpoints.nodesAt(steps.map(({ path }) => path));
    const open = steps.filter(({ path, to }) => !isSameNode(now.get(path) ?? null, to));
    if (steps.length === 0 && reach === "last") continue;
    const shared = await changedAtOnce(host.ports.log, session, events, journal, checkpoints);
    const conflicts = conflictsOf(open, interleaved, shared, now);
    if (conflicts.length > 0) throw conflictError(conflicts);
    const { cwd } = host.ports.files;
    const diff = await undoDiff(
      open,
      (node, most) => checkpoints.content(node, most),
      async (path) => {
        const node = now.get(path) ?? null;
        return node === null || node.size > largestShown ? null : checkpoints.contentAt(path);
      },
      (path) => (path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path),
    );
    const left = notUndone(journal, othersOf(events, before), hasNetwork(events));
    return {
      steps: open,
      note: { callIds: journal.calls.map(({ callId }) => callId), since: before, ...(isPoint ? { isPoint } : {}) },
      undone: { files: open.map(fileOf), diff, left: open.length === 0 ? [] : left, isFinished: false },
    };
  }
  return { steps: [], note: { callIds: [], since: 1 }, undone: { files: [], diff: [], left: [], isFinished: false } };
}

/** Where an undo may begin, the likeliest first. */
function placesOf(events: readonly StoredEvent[], reach: UndoReach): number[] {
  if (reach === "begun") return [];
  if (reach === "all") return [1];
  if (reach !== "last") return ["at" in reach ? reach.at : reach.before];
  return stepsOf(events)
    .filter(({ step }) => step === 0)
    .map(({ seq }) => seq)
    .toReversed();
}

function conflictsOf(
  steps: readonly RestoreStep[],
  interleaved: readonly string[],
  shared: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, RestoreStep["from"]>,
): string[] {
  const conflicts: string[] = [];
  for (const { path, from, to } of steps) {
    const current = now.get(path) ?? null;
    const other = shared.get(path);
    if (other !== undefined) conflicts.push(`${path}: changed by the session ${other} at the same time`);
    else if (interleaved.includes(path)) conflicts.push(`${path}: changed by something else between the session's steps`);
    else if (!isSameNode(current, from)) conflicts.push(`${path}: ${current === null ? "deleted" : "changed"} since`);
    else if (to?.kind === "other") conflicts.push(`${path}: a socket or a device can't be made again`);
    else if (to !== null && to.content === null && to.digest !== null && to.digest !== from?.digest)
      conflicts.push(`${path}: its earlier content was not kept`);
  }
  return conflicts;
}

function fileOf({ path, from, to }: RestoreStep): Undone["files"][number] {
  const isFolder = (to ?? from)?.kind === "folder";
  return { path: isFolder ? `${path}/` : path, change: to === null ? "deleted" : "restored" };
}

function dryOf(restore: Restore): Undone {
  return { files: restore.steps.map(fileOf), diff: [], left: [], isFinished: false };
}

function keptFolders(result: RestoreResult): readonly string[] {
  switch (result.type) {
    case "restored":
      return result.kept;
    case "refused":
      throw conflictError(
        result.paths.map(
          ({ path, why }) => `${path}: ${why === "changed" ? "changed just now" : "its earlier content was not kept, or was let go"}`,
        ),
      );
    case "failed":
      throw failedError(result);
  }
}

const mostNamed = 4;

/** Why a folder that was to go is still there. */
async function stillHolds(folder: string): Promise<string> {
  const names = (await readdir(folder).catch(() => [])).sort();
  const shown = names.slice(0, mostNamed).map((name) => (name === ".git" ? ".git, a repository, which an undo leaves as it is" : name));
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
  return `${folder}/: it holds ${shown.length === 0 ? "something else" : shown.join("; ")}${more}`;
}

/** Calls that may have changed something that isn't a file here. */
function othersOf(events: readonly StoredEvent[], from: number): OtherCall[] {
  const decided = new Map<string, OtherCall>();
  const others: OtherCall[] = [];
  for (const event of events) {
    const made = payloadOf(event, "call.decided");
    if (made !== null && !made.plan.changesWorkspace && made.plan.replay !== "safe" && made.plan.question === undefined)
      decided.set(made.callId, { tool: made.tool ?? "", summary: made.plan.summary });
    const intended = event.seq < from ? null : payloadOf(event, "call.intended");
    const other = intended === null ? undefined : decided.get(intended.callId);
    if (other !== undefined) others.push(other);
  }
  return others;
}

function hasNetwork(events: readonly StoredEvent[]): boolean {
  const last = events.findLast((event) => event.type === "session.changed" || event.type === "session.created");
  const settings = last === undefined ? null : (payloadOf(last, "session.changed") ?? payloadOf(last, "session.created"))?.settings;
  return settings !== undefined && settings !== null && settings.network !== "none";
}

function checkpointsOf({ ports }: OpenHost): Checkpoints {
  if (ports.checkpoints === undefined) throw new HoldfastError("usage", "files can't be taken back here");
  return ports.checkpoints;
}

function failedError({ path, message, isBegun, full }: Extract<RestoreResult, { type: "failed" }>): HoldfastError {
  const state = isBegun ? "files that only go are deleted, the rest is not undone yet" : "nothing was changed";
  const free = full?.missing == null ? "free some space" : `free ${String(Math.ceil(full.missing / 1000))} kB`;
  return new HoldfastError(full === null ? "undo_conflict" : "store_full", `can't write ${path}: ${message}`, {
    hint: full !== null ? `${state}; ${free}, then undo again` : isBegun ? `${state}: undo again to finish` : state,
  });
}

function conflictError(conflicts: readonly string[]): HoldfastError {
  return new HoldfastError("undo_conflict", ["nothing was undone:", ...conflicts.map((conflict) => `  ${conflict}`)].join("\n"), {
    hint: "put these files back as they were, or restore them by hand (git diff, git restore)",
  });
}
