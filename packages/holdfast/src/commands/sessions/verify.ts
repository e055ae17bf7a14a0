import type { LogReport } from "@holdfast/runtime";
import { jsonLine } from "../../render/json-events.ts";
import { sessionById } from "../../session/find-session.ts";
import type { Call } from "./call.ts";
import { withHost } from "./call.ts";

/** Exit status 1 where a log was changed or damaged. */
export async function verify(call: Call, ids: readonly string[]): Promise<number> {
  const { given, io } = call;
  return withHost(call, async ({ ports, runtime }) => {
    let status = 0;
    for (const id of ids) {
      const { session } = await sessionById(ports, id);
      const report = await runtime.verifyLog(ports, session);
      const isWhole = report.fault === null && report.signatures.bad.length === 0;
      if (!isWhole) status = 1;
      if (given.has("json")) io.stdout.write(jsonLine({ type: "session.verified", session, isWhole, ...report }));
      else io.stdout.write(`${session}: ${describe(report)}\n`);
    }
    return status;
  });
}

const faults = {
  order: "isn't the one that belongs there",
  prev: "doesn't follow the one before it",
  hash: "has another header than was hashed",
  payload: "has another content than was hashed",
  missing: "is missing",
} as const;

function describe({ events, erased, signatures: { good, bad, unknown }, fault }: LogReport): string {
  if (fault !== null) return `CHANGED OR DAMAGED: event ${fault.seq} ${faults[fault.fault]}`;
  if (bad.length > 0) return `CHANGED: the signature in event ${bad.join(", ")} is not this home's`;
  return [
    `whole, ${events} events`,
    ...(erased === 0 ? [] : [`${erased} of them erased`]),
    `${good} signed ${good === 1 ? "turn" : "turns"}`,
    ...(unknown === 0 ? [] : [`${unknown} signed with a key that isn't in this home`]),
  ].join(", ");
}
