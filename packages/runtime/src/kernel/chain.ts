import type { EventHeader, SessionEvent, StoredEvent } from "@holdfast/protocol";
import { eventVersion } from "@holdfast/protocol/version";
import { sha256 } from "../hash.ts";

/** The hash of a header: SHA-256 over its fields in a fixed order. The payload is in it by its salted digest alone. */
export function headerHash(header: EventHeader): string {
  const { session, seq, type, version, at, prev, digest } = header;
  return sha256(JSON.stringify([session, seq, type, version, at, prev, digest]));
}

/** The digest of a payload: salted, so that a header tells nobody what an erased payload was. */
export function payloadDigest(salt: string, payload: string): string {
  return sha256(`${salt}\n${payload}`);
}

/** Chains events onto a tip (`prev` is "" for the first). */
export function chain(
  session: string,
  tip: { readonly seq: number; readonly hash: string },
  events: readonly SessionEvent[],
  at: number,
  salt: () => string,
): StoredEvent[] {
  let { seq, hash } = tip;
  return events.map((event) => {
    const text = JSON.stringify(event.payload);
    const eventSalt = salt();
    const header = {
      session,
      seq: seq + 1,
      type: event.type,
      version: eventVersion,
      at,
      prev: hash,
      digest: payloadDigest(eventSalt, text),
    };
    seq = header.seq;
    hash = headerHash(header);
    return { ...header, hash, salt: eventSalt, payload: text };
  });
}

/** `missing`: the log ends before what the head says. `end`: the store names that event as the last, and it isn't. */
export type ChainFault = { readonly seq: number; readonly fault: "order" | "prev" | "hash" | "payload" | "missing" | "end" };

/** The first place where a log doesn't hold together; null where it does. Erased payloads are not faults. */
export function findChainFault(
  events: readonly StoredEvent[],
  tip: { readonly seq: number; readonly hash: string } = { seq: 0, hash: "" },
): ChainFault | null {
  let { seq, hash } = tip;
  for (const event of events) {
    if (event.seq !== seq + 1) return { seq: event.seq, fault: "order" };
    if (event.prev !== hash) return { seq: event.seq, fault: "prev" };
    if (headerHash(event) !== event.hash) return { seq: event.seq, fault: "hash" };
    // A salt goes only together with what it salted.
    if (event.payload !== null && (event.salt === null || payloadDigest(event.salt, event.payload) !== event.digest)) {
      return { seq: event.seq, fault: "payload" };
    }
    seq = event.seq;
    hash = event.hash;
  }
  return null;
}

/** The events before the first place where a log doesn't hold together. */
export function wholePart(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const fault = findChainFault(events);
  return fault === null
    ? events
    : events.slice(
        0,
        events.findIndex(({ seq }) => seq === fault.seq),
      );
}
