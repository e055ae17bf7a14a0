import type { StoredEvent } from "@holdfast/protocol";
import { eventPayloads } from "@holdfast/protocol/event";
import { findChainFault } from "../kernel/chain.ts";
import type { RecordedEvent } from "../ports/index.ts";
import { readEvent, readEvents } from "./stored.ts";

/**
 * A whole log's events for who only reads: where it was changed or damaged, those that are what their type says. Nothing is
 * taken for an event that no version of ours wrote.
 */
export function readShown(stored: readonly StoredEvent[]): RecordedEvent[] {
  return readEvents(findChainFault(stored) === null ? stored : stored.filter(isOfItsType));
}

function isOfItsType(stored: StoredEvent): boolean {
  const event = readEvent(stored);
  if (event === null) return true;
  return Object.hasOwn(eventPayloads, event.type) && eventPayloads[event.type].safeParse(event.payload).success;
}
