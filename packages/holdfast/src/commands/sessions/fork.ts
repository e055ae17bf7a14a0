import { jsonLine } from "../../render/json-events.ts";
import { sessionById } from "../../session/find-session.ts";
import type { Call } from "./call.ts";
import { withHost } from "./call.ts";

export async function fork(call: Call, [id = ""]: readonly string[]): Promise<number> {
  const { given, io } = call;
  const at = given.value("at");
  const title = given.value("title");
  const { from, made } = await withHost(call, async ({ ports, runtime }) => {
    const { session } = await sessionById(ports, id);
    const point = { ...(at === undefined ? {} : { at: Number(at) }), ...(title === undefined ? {} : { title }) };
    return { from: session, made: await runtime.forkSession(ports, session, point) };
  });
  if (given.has("json")) io.stdout.write(jsonLine({ type: "session.forked", session: made.session, from, seq: made.seq }));
  else {
    io.stdout.write(`${made.session}\n`);
    io.stderr.write(`shares the history of ${from} up to event ${made.seq}; go on with: holdfast exec resume ${made.session} "…"\n`);
  }
  return 0;
}
