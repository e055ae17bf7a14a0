import type { StoredEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { ChainFault } from "../kernel/chain.ts";
import { findChainFault, wholePart } from "../kernel/chain.ts";
import type { Head } from "../kernel/state.ts";
import { tipText } from "../kernel/tip.ts";
import type { KnownKeys, Log, SessionRow, Signer } from "../ports/index.ts";
import { isCut } from "./cut.ts";
import { loadState, readEvent } from "./stored.ts";

/** What a look at a session's whole log found. */
export interface LogReport {
  readonly events: number;
  /** Events whose payload was erased: their headers are covered, what they said is gone. */
  readonly erased: number;
  /**
   * Signatures at the ends of turns: by a key that is known here and right, wrong, or by a key that isn't known. `missing`:
   * ends of turns without any; every end gets one in the same commit.
   */
  readonly signatures: {
    readonly good: number;
    readonly bad: readonly number[];
    readonly unknown: number;
    readonly missing: readonly number[];
  };
  readonly fault: ChainFault | null;
}

/**
 * Reads all of a session's log and checks that it holds together. `others`: keys that count beside the signer's own.
 * Throws `session_not_found`, `session_newer`.
 */
export async function verifyLog(
  { log, signer }: { readonly log: Log; readonly signer: Signer | null },
  session: string,
  others?: KnownKeys,
): Promise<LogReport> {
  const { row, head } = await loadState(log, session);
  // What a living driver commits meanwhile isn't looked at.
  const stored = await log.read(session, 1, head.seq);
  const fault = findFault(stored, { seq: 0, hash: "" }, head) ?? findUntoldErasure(stored) ?? findOtherEnd(row, head);
  const bad: number[] = [];
  const missing: number[] = [];
  let good = 0;
  let unknown = 0;
  for (const event of stored) {
    if (event.type === "turn.ended" && !isSigned(stored[event.seq])) missing.push(event.seq);
    const parsed = event.type === "tip.signed" ? readEvent(event) : null;
    if (parsed?.type !== "tip.signed") continue;
    const { seq, hash, keyId, signature } = parsed.payload;
    const text = tipText(event.session, { seq, hash });
    const holds = keyId === signer?.keyId ? await signer.verify(text, signature) : ((await others?.verify(keyId, text, signature)) ?? null);
    if (holds === null) unknown += 1;
    else if (holds && seq === event.seq - 1 && stored[seq - 1]?.hash === hash) good += 1;
    else bad.push(event.seq);
  }
  return {
    events: stored.length,
    erased: stored.filter(({ payload }) => payload === null).length,
    signatures: { good, bad, unknown, missing },
    fault,
  };
}

/** A fork may begin between the end of a turn and its signature. */
function isSigned(next: StoredEvent | undefined): boolean {
  return next?.type === "tip.signed" || next?.type === "session.forked";
}

/** Whether nothing of what was signed can have been changed since, as far as the keys tell. */
export function isWhole({ fault, signatures: { bad, missing } }: LogReport): boolean {
  return fault === null && bad.length === 0 && missing.length === 0;
}

/** Where a session's row tells of another end than its head. */
export function findOtherEnd({ seq }: SessionRow, head: Head): ChainFault | null {
  return seq === head.seq ? null : { seq, fault: "end" };
}

/** The first place, up to event `last`, where a whole log doesn't hold together, ends, or has lost content that nothing erased. */
export function findLogFault(stored: readonly StoredEvent[], last: number): ChainFault | null {
  // What is broken itself says of nothing before it that it was erased.
  const fault = findUntoldErasure(wholePart(stored)) ?? findChainFault(stored);
  if (fault !== null && fault.seq <= last) return fault;
  return (stored.at(-1)?.seq ?? 0) < last ? { seq: last, fault: "missing" } : null;
}

/** A payload is gone only where an erasure, or the beginning of a fork, says so. One that begins to be carried out counts. */
export function findUntoldErasure(stored: readonly StoredEvent[]): ChainFault | null {
  const gone = stored.filter(({ payload }) => payload === null);
  if (gone.length === 0) return null;
  const told = new Set<number>();
  for (const event of stored) {
    const parsed = event.type === "item.erased" || event.type === "session.forked" ? readEvent(event) : null;
    if (parsed?.type === "item.erased" || parsed?.type === "session.forked") for (const { seq } of parsed.payload.kept) told.add(seq);
  }
  const untold = gone.find(({ seq }) => !told.has(seq));
  return untold === undefined ? null : { seq: untold.seq, fault: "payload" };
}

/** Throws `session_corrupt` where events, of which `stored` are the last, don't hold together or don't end at the head. */
export function refuseBroken(session: string, stored: readonly StoredEvent[], head: Head): void {
  const [first] = stored;
  // A window can begin right after the last event.
  if (first === undefined && head.windowStart > head.seq) return;
  const fault = findFault(stored, { seq: (first?.seq ?? 0) - 1, hash: first?.prev ?? "" }, head);
  if (fault === null) return;
  const last = stored.at(-1);
  if (fault.fault === "missing" && isCut(head, last)) {
    throw new HoldfastError("session_corrupt", `session ${session} lost what followed event ${last?.seq ?? 0}: nobody can go on with it`, {
      hint: `holdfast fork ${session} makes one of what was saved`,
    });
  }
  throw new HoldfastError(
    "session_corrupt",
    `the log of session ${session} was changed or damaged at event ${fault.seq} (${fault.fault})`,
    {
      hint: `holdfast sessions verify ${session} says more; restore the session store from a backup, or have holdfast doctor --repair save what holds together`,
    },
  );
}

export function findFault(
  stored: readonly StoredEvent[],
  from: { readonly seq: number; readonly hash: string },
  head: Head,
): ChainFault | null {
  const last = stored.at(-1);
  if (last === undefined || last.seq < head.seq) return { seq: head.seq, fault: "missing" };
  return findChainFault(stored, from) ?? (last.hash === head.hash ? null : { seq: last.seq, fault: "hash" });
}
