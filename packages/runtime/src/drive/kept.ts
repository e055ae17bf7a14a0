import type { Head } from "../kernel/state.ts";
import type { Log, Ports } from "../ports/index.ts";
import type { Driver } from "./driver.ts";

type Kept = Pick<Driver, "session" | "window" | "digests" | "whole"> & {
  readonly seq: number;
  readonly hash: string;
  readonly pid: number;
};

/** One a log: that of the session driven last. What waits for days is in the hands of nobody, and holds nothing. */
const keptOf = new WeakMap<Log, Kept>();

/**
 * Keeps the window of a session whose turn has ended, so that the next turn in this process neither reads nor encodes it
 * again: what a turn costs doesn't grow with those before it.
 */
export function keep({ ports, session, window, digests, whole, head, staged }: Driver): void {
  if (staged.events.length > 0 || head.turn !== null) return;
  keptOf.set(ports.log, {
    session,
    window,
    digests,
    ...(whole === undefined ? {} : { whole }),
    seq: head.seq,
    hash: head.hash,
    pid: ports.processes.owner.pid,
  });
}

/** The window, where the log still ends where it was kept; whoever takes it has it alone. */
export function takeKept(ports: Ports, session: string, head: Head): Kept | null {
  const kept = keptOf.get(ports.log);
  keptOf.delete(ports.log);
  if (kept === undefined || kept.session !== session || kept.pid !== ports.processes.owner.pid) return null;
  return kept.seq === head.seq && kept.hash === head.hash ? kept : null;
}
