import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { CallContext, Owner } from "../ports/index.ts";
import type { Driver } from "./driver.ts";
import { giveBack, takeLock } from "./lock.ts";

const retryMs = 25;
const sayAfterMs = 2_000;

export type HandOver = CallContext["handOver"];

/**
 * Runs something that takes the workspace whole: across sessions only one such effect at a time. The lock is a store row;
 * a holder that died is void. What is handed over is held by the process that carries the effect on, also when we die or
 * let go. `isBegun`: another driver began the effect, and its process has the lock already.
 */
export async function withWorkspace<T>(
  driver: Driver,
  what: string,
  signal: AbortSignal,
  run: (handOver: HandOver) => Promise<T>,
  isBegun = false,
): Promise<T> {
  const roots = driver.registers.get("session", "")?.roots ?? [];
  const names = roots.map((root) => `workspace:${root.path}`).sort();
  const { ports } = driver;
  const { log, processes, clock } = ports;
  const owner: Owner = { ...processes.owner, label: `session ${driver.session}, ${what}` };
  const owners = [owner];
  try {
    for (const name of isBegun ? [] : names) {
      for (let waitedMs = 0; ; waitedMs += retryMs) {
        if (signal.aborted) throw new HoldfastError("tool_refused", "interrupted while it waited for the workspace");
        const lock = await takeLock(ports, name, owner);
        if (lock.held) break;
        if (waitedMs === sayAfterMs) {
          driver.options.onWait?.(`waiting for the workspace: ${lock.holder.label} has it (process ${lock.holder.pid})`);
        }
        await clock.sleep(retryMs, signal);
      }
    }
    return await run(async (next) => {
      const heir = { ...next, label: owner.label };
      // The driver that began it may have died before it passed the lock on: whoever lives and has it by now keeps it.
      for (const name of names) await log.lock(name, heir, (other) => isBegun && processes.isAlive(other));
      owners.push(heir);
    });
  } finally {
    const leaving = isHoldfastError(signal.reason, "stale_driver") ? [owner] : owners;
    for (const name of names) for (const one of leaving) await giveBack(log, name, one);
  }
}
