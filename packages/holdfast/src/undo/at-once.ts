import type { StoredEvent, TreeChange } from "@holdfast/protocol";
import type { Checkpoints, Log } from "@holdfast/runtime";
import { type Journal, payloadOf, readJournal } from "./journal.ts";
import { withoutUndone } from "./plan.ts";

/** Of a change. */
export interface Span {
  readonly path: string;
  /** When the path was last known to be as it was before, and when it was found changed. Unix ms. */
  readonly from: number;
  readonly to: number;
  /** Of an edit: when it began. Its record comes after the change itself. */
  readonly begun: number;
}

/**
 * Files that another session changed while this one did, with that session: each look finds what both did, so that neither
 * can be taken back without the other. Folders don't count: one that holds something else stays anyway.
 */
export async function changedAtOnce(
  log: Log,
  session: string,
  events: readonly StoredEvent[],
  journal: Journal,
  checkpoints: Checkpoints,
): Promise<ReadonlyMap<string, string>> {
  const own = spansOf(events, journal, () => true);
  const found = new Map<string, string>();
  if (own.length === 0) return found;
  const begin = own.reduce((least, { from }) => Math.min(least, from), Infinity);
  const end = own.reduce((most, { to }) => Math.max(most, to), 0);
  const byPath = Map.groupBy(own, ({ path }) => path);
  for (const { path, from, to, session: other } of await changesElsewhere(log, session, events, checkpoints, begin, end))
    if (byPath.get(path)?.some((mine) => mine.from <= to && from <= mine.to) === true) found.set(path, other);
  return found;
}

/** What other sessions changed from `begin` to `end`, Unix ms. */
export async function changesElsewhere(
  log: Pick<Log, "list" | "read">,
  session: string,
  events: readonly StoredEvent[],
  checkpoints: Pick<Checkpoints, "changesOf" | "tree">,
  begin: number,
  end: number,
): Promise<(Span & { readonly session: string })[]> {
  const found: (Span & { session: string })[] = [];
  // A fork has events of the session that it came from: those are the same changes.
  const isOwn = new Set(events.map((event) => `${event.session}:${event.seq}`));
  for (const row of await log.list({})) {
    if (row.session === session || row.updatedAt < begin || row.createdAt > end) continue;
    const theirs = await log.read(row.session, 1);
    const spans = spansOf(theirs, await readJournal(theirs, 1, checkpoints, null), (event) => !isOwn.has(`${event.session}:${event.seq}`));
    for (const span of spans) if (span.begun <= end && span.to >= begin) found.push({ ...span, session: row.session });
  }
  return found;
}

/** When each change of a session's own was made, at the earliest and at the latest. What was undone is as if it had never been. */
function spansOf(events: readonly StoredEvent[], { entries, undos }: Journal, counts: (event: StoredEvent) => boolean): Span[] {
  const own = withoutUndone(entries, undos).filter(({ by, before, after }) => by === "session" && !areFolders({ before, after }));
  const bySeq = new Map(events.map((event, index) => [event.seq, index]));
  return own.flatMap(({ path, seq, callId }): Span[] => {
    const index = bySeq.get(seq);
    const event = index === undefined ? undefined : events[index];
    if (index === undefined || event === undefined || !counts(event)) return [];
    if (event.type === "edits.undone") return [{ path, from: event.at, to: event.at, begun: event.at }];
    if (callId !== undefined) {
      const intended = events.slice(0, index).findLast((one) => payloadOf(one, "call.intended")?.callId === callId);
      return [{ path, from: event.at, to: event.at, begun: intended?.at ?? event.at }];
    }
    // The look before a command was taken before its event was written, and the one after it stands with the next checkpoint.
    const earlier = events.slice(0, index).findLast(({ at }) => at < event.at);
    const later = events.slice(index + 1).find(hasCheckpoint);
    const from = earlier?.at ?? event.at;
    return [{ path, from, to: later?.at ?? Infinity, begun: from }];
  });
}

function hasCheckpoint(event: StoredEvent): boolean {
  return (payloadOf(event, "call.intended")?.checkpoint ?? payloadOf(event, "turn.ended")?.checkpoint) !== undefined;
}

function areFolders({ before, after }: Pick<TreeChange, "before" | "after">): boolean {
  return (before ?? after)?.kind === "folder" && (after ?? before)?.kind === "folder";
}
