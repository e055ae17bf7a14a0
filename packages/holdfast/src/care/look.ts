import { join } from "node:path";
import type { HomeLeftovers } from "@holdfast/node/host/leftovers";
import type { BlobLook } from "@holdfast/stores/file-blobs";
import type { StoreLook } from "@holdfast/stores/sqlite";
import { keptStores, storePath } from "./kept-stores.ts";

/** A blob is written before the commit that refers to it; younger ones may belong to a commit that is under way. */
export const blobGraceMs = 60 * 60 * 1000;

/** What a look at a home found that nobody needs, or that is damaged. */
export interface CareLook {
  readonly store: StoreLook;
  /** Stores kept aside, or away, that may know sessions whose blobs and outputs are still here. */
  readonly aside: readonly string[];
  /** What was left by sessions that are gone, and by processes that died. */
  readonly left: HomeLeftovers;
  /** Null where the store can't say what is referred to. */
  readonly blobs: BlobLook | null;
  readonly deadLocks: number;
}

/** Changes nothing. Throws `session_newer`, `store_failed`. */
export async function lookAfter(home: string): Promise<CareLook> {
  const [{ inspectStore, openSqliteLog }, { inspectBlobs }, { findLeftovers }, { livingIn }] = await Promise.all([
    import("@holdfast/stores/sqlite"),
    import("@holdfast/stores/file-blobs"),
    import("@holdfast/node/host/leftovers"),
    import("@holdfast/node/processes/life"),
  ]);
  const isAlive = livingIn(home);
  // Before the store: a session that begins meanwhile is in the store before it has a folder.
  const found = await findLeftovers(home, Date.now());
  const store = inspectStore(storePath(home));
  const aside = await keptStores(home);
  const isWhole = store.type === "whole";
  const commands = isWhole ? found.commands.filter(({ session }) => !store.sessions.has(session)) : [];
  let blobs: BlobLook | null = null;
  if (isWhole) {
    const log = openSqliteLog(storePath(home));
    try {
      blobs = await inspectBlobs(join(home, "blobs"), await log.referencedBlobs(), blobGraceMs);
    } finally {
      await log.close();
    }
  }
  return {
    store,
    aside,
    left: { ...found, commands },
    blobs,
    deadLocks: isWhole ? store.locks.filter(({ owner }) => !isAlive(owner)).length : 0,
  };
}
