import type { InspectedAction, InspectedEvidence, Inspection } from "@holdfast/protocol";

/**
 * What a file was right after an event: the digest of its content, null where it was not there. `by`: the call that made it
 * so, where the log says it. `isUndo`: a person took edits back.
 */
export interface FileState {
  readonly seq: number;
  readonly digest: string | null;
  readonly by?: string;
  readonly isUndo?: true;
  /** Where it was seen before that event: the event after which nobody looked. What others did since may not show in it. */
  readonly looked?: number;
  /** Something other than the session's calls made it so. */
  readonly isOutside?: true;
}

/** A call that may have changed any file, from its intent to its end (of what it left running, too). */
export interface Doer {
  readonly from: number;
  readonly to: number;
  readonly turn: number;
  readonly action: InspectedAction;
}

/** From one known state to the next that differs. `doers` empty: nothing of the session's ran meanwhile. */
export interface Change {
  readonly before: FileState;
  readonly after: FileState;
  /** The event at which it was first seen as after. */
  readonly seen: number;
  readonly doers: readonly Doer[];
}

/** Changes of a file, oldest first. */
export function changesOf(states: readonly FileState[], doers: readonly Doer[], all: readonly Doer[]): Change[] {
  const known = bounded(states);
  return known.flatMap(({ first, state }, index) => {
    const before = known[index - 1];
    if (before === undefined) return [];
    if (state.by !== undefined) {
      const doer = all.find(({ action }) => action.callId === state.by);
      return [{ before: before.state, after: state, seen: first, doers: doer === undefined ? [] : [doer] }];
    }
    if (state.isUndo === true || state.isOutside === true) return [{ before: before.state, after: state, seen: first, doers: [] }];
    // From when it was last seen as before, to when it was first seen as after.
    const between = doers.filter(({ from, to }) => from < first && to > before.state.seq);
    return [{ before: before.state, after: state, seen: first, doers: between }];
  });
}

/** Runs of equal states: when each was first seen, and (as its `seq`) last. What made it so is what its first one says. */
function bounded(states: readonly FileState[]): { readonly first: number; readonly state: FileState }[] {
  const runs: { first: number; state: FileState }[] = [];
  for (const state of inOrder(states)) {
    const last = runs.at(-1);
    if (last === undefined || last.state.digest !== state.digest) runs.push({ first: state.seq, state });
    else {
      const { looked: _, ...known } = last.state;
      last.state = { ...known, seq: state.seq, ...(state.looked === undefined ? {} : { looked: state.looked }) };
    }
  }
  return runs;
}

/** By the log's order; several of one event stay as they were given. */
export function inOrder(states: readonly FileState[]): FileState[] {
  return states
    .map((state, index) => ({ state, index }))
    .toSorted((a, b) => a.state.seq - b.state.seq || a.index - b.index)
    .map(({ state }) => state);
}

/** What a file was at an event, where what is known around it agrees; undefined where it doesn't. `states` are in order. */
export function stateAt(states: readonly FileState[], seq: number): string | null | undefined {
  const before = states.findLast((state) => state.seq <= seq);
  const after = states.find((state) => state.seq >= seq);
  if (before === undefined || after === undefined) return undefined;
  return before.digest === after.digest ? before.digest : undefined;
}

/** The evidence of each turn's last round that was taken after `seq`. */
export function evidenceAfter({ turns }: Inspection, seq: number): { readonly turn: number; readonly evidence: InspectedEvidence }[] {
  return turns.flatMap(({ number, evidence }) => {
    const last = Math.max(0, ...evidence.map(({ round }) => round));
    return evidence
      .filter((one) => one.phase === "final" && one.round === last && one.seq > seq && one.applies)
      .map((one) => ({ turn: number, evidence: one }));
  });
}
