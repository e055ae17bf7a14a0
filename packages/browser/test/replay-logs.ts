/** Replays recorded logs; in whatever host this runs, the same digests must come out. */
import { createBodyDigest } from "@holdfast/models";
import type { StoredEvent } from "@holdfast/protocol";
import type { Director, RegisterRow, ReplayLog, SessionRow } from "@holdfast/runtime";
import { replaySession } from "@holdfast/runtime/session/replay";

/** Files in `fixtures`, oldest first: requests have other forms now than when the first ones were recorded, whose bytes say nothing any more. */
export const recordings = ["logs-1.json", "logs-2.json"] as const;

/** A session as a store held it, and what came out when it was replayed first. */
export interface RecordedLog {
  readonly row: SessionRow;
  readonly head: string;
  readonly registers: readonly RegisterRow[];
  readonly events: readonly StoredEvent[];
  readonly snapshots: readonly { readonly seq: number; readonly head: string; readonly registers: readonly RegisterRow[] }[];
  /** As its director put them together: today's words may be others. */
  readonly instructions: string;
  readonly digest: string;
  readonly bodies: number;
}

export interface ReplayedLog {
  readonly session: string;
  readonly departure: string | null;
  readonly digest: string;
  readonly bodies: number;
}

export async function replayLogs(logs: readonly RecordedLog[]): Promise<ReplayedLog[]> {
  const replayed: ReplayedLog[] = [];
  for (const recorded of logs) {
    const { session } = recorded.row;
    const { instructions } = recorded;
    const director: Director = {
      behaviour: 1,
      describe: () => [],
      describePassing: () => [],
      fit: (sections) => ({ sections, shed: [] }),
      tell: async () => [],
      compact: () => Promise.reject(new Error("nothing is shortened here")),
      direct: ({ tools, items }) => ({ instructions, tools, items }),
    };
    const blobs = { put: refuse, get: async () => null, has: refuse, size: refuse, delete: refuse, collect: refuse };
    const report = await replaySession({ log: logOf(recorded), blobs, director, bodyDigest: createBodyDigest() }, session);
    const { departure, digest, bodies } = report;
    replayed.push({ session, departure: departure === null ? null : `event ${departure.seq}: ${departure.detail}`, digest, bodies });
  }
  return replayed;
}

/** What the logs say should come out. */
export function expectedOf(logs: readonly RecordedLog[]): ReplayedLog[] {
  return logs.map(({ row, digest, bodies }) => ({ session: row.session, departure: null, digest, bodies }));
}

function logOf({ row, head, registers, events, snapshots }: RecordedLog): ReplayLog {
  return {
    load: async () => ({ row, head, registers }),
    read: async (_, from, to = Infinity) => events.filter(({ seq }) => seq >= from && seq <= to),
    snapshot: async (_, seq) => snapshots.findLast((one) => one.seq <= seq) ?? null,
    inbox: async () => [],
  };
}

async function refuse(): Promise<never> {
  throw new Error("a replay only reads");
}
