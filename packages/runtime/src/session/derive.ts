import { apply } from "../kernel/apply.ts";
import { wholePart } from "../kernel/chain.ts";
import { createRegisters, emptyHead } from "../kernel/state.ts";
import type { RegisterRow } from "../ports/index.ts";
import type { ReplayLog } from "./replay-request.ts";
import { parseHead, parseRegisters, readEvents } from "./stored.ts";

/** What a session's events alone still tell of it. */
export interface Derived {
  /** The last event up to which they hold together. */
  readonly seq: number;
  /** Of that event; "" where there is none. */
  readonly hash: string;
  /** Head and registers after it, JSON text; null where something before is erased and no snapshot stands behind it. */
  readonly state: { readonly head: string; readonly registers: readonly RegisterRow[] } | null;
}

/** Folds as many of a session's events as hold together. For stores that lost something. */
export async function deriveState(log: Pick<ReplayLog, "read" | "snapshot">, session: string): Promise<Derived> {
  const events = await log.read(session, 1);
  const whole = wholePart(events);
  const seq = whole.length;
  const hash = whole.at(-1)?.hash ?? "";
  const needsSnapshot = whole.findLast(({ payload }) => payload === null)?.seq ?? 0;
  const start = needsSnapshot === 0 ? null : await log.snapshot(session, seq);
  if (needsSnapshot > (start?.seq ?? 0)) return { seq, hash, state: null };
  const registers = start === null ? createRegisters() : parseRegisters(start.registers, session);
  let head = start === null ? emptyHead : parseHead(start.head, session);
  for (const event of readEvents(whole)) {
    if (event.seq <= (start?.seq ?? 0)) continue;
    const applied = apply(head, registers, event, event.at);
    head = { ...applied.head, seq: event.seq, hash: whole[event.seq - 1]?.hash ?? "" };
    registers.put(applied.puts);
  }
  const rows = registers.all().map(({ kind, key, value }) => ({ kind, key, value: JSON.stringify(value) }));
  return { seq, hash, state: { head: JSON.stringify(head), registers: rows } };
}
