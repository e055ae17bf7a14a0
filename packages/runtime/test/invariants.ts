import type { Item } from "@holdfast/protocol";
import { expect } from "vitest";
import type { Log } from "../src/index.ts";
import { apply, createRegisters, emptyHead, findChainFault, readEvent } from "../src/index.ts";

/** The law: folding the events gives the stored head and registers; and the chain holds. Erased, it holds from the snapshot on. */
export async function expectLaw(log: Log, session: string): Promise<void> {
  const erased = (await log.read(session, 1)).filter(({ payload }) => payload === null).map(({ seq }) => seq);
  const snapshot = await log.snapshot(session, Number.MAX_SAFE_INTEGER);
  expect(Math.max(0, ...erased), "an event without its payload after the newest snapshot").toBeLessThanOrEqual(snapshot?.seq ?? 0);
  if (erased.length === 0) await expectFold(log, session, null);
  if (snapshot !== null) await expectFold(log, session, snapshot);
}

async function expectFold(log: Log, session: string, start: Awaited<ReturnType<Log["snapshot"]>>): Promise<void> {
  const stored = await log.load(session);
  const events = await log.read(session, 1);
  expect(findChainFault(events)).toBeNull();
  let head = start === null ? emptyHead : (JSON.parse(start.head) as typeof emptyHead);
  const registers = createRegisters();
  registers.put((start?.registers ?? []).map(({ kind, key, value }) => ({ kind: kind as never, key, value: JSON.parse(value ?? "null") })));
  for (const event of events.slice(start?.seq ?? 0)) {
    const parsed = readEvent(event);
    if (parsed === null) continue;
    const applied = apply(head, registers, parsed, event.at);
    head = { ...applied.head, seq: event.seq, hash: event.hash };
    registers.put(applied.puts);
  }
  expect(JSON.parse(stored?.head ?? "null")).toEqual(JSON.parse(JSON.stringify(head)));
  for (const row of stored?.registers ?? []) {
    expect(registers.get(row.kind as never, row.key), `${row.kind} ${row.key}`).toEqual(JSON.parse(row.value ?? "null"));
  }
}

/** Every call has exactly one result, right after the calls of its sampling and in their order. */
export function expectPaired(items: readonly Item[]): void {
  let open: string[] = [];
  let placed = 0;
  for (const item of items) {
    if (item.kind === "tool_result") {
      expect(item.callId).toBe(open[placed]);
      placed += 1;
      continue;
    }
    expect(placed === 0 || placed === open.length, "an item stands between results").toBe(true);
    if (placed > 0) {
      open = [];
      placed = 0;
    }
    if (item.kind === "tool_call") open.push(item.callId);
    else if (item.kind === "user_message" || item.kind === "notice") expect(open, "a call without a result").toEqual([]);
  }
  expect(placed).toBe(open.length);
}
