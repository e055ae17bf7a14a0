import type { EventPayload, Json, SessionEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { eventVersion } from "@holdfast/protocol/version";
import { charsOf, compactedItems } from "../kernel/compacted.ts";
import { erasingOf, itemsOf } from "../kernel/copies.ts";
import { erasedText, withoutItem } from "../kernel/erased.ts";
import { seenPaths } from "../kernel/item-erased.ts";
import type { BlobStore, Ports, RecordedEvent } from "../ports/index.ts";
import { readEvents } from "../session/stored.ts";
import type { Driver } from "./driver.ts";
import { flush, stage } from "./driver.ts";

/** Records once that an item is erased, with what its session keeps of the events that hold it. Throws `item_not_found`. */
export async function recordErasure(driver: Driver, itemId: string): Promise<void> {
  const events = readEvents(await driver.ports.log.read(driver.session, 1));
  if (events.some((event) => event.type === "item.erased" && event.payload.itemId === itemId)) return;
  stage(driver, [{ type: "item.erased", payload: await erasureOf(driver, events, itemId) }]);
  await flush(driver);
}

async function erasureOf(driver: Driver, events: readonly RecordedEvent[], itemId: string): Promise<EventPayload<"item.erased">> {
  const { ports, session, registers, head } = driver;
  const brought = events.find((event) => itemsOf(event).some(({ id }) => id === itemId));
  const item = brought === undefined ? undefined : itemsOf(brought).find(({ id }) => id === itemId);
  if (brought === undefined || item === undefined) throw new HoldfastError("item_not_found", `session ${session} has no item ${itemId}`);
  const erasing = erasingOf(item, brought, events, registers.get("session", "")?.title ?? "");
  const after = events.map((event): RecordedEvent => ({ ...event, ...withoutItem(event, erasing) }) as RecordedEvent);
  const changed = new Set(events.flatMap((event, index) => (textOf(event) === textOf(after[index]) ? [] : [event.seq])));
  return {
    itemId,
    callId: item.kind === "tool_call" ? item.callId : null,
    kept: keptOf(after, changed),
    windowChars: charsFrom(head.windowStart, events) - charsFrom(head.windowStart, after),
    title: erasing.isTitle ? erasedText : null,
    runs: events
      .filter((event) => event.type === "run.recorded")
      .flatMap((event, index) => (item.kind === "tool_call" && event.payload.callId === item.callId ? [index] : [])),
    seen: noLongerSeen(seenPaths(registers), events, after),
    blobs: await blobsLeft(
      ports,
      events.filter(({ seq }) => changed.has(seq)),
      after,
    ),
    outputOf: item.kind === "tool_result" ? item.callId : null,
  };
}

function charsFrom(start: number, events: readonly RecordedEvent[]): number {
  const itemsIn = (event: RecordedEvent) => (event.type === "window.compacted" ? compactedItems(event.payload) : itemsOf(event));
  return charsOf(events.flatMap((event) => (event.seq < start ? [] : itemsIn(event))));
}

/** An earlier erasure, or a fork's beginning, that keeps a copy of what goes now goes too; what else it kept is kept here. */
function keptOf(after: readonly RecordedEvent[], changed: ReadonlySet<number>): EventPayload<"item.erased">["kept"] {
  const copiesOf = (event: RecordedEvent) => (event.type === "item.erased" || event.type === "session.forked" ? event.payload.kept : []);
  const superseded = after.filter((event) => copiesOf(event).some(({ seq }) => changed.has(seq)));
  const carried = superseded.flatMap((event) => copiesOf(event).map(({ seq }) => seq));
  const seqs = new Set([...changed, ...carried, ...superseded.map(({ seq }) => seq)]);
  return after
    .filter(({ seq }) => seqs.has(seq))
    .map(({ seq, ...event }) => ({
      seq,
      version: eventVersion,
      payload: (event.type === "item.erased" || event.type === "session.forked" ? { ...event.payload, kept: [] } : event.payload) as Json,
    }));
}

function noLongerSeen(paths: readonly string[], events: readonly SessionEvent[], after: readonly SessionEvent[]): number[] {
  const seenIn = (shown: readonly SessionEvent[]): Set<string> =>
    new Set(shown.flatMap((event) => (event.type === "call.settled" ? (event.payload.outcome.seen ?? []).map(({ path }) => path) : [])));
  const [before, now] = [seenIn(events), seenIn(after)];
  return paths.flatMap((path, index) => (before.has(path) && !now.has(path) ? [index] : []));
}

/** Blobs that the erased payloads name, also through a blob of what was prepared, and nothing else in the session does. */
async function blobsLeft(
  { log, blobs }: { readonly log: Ports["log"]; readonly blobs: BlobStore },
  erased: readonly RecordedEvent[],
  after: readonly RecordedEvent[],
): Promise<string[]> {
  const referenced = await log.referencedBlobs();
  const idsIn = (text: string): string[] => (text.match(/[0-9a-f]{64}/g) ?? []).filter((id) => referenced.has(id));
  const named = new Set(erased.flatMap((event) => idsIn(textOf(event))));
  for (const event of erased) {
    if (event.type !== "call.intended") continue;
    for (const id of idsIn(textOf(event)))
      for (const inner of idsIn(new TextDecoder().decode((await blobs.get(id)) ?? new Uint8Array()))) named.add(inner);
  }
  const others = new Set(after.filter((event) => event.type !== "item.erased").flatMap((event) => idsIn(textOf(event))));
  return [...named].filter((id) => !others.has(id));
}

function textOf(event: SessionEvent | undefined): string {
  return JSON.stringify(event?.payload);
}
