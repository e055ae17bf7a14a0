import type { Driver } from "./driver.ts";
import { flush, stage } from "./driver.ts";

/** Has the store forget what recorded erasures name. Each step can be made again, so it may end anywhere. */
export async function finishErasures(driver: Driver): Promise<void> {
  const { log, blobs, processes } = driver.ports;
  for (const [itemId, erasure] of driver.registers.entries("erasing")) {
    await log.erase(driver.session, erasure);
    const referenced = await log.referencedBlobs();
    const waiting = await log.inbox(driver.session);
    const isFree = (blob: string): boolean => !referenced.has(blob) && !waiting.some(({ body }) => body.includes(blob));
    for (const blob of erasure.blobs.filter(isFree)) await blobs.delete(blob);
    if (erasure.outputOf !== null) await processes.forgetOutput(driver.session, erasure.outputOf);
    stage(driver, [{ type: "erasure.finished", payload: { itemId } }]);
  }
  await flush(driver);
}
