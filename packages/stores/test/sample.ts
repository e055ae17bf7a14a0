import type { StoredEvent } from "@holdfast/protocol";
import type { Commit, Owner } from "@holdfast/runtime";

/** An event that a store must give back exactly as it got it; it never looks inside. */
export function storedEvent(session: string, seq: number, payload = `{"text":"event ${seq}"}`): StoredEvent {
  return {
    session,
    seq,
    type: "input.taken",
    version: 1,
    at: 1_700_000_000_000 + seq,
    prev: `hash of ${seq - 1}`,
    digest: `digest of ${seq}`,
    hash: `hash of ${seq}`,
    salt: `salt of ${seq}`,
    payload,
  };
}

/** A commit of `count` events after `expectedSeq`; the first one creates the session. */
export function commitOf(session: string, expectedSeq: number, change: Partial<Commit> & { readonly count?: number } = {}): Commit {
  const { count = 1, ...rest } = change;
  return {
    session,
    expectedSeq,
    events: Array.from({ length: count }, (_, index) => storedEvent(session, expectedSeq + index + 1)),
    head: `{"seq":${expectedSeq + count}}`,
    registers: [],
    taken: [],
    outbox: [],
    blobRefs: [],
    status: "running",
    wakeAt: null,
    at: 1_700_000_000_000 + expectedSeq,
    ...(expectedSeq === 0 ? { created: { workspace: "/project", title: `Session ${session}` } } : {}),
    ...rest,
  };
}

export function owner(pid: number, change: Partial<Owner> = {}): Owner {
  return { pid, startTime: "100", bootId: "boot", label: `holdfast ${pid}`, ...change };
}
