import { isHoldfastError } from "@holdfast/protocol/error";
import type { Ports } from "../ports/index.ts";
import type { OwnContents } from "./contents.ts";
import { contentsOf } from "./contents.ts";

type DeletePorts = Pick<Ports, "log" | "blobs" | "processes" | "clock">;

/** Deletes a session, with the contents to which it alone refers, and as `removeSession` does. */
export async function deleteSession(ports: DeletePorts, session: string): Promise<void> {
  const contents = await contentsOf(ports, session);
  await removeSession(ports, session, contents);
  await ports.blobs.collect(await ports.log.referencedBlobs(), contents.graceMs, contents.blobs);
}

/**
 * Deletes a session's log, with what its commands put out where no fork can read that. Deleting takes room, too: on a full
 * disk what commands left and contents go first, unless they are shared. `restsAt` and errors as of the log's `delete`.
 */
export async function removeSession(
  ports: Omit<DeletePorts, "clock">,
  session: string,
  contents: OwnContents,
  restsAt?: number,
): Promise<void> {
  const gone = await deleteRows(ports, session, contents, restsAt);
  if (!gone.includes(session)) await ports.processes.endSession(session, { forget: false });
  for (const one of gone) await ports.processes.endSession(one, { forget: true });
}

async function deleteRows(
  { log, blobs, processes }: Omit<DeletePorts, "clock">,
  session: string,
  contents: OwnContents,
  restsAt?: number,
): Promise<string[]> {
  // A log that has no room can't be written by others either, so nobody takes the session up meanwhile.
  const makeRoom = [
    () => processes.endSession(session, { forget: true }),
    async () => {
      const [weight] = await log.weigh([session]);
      const alone = new Set(weight?.blobs);
      const referenced = new Set([...(await log.referencedBlobs())].filter((blob) => !alone.has(blob)));
      await blobs.collect(referenced, contents.graceMs, alone);
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
