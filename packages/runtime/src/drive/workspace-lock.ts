import { HoldfastError } from "@holdfast/protocol";
import type { CallContext, Owner } from "../ports/index.ts";
import type { Driver } from "./driver.ts";

const retryMs = 25;

export type HandOver = CallContext["handOver"];

/**
 * Runs something that takes the workspace whole: across sessions only one such effect at a time. The lock is a store row;
 * a holder that died is void. What is handed over is held by the process that carries the effect on, also when we die.
 */
export async function withWorkspace<T>(
  driver: Driver,
  what: string,
  signal: AbortSignal,
  run: (handOver: HandOver) => Promise<T>,
): Promise<T> {
  const roots = driver.registers.get("session", "")?.roots ?? [];
  const names = roots.map((root) => `workspace:${root.path}`).sort();
  const { log, processes, clock } = driver.ports;
  const owner: Owner = { ...processes.owner, label: `session ${driver.session}, ${what}` };
  const held: string[] = [];
  const owners = [owner];
  try {
    for (const name of names) {
      for (;;) {
        if (signal.aborted) throw new HoldfastError("tool_refused", "interrupted while it waited for the workspace");
        const lock = await log.lock(name, owner, (other) => processes.isAlive(other));
        if (lock.held) break;
        await clock.sleep(retryMs, signal);
      }
      held.push(name);
    }
    return await run(async (next) => {
      const heir = { ...next, label: owner.label };
      for (const name of held) await log.lock(name, heir, () => false);
      owners.push(heir);
    });
  } finally {
    for (const name of held) for (const one of owners) await log.unlock(name, one);
  }
}
