import { HoldfastError } from "@holdfast/protocol/error";
import type { Owner, Ports } from "../ports/index.ts";
import { giveBack, takeLock } from "./lock.ts";

/** Runs something that must be alone with a session, also within this process. Throws `session_busy`, naming the holder. */
export async function withSession<T>(ports: Ports, session: string, run: () => Promise<T>): Promise<T> {
  const { log, processes, ids } = ports;
  const name = `session:${session}`;
  const owner: Owner = { ...processes.owner, label: `${processes.owner.label}, ${ids.next("drv")}` };
  const lock = await takeLock(ports, name, owner);
  if (!lock.held) {
    throw new HoldfastError("session_busy", `session ${session} is driven by ${lock.holder.label} (pid ${lock.holder.pid})`, {
      hint: "wait for it, or end that process",
    });
  }
  try {
    return await run();
  } finally {
    await giveBack(log, name, owner);
  }
}
