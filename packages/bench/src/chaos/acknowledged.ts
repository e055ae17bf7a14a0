import type { StoredEvent } from "@holdfast/protocol";
import { findChainFault } from "@holdfast/runtime";
import type { Look } from "./look.ts";

interface Line {
  readonly type: string;
  readonly thread_id?: string;
  readonly session?: string;
  readonly outcome?: string;
  readonly item?: {
    readonly type: string;
    readonly text?: string;
    readonly aggregated_output?: string;
    readonly changes?: readonly { readonly path: string }[];
  };
}

/** What programs have told on stdout, and what was seen in the store: from then on it must be there. */
export interface Acknowledged {
  /** Reads what one run of `exec --json` printed; its last line may be half of one. */
  hear(stdout: string): void;
  /** A process that answers has ended well. */
  answered(id: string): void;
  /** Compares with all that was seen before. Returns what is wrong, and how much was compared. */
  compare(looks: readonly Look[]): { readonly faults: readonly string[]; readonly lost: number };
  count(): number;
}

export function acknowledged(): Acknowledged {
  const seen = new Map<string, readonly StoredEvent[]>();
  const told: { readonly session: string; readonly what: string; readonly holds: (look: Look) => boolean }[] = [];
  const answers: string[] = [];
  let lines = 0;

  const take = (session: string, line: Line): void => {
    const { item } = line;
    const expect = (what: string, holds: (look: Look) => boolean): void => void told.push({ session, what, holds });
    if (line.type === "thread.started") expect("the session", () => true);
    if (line.type === "turn.completed") expect("the end of a turn", ({ events }) => events.some(({ type }) => type === "turn.ended"));
    if (line.type !== "item.completed" || item === undefined) return;
    const text = item.text ?? item.aggregated_output;
    if (text !== undefined) expect(`${item.type} ${JSON.stringify(text.slice(0, 60))}`, ({ events }) => saidOf(events).includes(text));
    for (const { path } of item.changes ?? []) expect(`the change of ${path}`, ({ events }) => changedOf(events).includes(path));
  };

  return {
    hear: (stdout) => {
      let session = "";
      for (const text of stdout.split("\n").slice(0, -1)) {
        const line = JSON.parse(text) as Line;
        if (line.type === "thread.started") session = line.thread_id ?? "";
        lines += 1;
        take(session, line);
      }
    },
    answered: (id) => void answers.push(id),
    compare: (looks) => {
      const faults: string[] = [];
      let lost = 0;
      const lose = (what: string): void => {
        lost += 1;
        faults.push(`${what} was acknowledged and is lost`);
      };
      for (const [session, earlier] of seen) {
        const now = looks.find((look) => look.session === session)?.stored ?? [];
        for (const [index, event] of earlier.entries()) if (now[index]?.hash !== event.hash) lose(`event ${event.seq} (${event.type})`);
      }
      for (const { session, stored } of looks) {
        const fault = findChainFault(stored);
        if (fault !== null) faults.push(`the chain of ${session} breaks at event ${fault.seq}: ${fault.fault}`);
        seen.set(session, stored);
      }
      for (const { session, what, holds } of told.splice(0)) {
        const look = looks.find((one) => one.session === session);
        if (look === undefined || !holds(look)) lose(what);
      }
      return { faults, lost };
    },
    count: () => lines + answers.length + [...seen.values()].reduce((total, stored) => total + stored.length, 0),
  };
}

function saidOf(events: Look["events"]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case "sampling.settled":
        return event.payload.items.flatMap((item) => ("text" in item ? [item.text] : []));
      case "call.settled":
        return [event.payload.outcome.text];
      default:
        return [];
    }
  });
}

function changedOf(events: Look["events"]): string[] {
  return events.flatMap((event) => (event.type === "call.settled" ? (event.payload.outcome.changed ?? []).map(({ path }) => path) : []));
}
