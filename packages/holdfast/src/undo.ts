import type { ChangedFile, EventPayload, StoredEvent } from "@holdfast/protocol";

/** One file as it should be again. Digests are hex SHA-256 of the content, null where there is no file. */
interface UndoFile {
  readonly path: string;
  /** What the file must be now for the undo to be safe: as our last edit left it. */
  readonly nowDigest: string | null;
  readonly beforeDigest: string | null;
  /** Blob of the content to restore; null deletes the file. */
  readonly before: string | null;
  readonly mode: number | null;
}

export interface UndoPlan {
  /** Calls whose edits this takes back, oldest first. */
  readonly callIds: readonly string[];
  readonly files: readonly UndoFile[];
  /** Files that something else changed between two of our edits: what it did can't be told apart. */
  readonly interleaved: readonly string[];
}

interface EditCall {
  readonly callId: string;
  readonly changed: readonly ChangedFile[];
}

/**
 * Which edits to take back and to what. `last`: those of the newest turn that has edits left to undo; `all`: of the whole
 * session. Only what our own edits recorded (`call.settled` with `changed`) is known well enough to be undone; what a
 * command wrote is not in it. Pure.
 */
export function planUndo(events: readonly StoredEvent[], reach: "last" | "all"): UndoPlan {
  const turns: EditCall[][] = [[]];
  const undone = new Set<string>();
  for (const event of events) {
    if (event.type === "turn.started") turns.push([]);
    if (event.payload === null) continue;
    if (event.type === "edits.undone") {
      for (const callId of (JSON.parse(event.payload) as EventPayload<"edits.undone">).callIds) undone.add(callId);
    }
    if (event.type === "call.settled") {
      const { callId, outcome } = JSON.parse(event.payload) as EventPayload<"call.settled">;
      if (outcome.changed !== undefined && outcome.changed.length > 0) turns.at(-1)?.push({ callId, changed: outcome.changed });
    }
  }
  const left = turns.map((calls) => calls.filter((call) => !undone.has(call.callId))).filter((calls) => calls.length > 0);
  const calls = reach === "all" ? left.flat() : (left.at(-1) ?? []);
  return { callIds: calls.map((call) => call.callId), ...mergeChanges(calls) };
}

/** Of each file the state before the first edit and after the last. */
function mergeChanges(calls: readonly EditCall[]): Pick<UndoPlan, "files" | "interleaved"> {
  const files = new Map<string, UndoFile>();
  const interleaved = new Set<string>();
  for (const change of calls.flatMap((call) => call.changed)) {
    const earlier = files.get(change.path);
    if (earlier !== undefined && earlier.nowDigest !== change.beforeDigest) interleaved.add(change.path);
    const then = earlier ?? { path: change.path, beforeDigest: change.beforeDigest, before: change.before, mode: change.beforeMode };
    files.set(change.path, { ...then, nowDigest: change.afterDigest });
  }
  return { files: [...files.values()].filter((file) => file.nowDigest !== file.beforeDigest), interleaved: [...interleaved] };
}
