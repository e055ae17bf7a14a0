import type { Checkpoints } from "@holdfast/runtime";
import type { StoredEvent } from "@holdfast/protocol";
import { readJournal } from "./journal.ts";
import { planUndo } from "./plan.ts";

/** A call that may have changed files, and how many it has. */
export interface ChangedStep {
  readonly point: string;
  readonly summary: string;
  readonly files: number;
}

/** The steps of a session that may be taken back, oldest first. */
export async function changedSteps(
  events: readonly StoredEvent[],
  checkpoints: Pick<Checkpoints, "changesOf" | "tree">,
): Promise<ChangedStep[]> {
  const { entries, calls } = await readJournal(events, 1, checkpoints, null);
  return calls.map((call, at) => {
    const next = calls[at + 1]?.seq ?? Number.POSITIVE_INFINITY;
    // An edit stands where it was settled, a command where it began.
    const own = entries.filter((entry) =>
      entry.callId === undefined ? entry.seq >= call.seq && entry.seq < next : entry.callId === call.callId,
    );
    const files = planUndo({ entries: own, undos: [] }).steps.filter(({ from, to }) => (to ?? from)?.kind !== "folder").length;
    return { point: `${call.turn}.${call.step}`, summary: call.plan.summary, files };
  });
}
