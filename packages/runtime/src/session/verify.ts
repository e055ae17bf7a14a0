import type { StoredEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { ChainFault } from "../kernel/chain.ts";
import { findChainFault } from "../kernel/chain.ts";
import type { Head } from "../kernel/state.ts";
import { tipText } from "../kernel/tip.ts";
import type { Log, Signer } from "../ports/index.ts";
import { loadState, readEvent } from "./stored.ts";

/** What a look at a session's whole log found. */
export interface LogReport {
  readonly events: number;
  /** Events whose payload was erased: their headers are covered, what they said is gone. */
  readonly erased: number;
  /** Signatures at the ends of turns: by this home's key and right, wrong, or by a key that isn't here. */
  readonly signatures: { readonly good: number; readonly bad: readonly number[]; readonly unknown: number };
  readonly fault: ChainFault | null;
}

/** Reads all of a session's log and checks that it holds together. Throws `session_not_found`, `session_newer`. */
export async function verifyLog({ log, signer }: { readonly log: Log; readonly signer: Signer }, session: string): Promise<LogReport> {
  const { head } = await loadState(log, session);
  // What a living driver commits meanwhile isn't looked at.
  const stored = await log.read(session, 1, head.seq);
  const fault = findFault(stored, { seq: 0, hash: "" }, head);
  const bad: number[] = [];
  let good = 0;
  let unknown = 0;
  for (const event of stored) {
    const parsed = event.type === "tip.signed" ? readEvent(event) : null;
    if (parsed?.type !== "tip.signed") continue;
    const { seq, hash, keyId, signature } = parsed.payload;
    if (keyId !== signer.keyId) unknown += 1;
    else if (stored[seq - 1]?.hash === hash && (await signer.verify(tipText(event.session, { seq, hash }), signature))) good += 1;
    else bad.push(event.seq);
  }
  return {
    events: stored.length,
    erased: stored.filter(({ payload }) => payload === null).length,
    signatures: { good, bad, unknown },
    fault,
  };
}

/** Throws `session_corrupt` where events, of which `stored` are the last, don't hold together or don't end at the head. */
export function refuseBroken(session: string, stored: readonly StoredEvent[], head: Head): void {
  const [first] = stored;
  const fault = first === undefined ? null : findFault(stored, { seq: first.seq - 1, hash: first.prev }, head);
  if (fault === null) return;
  throw new HoldfastError(
    "session_corrupt",
    `the log of session ${session} was changed or damaged at event ${fault.seq} (${fault.fault})`,
    {
      hint: `holdfast sessions verify ${session} says more; restore the session store from a backup, or start a new session`,
    },
  );
}

function findFault(stored: readonly StoredEvent[], from: { readonly seq: number; readonly hash: string }, head: Head): ChainFault | null {
  const last = stored.at(-1);
  if (last === undefined || last.seq < head.seq) return { seq: head.seq, fault: "missing" };
  return findChainFault(stored, from) ?? (last.hash === head.hash ? null : { seq: last.seq, fault: "hash" });
}
