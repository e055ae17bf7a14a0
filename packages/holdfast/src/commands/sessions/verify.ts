import { knownKeys } from "@holdfast/node/host/public-keys";
import type { LogReport } from "@holdfast/runtime";
import { allKeys, readKeys } from "../../evidence/keys.ts";
import { jsonLine } from "../../render/json-events.ts";
import { describeFault } from "../../render/log-fault.ts";
import { unlessCorrupt } from "../../render/corrupt.ts";
import { sessionById } from "../../session/find-session.ts";
import type { Call } from "./call.ts";
import { withHost } from "./call.ts";

/** Somebody else's signatures say nothing here. */
const unknownStatus = 6;

/** Exit status 1 where a log was changed or damaged, 6 where it is whole and some of its signatures can't be told. */
export async function verify(call: Call, ids: readonly string[]): Promise<number> {
  const { given, io, setup } = call;
  const keys = knownKeys(allKeys(await readKeys(setup.home)));
  return withHost(call, async ({ ports, runtime }) => {
    let status = 0;
    for (const id of ids) {
      const { session } = await sessionById(ports, id);
      const report = await unlessCorrupt(io, session, () => runtime.verifyLog(ports, session, keys));
      if (report === null) {
        status = 1;
        continue;
      }
      const whole = runtime.isWhole(report);
      if (!whole) status = 1;
      else if (report.signatures.unknown > 0 && status === 0) status = unknownStatus;
      if (given.has("json")) io.stdout.write(jsonLine({ type: "session.verified", session, isWhole: whole, ...report }));
      else io.stdout.write(`${session}: ${describe(report)}\n`);
    }
    return status;
  });
}

function describe({ events, erased, signatures: { good, bad, unknown, missing }, fault }: LogReport): string {
  if (fault !== null) return `CHANGED OR DAMAGED: ${describeFault(fault)}`;
  if (bad.length > 0) return `CHANGED: the signature in event ${bad.join(", ")} is not of the key that it names`;
  if (missing.length > 0) return `CHANGED: the turn that ended in event ${missing.join(", ")} has no signature`;
  return [
    `whole, ${events} events`,
    ...(erased === 0 ? [] : [`${erased} of them erased`]),
    `${good} signed ${good === 1 ? "turn" : "turns"}`,
    ...(unknown === 0 ? [] : [`${unknown} signed with a key that isn't known here (holdfast keys)`]),
  ].join(", ");
}
