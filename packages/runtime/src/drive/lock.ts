import type { Log, Owner, Ports } from "../ports/index.ts";
import { isSameProcess } from "../same-process.ts";

/** Locks of this process that a store could not take back: nobody has them any more. */
const abandoned = new WeakMap<Log, Set<string>>();

function keyOf(name: string, owner: Owner): string {
  return JSON.stringify([name, owner.label]);
}

/** Takes a lock, or tells who holds it. Void is one whose process has ended, or which this process has given back in vain. */
export async function takeLock({ log, processes }: Pick<Ports, "log" | "processes">, name: string, owner: Owner): ReturnType<Log["lock"]> {
  const isVoid = (other: Owner): boolean => isSameProcess(other, owner) && abandoned.get(log)?.has(keyOf(name, other)) === true;
  const taken = await log.lock(name, owner, (other) => processes.isAlive(other) && !isVoid(other));
  if (taken.held) abandoned.get(log)?.delete(keyOf(name, owner));
  return taken;
}

/** Gives a lock back. Throws nothing where the store can't be written, so that it hides no error that says more. */
export async function giveBack(log: Log, name: string, owner: Owner): Promise<void> {
  try {
    await log.unlock(name, owner);
  } catch {
    const others = abandoned.get(log) ?? new Set();
    abandoned.set(log, others.add(keyOf(name, owner)));
  }
}
