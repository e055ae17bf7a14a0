import type { Inspection, StoredEvent, WhyChanged } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { BlobStore, Checkpoints, Log, RecordedEvent } from "@holdfast/runtime";
import { type Change, changesOf, type Doer, evidenceAfter, type FileState, stateAt } from "@holdfast/runtime/inspect/file-history";
import { lineBefore, linesOf } from "@holdfast/runtime/inspect/line-before";
import { readJournal } from "../undo/journal.ts";
import { textOf } from "./content.ts";
import { alsoChangedBy } from "./meanwhile.ts";
import { fileStates, type SessionFile, type Versions } from "./file-states.ts";

export interface WhyInput {
  readonly inspection: Inspection;
  readonly events: readonly RecordedEvent[];
  readonly file: SessionFile;
  /** From 1; null for the file as a whole. */
  readonly line: number | null;
  readonly blobs: BlobStore;
  readonly checkpoints: Checkpoints | undefined;
  /** The session's events as they are stored, for what checkpoints say. */
  readonly stored: readonly StoredEvent[];
  readonly home: string;
  readonly log: Pick<Log, "list" | "read">;
}

/** Which action last changed a file, or one of its lines, and what is known of it since. Throws `usage` for a line that isn't there. */
export async function whyChanged(input: WhyInput): Promise<WhyChanged> {
  const { inspection, events, file, line, blobs, checkpoints, stored } = input;
  const all = doersOf(inspection, events);
  const bold = all.filter(({ action }) => action.mayChangeAnything);
  const journal = checkpoints === undefined ? null : (await readJournal(stored, 1, checkpoints, null)).entries;
  const { states, versions } = await fileStates(file, events, { blobs, journal, checkpoints, doers: bold });
  const changes = changesOf(states, bold, all);
  const found = line === null ? { change: changes.at(-1) ?? null, says: [] } : await lineChange(input, changes, versions);
  const base = { format: "holdfast-why", version: 1, session: inspection.session, path: file.path, line } as const;
  const unseen = file.isInScope ? [] : ["it is ignored: what commands do to it is in no list of the workspace's files"];
  if (found.change === null) {
    if (file.now === null && states.every(({ digest }) => digest === null)) {
      const says = ["there is no file of that name, and the log knows of none"];
      return { ...base, by: "unknown", actions: [], says, verified: [] };
    }
    const isKnown = file.isInScope && (all.length === 0 || states.some(({ seq }) => Number.isFinite(seq)));
    const says = isKnown ? unchangedSays(line) : [...unseen, "the log says nothing of this file that tells who changed it"];
    return { ...base, by: isKnown ? "before_session" : "unknown", actions: [], says, verified: [] };
  }
  const { change } = found;
  const actions = change.doers.map(({ turn, action }) => ({ turn, action }));
  const isSeen = change.after.by !== undefined || change.after.isUndo === true;
  const since = isSeen ? change.seen : Math.max(change.before.seq, ...change.doers.map(({ from }) => from));
  const verified = evidenceAfter(inspection, since).map((one) => {
    const then = stateAt(states, one.evidence.seq);
    return { ...one, sameFile: then === undefined || file.now === undefined ? null : then === file.now };
  });
  const others =
    checkpoints === undefined ? [] : await alsoChangedBy(change, file.path, inspection.session, stored, input.log, checkpoints);
  const says = [...found.says, ...saysOf(change, file, others), ...unseen];
  return { ...base, by: byOf(change, others), actions, says, verified };
}

function byOf({ after, doers }: Change, others: readonly string[]): WhyChanged["by"] {
  if (after.by !== undefined) return others.length === 0 ? "action" : "one_of";
  if (after.isUndo === true) return "undo";
  return doers.length === 0 ? "outside" : "one_of";
}

function unchangedSays(line: number | null): string[] {
  return [
    line === null ? "the session has not changed it: it is as it was at its beginning" : "this line was there before the session began",
  ];
}

/** What the log can't tell is said, too. */
function saysOf({ after, before, doers }: Change, { path }: SessionFile, others: readonly string[]): string[] {
  const what = after.digest === null ? ["it was deleted"] : before.digest === null ? ["it was made"] : [];
  if (after.isUndo === true) return [...what, "a person took the session's edits back"];
  const other = `the session ${others.join(" and the session ")}`;
  if (others.length > 0 && doers.length === 0)
    return [...what, `${other} changed it meanwhile; whether something else did, too, the logs can't tell`];
  if (others.length > 0) return [...what, `${other} changed it at the same time: which of them it was, the logs can't tell`];
  if (after.by !== undefined) return what;
  if (doers.length === 0) return [...what, "nothing of the session's ran meanwhile: something else changed it"];
  const name = path.slice(path.lastIndexOf("/") + 1);
  const naming = doers.filter(({ action }) => (action.command ?? "").includes(name));
  const known =
    doers.length === 1
      ? "this is the only call of the session that can have changed it; whether something else did meanwhile, the log can't tell"
      : "one of these calls changed it, or something else meanwhile: what each of them left was not recorded";
  const named =
    naming.length > 0 && naming.length < doers.length ? [`it is named by ${naming.map(({ action }) => action.callId).join(", ")}`] : [];
  return [...what, known, ...named];
}

/** Calls that may have changed files: how long each, and what it left running, can have done so. */
function doersOf({ turns }: Inspection, events: readonly RecordedEvent[]): Doer[] {
  const began = new Map<string, number>();
  const ended = new Map<string, number>();
  const tasks = new Map<string, string>();
  for (const event of events) {
    if (event.type === "call.intended" && !began.has(event.payload.callId)) began.set(event.payload.callId, event.seq);
    if (event.type === "call.settled") {
      const { task } = event.payload.outcome;
      if (task !== undefined) tasks.set(task.id, event.payload.callId);
      ended.set(event.payload.callId, task === undefined ? event.seq : Number.POSITIVE_INFINITY);
    }
    if (event.type === "task.ended") {
      const callId = tasks.get(event.payload.taskId);
      if (callId !== undefined) ended.set(callId, event.seq);
    }
  }
  return turns.flatMap(({ number, actions }) =>
    actions.flatMap((action): Doer[] => {
      const from = began.get(action.callId);
      if (from === undefined) return [];
      return [{ from, to: ended.get(action.callId) ?? Number.POSITIVE_INFINITY, turn: number, action }];
    }),
  );
}

/** The change that a line comes from: back from version to version, for as long as both are kept. */
async function lineChange(
  { file, line, blobs, checkpoints, home }: WhyInput,
  changes: readonly Change[],
  versions: Versions,
): Promise<{ readonly change: Change | null; readonly says: string[] }> {
  const where = { path: file.path, roots: file.roots, blobs, checkpoints, home };
  const text = async ({ digest }: FileState): Promise<string[] | null> => {
    const found = await textOf(digest, versions, where);
    return found === null ? null : linesOf(found);
  };
  const latest = file.now === undefined || file.now === null ? null : await text({ seq: 0, digest: file.now });
  if (latest === null) {
    throw new HoldfastError("usage", `${file.path} has no lines that could be looked at`, { hint: "leave the line away" });
  }
  if (line === null || line > latest.length) {
    throw new HoldfastError("usage", `${file.path} has ${latest.length} ${latest.length === 1 ? "line" : "lines"}`);
  }
  let at = line - 1;
  let after = latest;
  for (const change of changes.toReversed()) {
    const before = await text(change.before);
    if (before === null) {
      const says = ["what the file was before is not kept, so whether this line was changed then or earlier can't be told"];
      return { change, says };
    }
    const earlier = lineBefore(before, after, at);
    if (earlier === null) return { change, says: [] };
    [at, after] = [earlier, before];
  }
  return { change: null, says: [] };
}
