import { keep } from "../drive/kept.ts";
import { loadDriver } from "../drive/load.ts";
import { parseOp } from "../drive/op.ts";
import type { Ports } from "../ports/index.ts";

/**
 * Throws `session_corrupt` where nobody can go on with a session that nobody drives, before anything is posted to it: its log
 * doesn't hold together, or a message that waits can't be read. What was read is kept for who drives it next in this process.
 */
export async function assertDrivable(ports: Ports, session: string): Promise<void> {
  for (const row of await ports.log.inbox(session)) parseOp(row);
  keep(await loadDriver(ports, session, { waiting: "return" }, false));
}
