import { isHoldfastError } from "@holdfast/protocol/error";
import type { Ports } from "../ports/index.ts";
import { readEvents } from "../session/stored.ts";
import type { Driver } from "./driver.ts";
import { flush, stage } from "./driver.ts";
import { loadDriver } from "./load.ts";
import { recordErasure } from "./record-erasure.ts";
import { withSession } from "./session-lock.ts";

/**
 * Has the store forget what recorded erasures name. Each step can be made again, so it may end anywhere. A session that
 * shares an erased event records the erasure first: until it can (it is being driven, or in a turn), the content stays in
 * the store and is shown nowhere. Returns the sessions that are waited for.
 */
export async function finishErasures(driver: Driver): Promise<readonly string[]> {
  const waitedFor: string[] = [];
  for (const [itemId] of driver.registers.entries("erasing")) waitedFor.push(...(await finish(driver, itemId)));
  await flush(driver);
  return waitedFor;
}

async function finish(driver: Driver, itemId: string): Promise<readonly string[]> {
  const { ports, session } = driver;
  const { log, blobs, processes } = ports;
  const erasure = driver.registers.get("erasing", itemId);
  if (erasure === null) return [];
  let recorded: string[] = [];
  do {
    const sharers = await log.sharers(session, erasure.seqs);
    const results = await Promise.all(sharers.map(async (sharer) => [sharer, await recordIn(ports, sharer, itemId)] as const));
    const missing = results.flatMap(([sharer, isRecorded]) => (isRecorded ? [] : [sharer]));
    if (missing.length > 0) return missing;
    recorded = sharers;
    // A fork that was made meanwhile shares the event, too.
  } while (!(await log.erase(session, { ...erasure, sharers: recorded })));
  const referenced = await log.referencedBlobs();
  const waiting = await log.inbox(session);
  const isFree = (blob: string): boolean => !referenced.has(blob) && !waiting.some(({ body }) => body.includes(blob));
  for (const blob of erasure.blobs.filter(isFree)) await blobs.delete(blob);
  if (erasure.outputOf !== null) {
    const { ancestors = [] } = driver.registers.get("session", "") ?? {};
    for (const writer of [session, ...ancestors]) await processes.forgetOutput(writer, erasure.outputOf);
  }
  stage(driver, [{ type: "erasure.finished", payload: { itemId } }]);
  return [];
}

/** False where the session can't record it now. */
async function recordIn(ports: Ports, session: string, itemId: string): Promise<boolean> {
  const events = readEvents(await ports.log.read(session, 1));
  if (events.some((event) => event.type === "item.erased" && event.payload.itemId === itemId)) return true;
  try {
    return await withSession(ports, session, async () => {
      const driver = await loadDriver(ports, session, { waiting: "return" });
      if (driver.head.turn !== null) return false;
      await recordErasure(driver, itemId);
      return true;
    });
  } catch (error) {
    if (isHoldfastError(error, "session_busy")) return false;
    // It begins before the item, and shares what an earlier erasure took.
    if (isHoldfastError(error, "item_not_found")) return true;
    throw error;
  }
}
