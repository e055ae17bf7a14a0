import { sessionById } from "../../session/find-session.ts";
import type { Call } from "./call.ts";
import { withHost } from "./call.ts";

export async function erase(call: Call, [id = "", item = ""]: readonly string[]): Promise<number> {
  await withHost(call, async ({ ports, runtime }) => {
    const { session } = await sessionById(ports, id);
    await runtime.eraseItem(ports, session, item);
    call.io.stderr.write(`erased ${item} from ${session} and from every session that shares it\n`);
  });
  return 0;
}
