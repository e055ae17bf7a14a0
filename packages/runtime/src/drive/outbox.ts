import type { StopBody } from "../kernel/messages.ts";
import { stopHooks } from "../kernel/messages.ts";
import { readEvent } from "../session/stored.ts";
import type { Driver } from "./driver.ts";
import { flush, stage } from "./driver.ts";
import { askHooks } from "./hooks.ts";

/** Messages of one session that are sent in one go. */
const mostAtOnce = 100;

/**
 * Tells others what waits for them, also what a driver that died had to tell: at least once, so that a receiver who counts
 * goes by the turn's id. What nobody listens to any more is done with.
 */
export async function deliver(driver: Driver): Promise<void> {
  const { ports, session, options } = driver;
  for (const { messageId, to, body } of await ports.log.takeOutbox(mostAtOnce, session)) {
    if (to !== stopHooks) continue;
    const { seq, outcome } = JSON.parse(body) as StopBody;
    const message = await messageAt(driver, seq);
    const told = await askHooks(driver, { event: "stop", data: () => ({ turn_id: messageId, outcome, message }) });
    // Who is let go of leaves it to the next.
    if (options.signal?.aborted === true) return;
    stage(driver, told.ran);
    await flush(driver);
    await ports.log.settleOutbox(session, messageId);
  }
}

/** What the model said at the end of the turn; empty where that was erased. */
async function messageAt({ ports, session }: Driver, seq: number): Promise<string> {
  const [stored] = await ports.log.read(session, seq, seq);
  const event = stored === undefined ? null : readEvent(stored);
  return event?.type === "turn.ended" ? event.payload.report.message : "";
}
