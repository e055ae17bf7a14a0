import type { CallPlan, Checkpoint, EventPayload, EventType, StoredEvent, TreeChange, TreeNode } from "@holdfast/protocol";
import type { Checkpoints } from "@holdfast/runtime";
import { mayChangeAnything } from "@holdfast/runtime/drive/checkpoint";
import { changeOf, isSameNode } from "@holdfast/runtime/tree-change";

/** A step of a session as a person names it, and the event it begins with. */
export interface Step {
  readonly turn: number;
  /** Within its turn; 0: the turn itself. */
  readonly step: number;
  readonly seq: number;
}

/** A call that may have changed files. */
export interface ChangingCall {
  readonly callId: string;
  readonly tool: string;
  readonly plan: CallPlan;
  readonly turn: number;
  readonly step: number;
  /** The event that made it durable. */
  readonly seq: number;
}

/** A change with the event that it belongs to: the call that made it, or, where something else did, the look that found it. */
export interface JournalEntry extends TreeChange {
  readonly seq: number;
  /** Set for an edit. */
  readonly callId?: string;
}

/** All that the session had changed from `since` to `seq` was taken back. */
export interface UndoEntry {
  readonly seq: number;
  readonly since: number;
  /** What undos within had taken back from before `since` is there again. */
  readonly isPoint: boolean;
}

/** How the files changed from one event of a session on, in order. */
export interface Journal {
  readonly entries: readonly JournalEntry[];
  readonly calls: readonly ChangingCall[];
  /** What could not be kept, refs that moved, steps that could not be followed. */
  readonly checkpoints: readonly { readonly seq: number; readonly checkpoint: Checkpoint }[];
  /** Lists that are no longer stored: what they said isn't known. */
  readonly isWhole: boolean;
  readonly undos: readonly UndoEntry[];
}

type Reads = Pick<Checkpoints, "changesOf" | "tree">;
/** The whole tree now, where the log doesn't say what the last command did. */
export type LookNow = (manifest: string) => Promise<ReadonlyMap<string, TreeNode> | null>;

export function stepsOf(events: readonly StoredEvent[]): Step[] {
  const steps: Step[] = [];
  let turn = 0;
  for (const event of events) {
    if (event.type === "turn.started") steps.push({ turn: (turn += 1), step: 0, seq: event.seq });
    const payload = payloadOf(event, "sampling.intended");
    if (payload !== null) steps.push({ turn, step: payload.step, seq: event.seq });
  }
  return steps;
}

/** What the log tells of how files changed from event `from` on; `lookNow` is asked where a command's end is not recorded. */
export async function readJournal(events: readonly StoredEvent[], from: number, reads: Reads, lookNow: LookNow | null): Promise<Journal> {
  const state = emptyState();
  for (const event of events) {
    take(state, event);
    const checkpoint = payloadOf(event, "call.intended")?.checkpoint ?? payloadOf(event, "turn.ended")?.checkpoint;
    if (checkpoint !== undefined) {
      if (event.seq >= from) await readCheckpoint(state, event.seq, checkpoint, reads);
      else skipCheckpoint(state, event.seq, checkpoint);
      if (checkpoint.failed === undefined) state.isUnclosed = false;
    }
    begin(state, event);
    const undone = payloadOf(event, "edits.undone");
    if (undone !== null) await readUndone(state, event.seq, undone, reads);
  }
  if (state.isUnclosed && lookNow !== null && state.manifest !== null && state.lastBold >= from) {
    const now = await lookNow(state.manifest);
    if (now !== null) await readGap(state, state.lastBold, now, reads);
  }
  const entries = state.entries.filter((entry) => entry.seq >= from).sort((a, b) => a.seq - b.seq);
  return {
    entries,
    calls: state.calls.filter((call) => call.seq >= from),
    checkpoints: state.checkpoints,
    isWhole: state.isWhole,
    undos: state.undos,
  };
}

interface ReadState {
  readonly entries: JournalEntry[];
  readonly calls: ChangingCall[];
  readonly checkpoints: { seq: number; checkpoint: Checkpoint }[];
  readonly decided: Map<string, Omit<ChangingCall, "seq">>;
  turn: number;
  step: number;
  /** The last call that may have changed anything. */
  lastBold: number;
  /** Nothing recorded yet says what that one did. */
  isUnclosed: boolean;
  /** The newest whole tree, and the event it was recorded with. */
  base: { readonly id: string; readonly seq: number } | null;
  /** Checkpoints since that tree whose changes were not needed yet. */
  skipped: { readonly seq: number; readonly checkpoint: Checkpoint }[];
  manifest: string | null;
  isWhole: boolean;
  readonly undos: UndoEntry[];
}

function emptyState(): ReadState {
  return {
    entries: [],
    calls: [],
    checkpoints: [],
    decided: new Map(),
    turn: 0,
    step: 0,
    lastBold: 0,
    isUnclosed: false,
    base: null,
    skipped: [],
    manifest: null,
    isWhole: true,
    undos: [],
  };
}

function take(state: ReadState, event: StoredEvent): void {
  if (event.type === "turn.started") {
    state.turn += 1;
    state.step = 0;
  }
  state.step = payloadOf(event, "sampling.intended")?.step ?? state.step;
  state.manifest = payloadOf(event, "snapshot.recorded")?.manifest ?? payloadOf(event, "baseline.recorded")?.manifest ?? state.manifest;
  const decided = payloadOf(event, "call.decided");
  if (decided !== null) {
    const { callId, plan, tool = "" } = decided;
    state.decided.set(callId, { callId, tool, plan, turn: state.turn, step: state.step });
  }
  const settled = payloadOf(event, "call.settled");
  for (const file of settled?.outcome.changed ?? [])
    state.entries.push({ ...changeOf(file), seq: event.seq, callId: settled?.callId ?? "" });
}

/** The call that this event makes durable begins; what a checkpoint in it says was before. */
function begin(state: ReadState, event: StoredEvent): void {
  const intended = payloadOf(event, "call.intended");
  const call = intended === null ? undefined : state.decided.get(intended.callId);
  if (call === undefined || !call.plan.changesWorkspace) return;
  state.calls.push({ ...call, seq: event.seq });
  if (!mayChangeAnything(call.plan)) return;
  state.lastBold = event.seq;
  state.isUnclosed = true;
}

function skipCheckpoint(state: ReadState, seq: number, checkpoint: Checkpoint): void {
  if (checkpoint.base !== undefined) {
    state.base = { id: checkpoint.base, seq };
    state.skipped = [];
  } else state.skipped.push({ seq, checkpoint });
}

async function readCheckpoint(state: ReadState, seq: number, checkpoint: Checkpoint, reads: Reads): Promise<void> {
  state.checkpoints.push({ seq, checkpoint });
  if (checkpoint.base !== undefined) {
    // Another process followed the files before: what happened between the two shows in the trees alone.
    const tree = state.base === null ? null : await reads.tree(checkpoint.base);
    if (tree !== null) await readGap(state, seq, tree, reads);
    state.base = { id: checkpoint.base, seq };
    state.skipped = [];
    return;
  }
  const changes = await reads.changesOf(checkpoint);
  if (changes === null) state.isWhole = false;
  // In the order in which they were seen: what others did before the last of the command's was there when it ended.
  const last = (changes ?? []).findLastIndex(({ by }) => by === "session");
  for (const [index, change] of (changes ?? []).entries())
    state.entries.push({ ...change, seq: index <= last && state.lastBold > 0 ? state.lastBold : seq });
}

/** What differs between the tree that the log leads to and this one. Where a command's end isn't recorded, it did that. */
async function readGap(state: ReadState, seq: number, tree: ReadonlyMap<string, TreeNode>, reads: Reads): Promise<void> {
  if (state.base === null) return;
  const base = await reads.tree(state.base.id);
  if (base === null) {
    state.isWhole = false;
    return;
  }
  const expected = new Map<string, TreeNode | null>(base);
  for (const { checkpoint } of state.skipped)
    for (const { path, after } of (await reads.changesOf(checkpoint)) ?? []) expected.set(path, after);
  const since = state.base.seq;
  const known = state.entries.filter((entry) => entry.seq >= since).sort((a, b) => a.seq - b.seq);
  for (const { path, after } of known) expected.set(path, after);
  const by = state.isUnclosed ? "session" : "outside";
  const at = state.isUnclosed ? state.lastBold : seq;
  for (const path of new Set([...expected.keys(), ...tree.keys()])) {
    const [before, after] = [expected.get(path) ?? null, tree.get(path) ?? null];
    if (isSameNode(before, after)) continue;
    const isMadeFor = before === null && after?.kind === "folder" && known.some((entry) => entry.path.startsWith(`${path}/`));
    state.entries.push({ path, before, after, by: isMadeFor ? "session" : by, seq: at });
  }
}

/** What an undo made of the files is a change, too. Older logs only say whose edits were taken back: as if they had not been made. */
async function readUndone(state: ReadState, seq: number, undone: EventPayload<"edits.undone">, reads: Reads): Promise<void> {
  const { changes, list, callIds } = undone;
  if (undone.since !== undefined) {
    state.undos.push({ seq, since: undone.since, isPoint: undone.isPoint === true });
    // What a command without a recorded end had done is undone with it.
    if (undone.since <= state.lastBold) state.isUnclosed = false;
  }
  if (changes !== undefined) {
    const all = list === undefined ? changes : await reads.changesOf({ changes, list, blobs: [] });
    if (all === null) state.isWhole = false;
    for (const change of all ?? []) state.entries.push({ ...change, seq });
    return;
  }
  const left = state.entries.filter(({ callId }) => callId === undefined || !callIds.includes(callId));
  state.entries.splice(0, state.entries.length, ...left);
}

/** Null for another type of event, and where its content was erased. */
export function payloadOf<T extends EventType>(event: StoredEvent, type: T): EventPayload<T> | null {
  return event.type === type && event.payload !== null ? (JSON.parse(event.payload) as EventPayload<T>) : null;
}
