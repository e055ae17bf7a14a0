import type { Log, Owner, Ports } from "../ports/index.ts";

/** Locks of this process that the store could not take back: nobody has them any more. */
const abandoned = new Set<string>();

function keyOf(name: string, owner: Owner): string {
  return JSON.stringify([name, owner.label]);
}

/** Takes a lock, or tells who holds it. Void is one whose process has ended, or which this process has given back in vain. */
export async function takeLock({ log, processes }: Pick<Ports, "log" | "processes">, name: string, owner: Owner): ReturnType<Log["lock"]> {
  const { pid, startTime, bootId } = owner;
  const isOurs = (other: Owner): boolean => other.pid === pid && other.startTime === startTime && other.bootId === bootId;
  const taken = await log.lock(name, owner, (other) => processes.isAlive(other) && !(isOurs(other) && abandoned.has(keyOf(name, other))));
  if (taken.held) abandoned.delete(keyOf(name, owner));
  return taken;
}

/** Gives a lock back. Throws nothing where the store can't be written, so that it hides no error that says more. */
export async function giveBack(log: Log, name: string, owner: Owner): Promise<void> {
  try {
    await log.unlock(name, owner);
  } catch {
    abandoned.add(keyOf(name, owner));
  }
}
