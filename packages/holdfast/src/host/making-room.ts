import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Log } from "@holdfast/runtime";

/** Deleting a session takes room first. On a full disk the compiled program gives way: the next start makes it again. */
export function makingRoom(log: Log, home: string): Log {
  return {
    ...log,
    delete: async (session, restsAt) => {
      try {
        return await log.delete(session, restsAt);
      } catch (error) {
        if (!isHoldfastError(error, "store_full")) throw error;
        await rm(join(home, "cache", "compile"), { recursive: true, force: true });
        return log.delete(session, restsAt);
      }
    },
  };
}
