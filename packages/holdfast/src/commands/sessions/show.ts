import { jsonLine } from "../../render/json-events.ts";
import { renderSession } from "../../render/session.ts";
import { sessionById } from "../../session/find-session.ts";
import type { Call } from "./call.ts";
import { withStore } from "./call.ts";

export async function show(call: Call, [id = ""]: readonly string[]): Promise<number> {
  const { given, io } = call;
  const view = await withStore(call, async (store) => {
    const { session } = await sessionById(store.ports, id);
    return store.runtime.readSession(store.ports, session);
  });
  io.stdout.write(given.has("json") ? jsonLine({ type: "session", ...view }) : `${renderSession(view, io.stdout.columns).join("\n")}\n`);
  return 0;
}
