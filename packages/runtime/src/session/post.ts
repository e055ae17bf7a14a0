import type { Op } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { op as opSchema } from "@holdfast/protocol/op";
import type { Registers } from "../kernel/state.ts";
import type { InboxRow, Ports } from "../ports/index.ts";
import { redactDeep } from "../redact.ts";
import { loadState } from "./stored.ts";

/** Puts an op into a session's inbox and rings its driver. The same message id again changes nothing. */
export async function post(
  ports: Pick<Ports, "log" | "ids" | "clock" | "wakeups"> & Partial<Pick<Ports, "secrets">>,
  session: string,
  op: Op,
  messageId = ports.ids.next("msg"),
): Promise<void> {
  await put(ports, session, op, messageId);
}

interface PostedOn {
  readonly registers: Registers;
  readonly inbox: readonly InboxRow[];
}

/**
 * Posts the op that `opOn` makes of the session as it is, and returns that state: where something else is posted in between, it is asked again, so
 * that of two that would answer the same thing the second one sees the first.
 */
export async function postOn(
  ports: Parameters<typeof post>[0],
  session: string,
  opOn: (state: PostedOn) => Op | Promise<Op>,
): Promise<PostedOn> {
  for (;;) {
    const last = await ports.log.posted(session);
    // In this order: what is in the inbox no more was taken in by the state that is read after it.
    const inbox = await ports.log.inbox(session);
    const { registers } = await loadState(ports.log, session);
    if (await put(ports, session, await opOn({ registers, inbox }), ports.ids.next("msg"), last)) return { registers, inbox };
  }
}

async function put(ports: Parameters<typeof post>[0], session: string, op: Op, messageId: string, after?: number): Promise<boolean> {
  const parsed = opSchema.safeParse(op);
  if (!parsed.success) throw new HoldfastError("usage", `this is no op: ${parsed.error.message}`);
  const body = JSON.stringify(redactDeep(parsed.data, ports.secrets?.values() ?? []));
  const number = await ports.log.post(session, { messageId, body, at: ports.clock.now() }, after);
  if (number === null) return false;
  ports.wakeups.ring(session);
  return true;
}
