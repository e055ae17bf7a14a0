import { isHoldfastError } from "@holdfast/protocol/error";
import type { StoredEvent } from "@holdfast/protocol";
import type { ChainFault } from "../kernel/chain.ts";
import type { Head } from "../kernel/state.ts";
import type { Log, SessionRow } from "../ports/index.ts";
import { isCut } from "./cut.ts";
import { loadState } from "./stored.ts";
import { findFault, findOtherEnd, findUntoldErasure } from "./verify.ts";

/** What a look at the logs of a store's sessions found. */
export interface LogsLook {
  /** Don't hold together, or not to their end: what a repair saves in part. */
  readonly broken: readonly { readonly session: string; readonly fault: ChainFault }[];
  /** Saved in part by an earlier repair. */
  readonly cut: readonly string[];
  /** Hold together, and lost content that nothing erased: nobody can mend it. */
  readonly lost: readonly { readonly session: string; readonly fault: ChainFault }[];
  readonly looked: number;
  /** Not, or not wholly, looked at. */
  readonly unseen: number;
}

/** About what hashing an event costs beside its payload, in characters of one. */
const eventChars = 1_000;
const readAtOnce = 200;

/**
 * Looks whether logs hold together, of the sessions that changed last first, until as many characters were read. What a
 * living driver commits meanwhile isn't looked at.
 */
export async function examineLogs(log: Pick<Log, "list" | "load" | "read">, mostChars = Number.POSITIVE_INFINITY): Promise<LogsLook> {
  const broken: { session: string; fault: ChainFault }[] = [];
  const lost: { session: string; fault: ChainFault }[] = [];
  const cut: string[] = [];
  let [looked, unseen, left] = [0, 0, mostChars];
  for (const { session } of await log.list({})) {
    const state = left > 0 ? await stateOf(log, session) : null;
    const events: StoredEvent[] = [];
    for (let from = 1; state !== null && left > 0 && from <= state.head.seq; from += readAtOnce) {
      const read = await log.read(session, from, Math.min(from + readAtOnce - 1, state.head.seq));
      if (read.length === 0) break;
      events.push(...read);
      left -= read.reduce((sum, { payload }) => sum + eventChars + (payload?.length ?? 0), 0);
    }
    if (state === null || left <= 0) {
      unseen += 1;
      continue;
    }
    looked += 1;
    const found = standingOf(events, state.row, state.head);
    if (found === "cut") cut.push(session);
    else if (found !== null) (found.isBroken ? broken : lost).push({ session, fault: found.fault });
  }
  return { broken, cut, lost, looked, unseen };
}

/** Null where it was deleted meanwhile, or is of a newer version. */
async function stateOf(log: Pick<Log, "load">, session: string): Promise<Awaited<ReturnType<typeof loadState>> | null> {
  try {
    return await loadState(log, session);
  } catch (error) {
    if (isHoldfastError(error, "session_not_found") || isHoldfastError(error, "session_newer")) return null;
    throw error;
  }
}

function standingOf(
  events: readonly StoredEvent[],
  row: SessionRow,
  head: Head,
): "cut" | { readonly isBroken: boolean; readonly fault: ChainFault } | null {
  const last = events.at(-1);
  const isPart = isCut(head, last);
  const broken = findOtherEnd(row, head) ?? findFault(events, { seq: 0, hash: "" }, isPart ? { ...head, seq: last?.seq ?? 0 } : head);
  if (broken !== null) return { isBroken: true, fault: broken };
  if (isPart) return "cut";
  const fault = findUntoldErasure(events);
  return fault === null ? null : { isBroken: false, fault };
}
