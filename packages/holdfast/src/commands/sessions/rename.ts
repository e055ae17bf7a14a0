import { sanitizeLine } from "../../render/sanitize.ts";
import { sessionById } from "../../session/find-session.ts";
import type { Call } from "./call.ts";
import { withHost } from "./call.ts";

export async function rename(call: Call, [id = "", title = ""]: readonly string[]): Promise<number> {
  await withHost(call, async ({ ports, runtime }) => {
    const { session } = await sessionById(ports, id);
    const named = await runtime.renameSession(ports, session, title);
    call.io.stderr.write(`${session} is now called ${sanitizeLine(named)}\n`);
  });
  return 0;
}
