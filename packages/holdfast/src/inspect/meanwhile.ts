import { join } from "node:path";
import type { InspectedTurn, Inspection, Root, StoredEvent } from "@holdfast/protocol";
import type { Checkpoints, Log } from "@holdfast/runtime";
import { changesElsewhere } from "../undo/at-once.ts";
import type { Change } from "@holdfast/runtime/inspect/file-history";

type Reads = Pick<Checkpoints, "changesOf" | "tree">;
type Logs = Pick<Log, "list" | "read">;

/** Whether another session was at work at the time: only then there is more to be read. */
export async function hasCompany(log: Logs, session: string, stored: readonly StoredEvent[]): Promise<boolean> {
  const [begin, end] = [stored[0]?.at ?? 0, stored.at(-1)?.at ?? 0];
  return (await log.list({})).some((row) => row.session !== session && row.updatedAt >= begin && row.createdAt <= end);
}

/** Says of each turn which of the files that it names as changed another session changed meanwhile. */
export async function withMeanwhile(
  { turns, ...rest }: Inspection,
  stored: readonly StoredEvent[],
  roots: readonly Root[],
  log: Logs,
  reads: Reads,
): Promise<Inspection> {
  const [begin, end] = [stored[0]?.at ?? 0, stored.at(-1)?.at ?? 0];
  const spans = await changesElsewhere(log, rest.session, stored, reads, begin, end);
  const told = turns.map((turn): InspectedTurn => {
    const named = namedBy(turn, roots);
    const found = new Map<string, { path: string; session: string }>();
    for (const { path, session, from, to } of spans)
      if (named.has(path) && from <= (turn.endedAt ?? Infinity) && to >= turn.startedAt) found.set(`${session} ${path}`, { path, session });
    return found.size === 0 ? turn : { ...turn, meanwhile: [...found.values()] };
  });
  return { ...rest, turns: told };
}

function namedBy({ actions, report }: InspectedTurn, roots: readonly Root[]): ReadonlySet<string> {
  const reported = (report?.changes ?? []).flatMap(({ path }) =>
    roots.map((root) => join(root.path, roots.length > 1 && path.startsWith(`${root.id}:`) ? path.slice(root.id.length + 1) : path)),
  );
  return new Set([...reported, ...actions.flatMap(({ changed }) => changed.map(({ path }) => path))]);
}

/** Other sessions that changed a file when this change of it was made. An edit says itself whose it is, and so does an undo. */
export async function alsoChangedBy(
  { before, after, seen, doers }: Change,
  path: string,
  session: string,
  stored: readonly StoredEvent[],
  log: Logs,
  reads: Reads,
): Promise<string[]> {
  if (after.isUndo === true || (after.by !== undefined && !doers.some(({ action }) => action.mayChangeAnything))) return [];
  const begin = stored.findLast(({ seq }) => seq <= (before.looked ?? before.seq))?.at ?? 0;
  const end = stored.find(({ seq }) => seq >= seen)?.at ?? Infinity;
  const found = await changesElsewhere(log, session, stored, reads, begin, end);
  return [...new Set(found.filter((span) => span.path === path).map((span) => span.session))];
}
