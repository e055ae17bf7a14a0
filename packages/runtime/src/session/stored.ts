import type { Json, SessionEvent, StoredEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { eventVersion } from "@holdfast/protocol/version";
import type { Head, MutableRegisters, RegisterKind } from "../kernel/state.ts";
import { createRegisters } from "../kernel/state.ts";
import type { Log, RecordedEvent, RegisterRow, SessionRow } from "../ports/index.ts";

/** Head and registers as they were committed last. Throws `session_not_found`, `session_newer`, `session_corrupt`. */
export async function loadState(
  log: Pick<Log, "load">,
  session: string,
): Promise<{ readonly row: SessionRow; readonly head: Head; readonly registers: MutableRegisters }> {
  const stored = await log.load(session);
  if (stored === null) {
    throw new HoldfastError("session_not_found", `there is no session ${session}`, {
      hint: "holdfast sessions list shows those there are",
    });
  }
  return { row: stored.row, head: parseHead(stored.head, session), registers: parseRegisters(stored.registers, session) };
}

export function parseHead(text: string, session: string): Head {
  const head = parseStored(text, `the head of session ${session}`) as unknown as Head;
  if (head.version !== 1) throw newer(`session ${session}`);
  return head;
}

export function parseRegisters(rows: readonly RegisterRow[], session: string): MutableRegisters {
  const registers = createRegisters();
  registers.put(
    rows.map(({ kind, key, value }) => ({
      kind: kind as RegisterKind,
      key,
      value: value === null ? null : parseStored(value, `the register ${kind} ${key} of session ${session}`),
    })),
  );
  return registers;
}

/** From a version of a type's payload to the next. */
export type Upcasts = { readonly [type: string]: { readonly [version: number]: (payload: Json) => Json } };

/** The one place where older payloads become current ones: an entry for each type and each version it has left behind. */
export const upcasts: Upcasts = {};

/** A stored event in the current version; null where its payload was erased. Throws `session_newer`, `session_corrupt`. */
export function readEvent({ session, seq, type, version, payload }: StoredEvent, table = upcasts): SessionEvent | null {
  if (version > eventVersion) throw newer(`event ${seq} of session ${session}`);
  if (payload === null) return null;
  let current = parseStored(payload, `event ${seq} of session ${session}`);
  for (let from = version; from < eventVersion; from += 1) current = table[type]?.[from]?.(current) ?? current;
  return { type, payload: current } as unknown as SessionEvent;
}

/**
 * Stored events as they can be shown, up to the log's end: in the place of one that was erased stands what the erasure
 * kept of it, also where the store has yet to carry it out.
 */
export function readEvents(stored: readonly StoredEvent[], table = upcasts): RecordedEvent[] {
  const kept = new Map<number, { readonly version: number; readonly payload: string }>();
  for (const event of stored) {
    const parsed = event.type === "item.erased" || event.type === "session.forked" ? readEvent(event, table) : null;
    if (parsed?.type !== "item.erased" && parsed?.type !== "session.forked") continue;
    for (const { seq, version, payload } of parsed.payload.kept) kept.set(seq, { version, payload: JSON.stringify(payload) });
  }
  return stored.flatMap((event): RecordedEvent[] => {
    const parsed = readEvent({ ...event, ...kept.get(event.seq) }, table);
    return parsed === null ? [] : [{ ...parsed, seq: event.seq, at: event.at }];
  });
}

export function newer(what: string): HoldfastError {
  return new HoldfastError("session_newer", `${what} was written by a newer version of Holdfast`, { hint: "update Holdfast" });
}

/** What we wrote ourselves: text that is no JSON was damaged since. */
export function parseStored(text: string, what: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new HoldfastError("session_corrupt", `${what} is damaged: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "holdfast doctor --repair saves what can be read; other sessions can be used on",
      cause: error,
    });
  }
}
