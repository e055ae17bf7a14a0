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

/** A store that can be set back to its last flush. */
export interface Disk {
  log(): Log;
  onFlush(): void;
  onWrite?(again: (log: Log) => Promise<unknown>): void;
  lose(): Promise<void>;
  end(): Promise<void>;
}

/** A disk in memory: it writes down what reached it, and does that again. */
function memoryDisk(): Disk {
  let log = createMemoryLog();
  let flushed = 0;
  const writes: ((log: Log) => Promise<unknown>)[] = [];
  return {
    log: () => log,
    onWrite: (again) => void writes.push(again),
    onFlush: () => (flushed = writes.length),
    lose: async () => {
      writes.length = flushed;
      log = createMemoryLog();
      for (const again of writes) await again(log);
    },
    end: () => log.close(),
  };
}

/** A log that knows what has reached its disk. */
export function createTailLog(durability: Durability, disk: Disk = memoryDisk()): TailLog {
  const claimed = new Set<string>();
  const isFull = durability === "full";
  const write = async <T>(isFlushed: boolean, run: (log: Log) => Promise<T>): Promise<T> => {
    const result = await run(disk.log());
    disk.onWrite?.(run);
    if (isFlushed) disk.onFlush();
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
    lock: (...lock) => disk.log().lock(...lock),
    unlock: (...lock) => disk.log().unlock(...lock),
    load: (...asked) => disk.log().load(...asked),
    snapshot: (...asked) => disk.log().snapshot(...asked),
    read: (...asked) => disk.log().read(...asked),
    list: (...asked) => disk.log().list(...asked),
    inbox: (...asked) => disk.log().inbox(...asked),
    posted: (...asked) => disk.log().posted(...asked),
    claimedBy: (...asked) => disk.log().claimedBy(...asked),
    holder: (...asked) => disk.log().holder(...asked),
    takeOutbox: (...asked) => disk.log().takeOutbox(...asked),
    sharers: (...asked) => disk.log().sharers(...asked),
    search: (...asked) => disk.log().search(...asked),
    weigh: (...asked) => disk.log().weigh(...asked),
    referencedBlobs: () => disk.log().referencedBlobs(),
    close: () => disk.end(),
    lose: () => disk.lose(),
  };
}
