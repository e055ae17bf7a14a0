import { isHoldfastError } from "@holdfast/protocol/error";
import type { Ports } from "../ports/index.ts";

/** A blob is written before the commit that refers to it; younger ones may belong to a commit that is under way. */
export const blobGraceMs = 60 * 60 * 1000;

type DeletePorts = Pick<Ports, "log" | "blobs" | "processes">;

/**
 * Deletes a session, with what its commands put out where no fork can read that. Deleting takes room, too: on a full disk
 * what commands left and contents go first, unless they are shared. `restsAt` and errors as of the log's `delete`.
 */
export async function deleteSession(ports: DeletePorts, session: string, restsAt?: number): Promise<void> {
  const gone = await deleteRows(ports, session, restsAt);
  if (!gone.includes(session)) await ports.processes.endSession(session, { forget: false });
  for (const one of gone) await ports.processes.endSession(one, { forget: true });
}

async function deleteRows({ log, blobs, processes }: DeletePorts, session: string, restsAt?: number): Promise<string[]> {
  // A log that has no room can't be written by others either, so nobody takes the session up meanwhile.
  const makeRoom = [
    () => processes.endSession(session, { forget: true }),
    async () => {
      const referenced = new Set(await log.referencedBlobs());
      for (const { blobs: alone } of await log.weigh([session])) for (const blob of alone) referenced.delete(blob);
      await blobs.collect(referenced, blobGraceMs);
    },
  ];
  for (;;) {
    try {
      return await log.delete(session, restsAt);
    } catch (error) {
      const next = isHoldfastError(error, "store_full") ? makeRoom.shift() : undefined;
      if (next === undefined || !(await log.weigh([session])).some((one) => one.session === session && one.isWhole)) throw error;
      await next();
    }
  }
}
