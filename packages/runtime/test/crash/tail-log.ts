import { createMemoryLog } from "@holdfast/stores/memory";
import type { Log } from "../../src/index.ts";

/** What each durability waits for the disk with, as the SQLite store does. Locks never: they are void with their owner. */
export type Durability = "full" | "normal";

export interface TailLog extends Log {
  /** What a loss of power does: everything since the last flush is gone, and all locks. */
  lose(): Promise<void>;
  /** Whether a driver has taken an attempt of this call, to act. */
  isClaimed(callId: string): boolean;
}

type Write = { readonly isFlushed: boolean; readonly again: (log: Log) => Promise<unknown> };

/** A log that knows what has reached its disk. */
export function createTailLog(durability: Durability): TailLog {
  let inner = createMemoryLog();
  let writes: Write[] = [];
  const claimed = new Set<string>();
  const isFull = durability === "full";
  const write = async <T>(isFlushed: boolean, again: (log: Log) => Promise<T>): Promise<T> => {
    const result = await again(inner);
    writes.push({ isFlushed, again });
    return result;
  };
  return {
    commit: (commit) => write(isFull || commit.isBinding === true, (log) => log.commit(commit)),
    claim: async (...claim) => {
      const isOurs = await write(true, (log) => log.claim(...claim));
      if (isOurs && claim[3] !== "revoked") claimed.add(claim[1]);
      return isOurs;
    },
    isClaimed: (callId) => claimed.has(callId),
    post: (...message) => write(isFull, (log) => log.post(...message)),
    settleOutbox: (...message) => write(isFull, (log) => log.settleOutbox(...message)),
    erase: (...erasure) => write(isFull, (log) => log.erase(...erasure)),
    delete: (...deletion) => write(isFull, (log) => log.delete(...deletion)),
    claimedBy: (...asked) => inner.claimedBy(...asked),
    lock: (...lock) => inner.lock(...lock),
    unlock: (...lock) => inner.unlock(...lock),
    load: (...asked) => inner.load(...asked),
    snapshot: (...asked) => inner.snapshot(...asked),
    read: (...asked) => inner.read(...asked),
    list: (...asked) => inner.list(...asked),
    inbox: (...asked) => inner.inbox(...asked),
    holder: (...asked) => inner.holder(...asked),
    takeOutbox: (...asked) => inner.takeOutbox(...asked),
    sharers: (...asked) => inner.sharers(...asked),
    search: (...asked) => inner.search(...asked),
    weigh: (...asked) => inner.weigh(...asked),
    referencedBlobs: () => inner.referencedBlobs(),
    close: () => inner.close(),
    lose: async () => {
      writes = writes.slice(0, writes.findLastIndex(({ isFlushed }) => isFlushed) + 1);
      inner = createMemoryLog();
      for (const { again } of writes) await again(inner);
    },
  };
}
