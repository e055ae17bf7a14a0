import { HoldfastError } from "@holdfast/protocol/error";
import { finishErasures } from "../drive/finish-erasures.ts";
import { openDriver } from "../drive/open.ts";
import { recordErasure } from "../drive/record-erasure.ts";
import { withSession } from "../drive/session-lock.ts";
import type { Ports } from "../ports/index.ts";

/**
 * Erases an item's content for good: from the events that hold it or a copy, from head and registers, from snapshots, the
 * title and blobs, in this session and in every one that shares it as a fork. What pairs and names it stays, and "[erased]"
 * stands for its text. Once it was recorded, whoever opens the session next finishes it. Erasing again changes nothing.
 * Throws `usage` while a turn is open, `item_not_found`, `session_busy` where one that shares it is in use, and what taking
 * a session over throws.
 */
export async function eraseItem(ports: Ports, session: string, itemId: string): Promise<void> {
  const sharers = await withSession(ports, session, async () => {
    const driver = await openDriver(ports, session, { waiting: "return" });
    if (driver.head.turn !== null) {
      throw new HoldfastError("usage", `session ${session} has an open turn; an item can be erased once it has ended`, {
        hint: "interrupt the turn, or wait for its end",
      });
    }
    await recordErasure(driver, itemId);
    const seqs = driver.registers.get("erasing", itemId)?.seqs ?? [];
    const waitedFor = await finishErasures(driver);
    if (waitedFor.length > 0) {
      throw new HoldfastError("session_busy", `item ${itemId} is shown no more, but stays stored: ${waitedFor.join(", ")} shares it`, {
        hint: "erase it again once the turns there have ended",
      });
    }
    return ports.log.sharers(session, seqs);
  });
  // They have recorded it; what only they keep of it goes as they are opened.
  for (const sharer of sharers) await withSession(ports, sharer, () => openDriver(ports, sharer, { waiting: "return" }));
}
