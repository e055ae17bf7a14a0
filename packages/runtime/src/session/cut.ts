import type { StoredEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Head } from "../kernel/state.ts";
import type { SessionRow } from "../ports/index.ts";

type Tip = Pick<StoredEvent, "seq" | "hash">;

/**
 * The head of a session of which a mended store has no more than the events up to `last`: it stands beyond them, so that nobody
 * goes on as if nothing had followed, and has the hash of that last one, which says that they are all that was saved.
 */
export function cutHead(head: Head, last: Tip | undefined, end: number): Head {
  const seq = last?.seq ?? 0;
  return { ...head, seq: Math.max(end, seq + 1), hash: last?.hash ?? "" };
}

/** Whether a store was mended and has only the events up to `last`. One that merely lost its end has another hash in its head. */
export function isCut({ seq, hash }: Tip, last: Tip | undefined): boolean {
  return seq > (last?.seq ?? 0) && hash === (last?.hash ?? "");
}

/** Throws `session_corrupt` where a session's row tells of another end than its head: each commit writes both. */
export function refuseOtherEnd({ session, seq }: SessionRow, head: Head): void {
  if (seq === head.seq) return;
  throw new HoldfastError("session_corrupt", `the store has event ${seq} as the last of session ${session}, and its head ${head.seq}`, {
    hint: "holdfast doctor --repair finds it by the events",
  });
}
