import type { Ports } from "../ports/index.ts";

/** The lock of whoever has a session open while no turn runs. */
export function openLock(session: string): string {
  return `open:${session}`;
}

/** Says that somebody has the session open, so that pruning leaves it alone as long as this process lives. Returns how to let go. */
export async function holdSession({ log, processes }: Pick<Ports, "log" | "processes">, session: string): Promise<() => Promise<void>> {
  const name = openLock(session);
  const { held } = await log.lock(name, processes.owner, (owner) => processes.isAlive(owner));
  return async () => {
    if (held) await log.unlock(name, processes.owner);
  };
}
