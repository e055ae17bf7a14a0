import type { Item } from "@holdfast/protocol";
import type { Log } from "../src/index.ts";
import { apply, createRegisters, emptyHead, findChainFault, readEvent } from "../src/index.ts";

/** What is wrong with a log under the law: folding the events gives the stored head and registers; and the chain holds. */
export async function faultsOfLaw(log: Log, session: string): Promise<string[]> {
  const erased = (await log.read(session, 1)).filter(({ payload }) => payload === null).map(({ seq }) => seq);
  const snapshot = await log.snapshot(session, Number.MAX_SAFE_INTEGER);
  const faults = erased.length === 0 ? await faultsOfFold(log, session, null) : [];
  if (Math.max(0, ...erased) > (snapshot?.seq ?? 0)) faults.push("an event without its payload after the newest snapshot");
  return snapshot === null ? faults : [...faults, ...(await faultsOfFold(log, session, snapshot))];
}

async function faultsOfFold(log: Log, session: string, start: Awaited<ReturnType<Log["snapshot"]>>): Promise<string[]> {
  const stored = await log.load(session);
  const events = await log.read(session, 1);
  const broken = findChainFault(events);
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
  const wrong = (stored?.registers ?? []).filter(
    (row) => sorted(registers.get(row.kind as never, row.key)) !== sorted(JSON.parse(row.value ?? "null")),
  );
  return [
    ...(broken === null ? [] : [`the chain breaks at event ${broken.seq}: ${broken.fault}`]),
    ...(sorted(JSON.parse(stored?.head ?? "null")) === sorted(head) ? [] : ["the head is not what its events give"]),
    ...wrong.map(({ kind, key }) => `the register ${kind} ${key} is not what its events give`),
  ];
}

/** JSON text that doesn't depend on the order of keys. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** Every call has exactly one result, right after the calls of its sampling and in their order. */
export function faultsOfPairing(items: readonly Item[]): string[] {
  const faults: string[] = [];
  let open: string[] = [];
  let placed = 0;
  for (const item of items) {
    if (item.kind === "tool_result") {
      if (item.callId !== open[placed]) faults.push(`the result of ${item.callId} stands where that of ${open[placed]} belongs`);
      placed += 1;
      continue;
    }
    if (placed > 0 && placed !== open.length) faults.push(`${item.id} stands between results`);
    if (placed > 0) {
      open = [];
      placed = 0;
    }
    if (item.kind === "tool_call") open.push(item.callId);
    else if ((item.kind === "user_message" || item.kind === "notice") && open.length > 0) faults.push(`no result for ${open.join(", ")}`);
  }
  if (placed !== open.length) faults.push(`${open.length} calls and ${placed} results at the end`);
  return faults;
}
