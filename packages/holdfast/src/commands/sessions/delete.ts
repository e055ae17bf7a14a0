import { blobGraceMs } from "../../care/look.ts";
import { assertFree, sessionById } from "../../session/find-session.ts";
import type { Call } from "./call.ts";
import { withHost } from "./call.ts";

export async function deleteSessions(call: Call, ids: readonly string[]): Promise<number> {
  await withHost(call, async ({ ports, runtime }) => {
    const rows = await Promise.all(ids.map((id) => sessionById(ports, id)));
    for (const { session } of rows) await assertFree(ports, session);
    for (const { session } of rows) {
      await ports.processes.endSession(session, { forget: false });
      await runtime.deleteSession(ports, session);
      call.io.stderr.write(`deleted ${session}\n`);
    }
    await ports.blobs.collect(await ports.log.referencedBlobs(), blobGraceMs);
  });
  return 0;
}
