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
 * let go. `isBegun`: another driver began the effect, and its process has the lock already. `hasWaited`: somebody else had
 * it until just now.
 */
export async function withWorkspace<T>(
  driver: Driver,
  what: string,
  signal: AbortSignal,
  run: (handOver: HandOver, hasWaited: boolean) => Promise<T>,
  isBegun = false,
): Promise<T> {
  const names = lockNames(driver);
  const { ports } = driver;
  const { log, processes, clock } = ports;
  const owner: Owner = { ...processes.owner, label: `session ${driver.session}, ${what}` };
  const owners = [owner];
  let hasWaited = false;
  try {
    for (const name of isBegun ? [] : names) {
      for (let waitedMs = 0; ; waitedMs += retryMs) {
        if (signal.aborted) throw new HoldfastError("tool_refused", "interrupted while it waited for the workspace");
        const lock = await takeLock(ports, name, owner);
        if (lock.held) break;
        hasWaited = true;
        if (waitedMs === sayAfterMs) {
          driver.options.onWait?.(`waiting for the workspace: ${lock.holder.label} has it (process ${lock.holder.pid})`);
        }
        await clock.sleep(retryMs, signal);
      }
    }
    ports.checkpoints?.changed(driver.session, []);
    return await run(async (next) => {
      const heir = { ...next, label: owner.label };
      // The driver that began it may have died before it passed the lock on: whoever lives and has it by now keeps it. What was
      // taken for this call is passed on again, as we follow it from now on.
      for (const name of names) await log.lock(name, heir, (other) => isBegun && other.label !== heir.label && processes.isAlive(other));
      owners.push(heir);
    }, hasWaited);
  } finally {
    const leaving = isHoldfastError(signal.reason, "stale_driver") ? [owner] : owners;
    for (const name of names) for (const one of leaving) await giveBack(log, name, one);
  }
}

/** Whether somebody has the workspace at this moment. The session itself has it only while a call of its own runs. */
export async function isWorkspaceHeld(driver: Driver): Promise<boolean> {
  const { log, processes } = driver.ports;
  const holders = await Promise.all(lockNames(driver).map((name) => log.holder(name)));
  return holders.some((holder) => holder !== null && processes.isAlive(holder));
}

function lockNames({ registers }: Driver): string[] {
  const roots = registers.get("session", "")?.roots ?? [];
  return roots.map((root) => `workspace:${root.path}`).sort();
}
