import type { Op } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import { op as opSchema } from "@holdfast/protocol/op";
import type { Ports } from "../ports/index.ts";
import { redactDeep } from "../redact.ts";

/** Puts an op into a session's inbox and rings its driver. The same message id again changes nothing. */
export async function post(
  ports: Pick<Ports, "log" | "ids" | "clock" | "wakeups"> & Partial<Pick<Ports, "secrets">>,
  session: string,
  op: Op,
  messageId = ports.ids.next("msg"),
): Promise<void> {
  const parsed = opSchema.safeParse(op);
  if (!parsed.success) throw new HoldfastError("usage", `this is no op: ${parsed.error.message}`);
  await ports.log.post(session, {
    messageId,
    body: JSON.stringify(redactDeep(parsed.data, ports.secrets?.values() ?? [])),
    at: ports.clock.now(),
  });
  ports.wakeups.ring(session);
}
