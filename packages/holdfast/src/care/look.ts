import { join } from "node:path";
import type { HomeLeftovers } from "@holdfast/node/host/leftovers";
import type { BlobLook, ContentsLook } from "@holdfast/stores/file-blobs";
import type { LogsLook } from "@holdfast/runtime";
import type { StoreLook } from "@holdfast/stores/sqlite";
import { describeFault } from "../render/log-fault.ts";
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
  /** Null where nobody looked at logs, or the store can't be read. */
  readonly logs: LogsLook | null;
  /** Null where the store can't say what is referred to. */
  readonly blobs: BlobLook | null;
  readonly contents: ContentsLook | null;
  readonly deadLocks: number;
}

/** Characters of logs that are read without being asked: what half a second is enough for. */
const mostChars = 20_000_000;

/** Bytes of contents that are read without being asked. */
const mostBytes = 50_000_000;

/** What a look reads of logs and contents: a bounded part, those of the sessions that changed last first; all; or nothing. */
export type Extent = "part" | "all" | "none";

/** Changes nothing. Throws `session_newer`, `store_failed`. */
export async function lookAfter(home: string, extent: Extent): Promise<CareLook> {
  const [{ inspectStore, openSqliteLog }, { examineContents, inspectBlobs }, { findLeftovers }, { livingIn }] = await Promise.all([
    import("@holdfast/stores/sqlite"),
    import("@holdfast/stores/file-blobs"),
    import("@holdfast/node/host/leftovers"),
    import("@holdfast/node/processes/life"),
  ]);
  const isAlive = livingIn(home);
  // Before the store: a session that begins meanwhile is in the store before it has a folder.
  const found = await findLeftovers(home, Date.now());
  let store = inspectStore(storePath(home));
  const aside = await keptStores(home);
  let blobs: BlobLook | null = null;
  let contents: ContentsLook | null = null;
  let logs: LogsLook | null = null;
  if (store.type === "whole") {
    const log = openSqliteLog(storePath(home));
    try {
      const { examineLogs } = await import("@holdfast/runtime/session/examine");
      logs = extent === "none" ? null : await examineLogs(log, extent === "all" ? undefined : mostChars);
      if (logs !== null && logs.broken.length > 0) store = { type: "damaged", problems: brokenIn(logs) };
      const referenced = await log.referencedBlobs();
      blobs = await inspectBlobs(join(home, "blobs"), referenced, blobGraceMs);
      contents =
        extent === "none" ? null : await examineContents(join(home, "blobs"), referenced, extent === "all" ? undefined : mostBytes);
    } finally {
      await log.close();
    }
  }
  if (store.type !== "whole") return { store, aside, left: { ...found, commands: [] }, logs, blobs: null, contents, deadLocks: 0 };
  const { sessions, locks } = store;
  const commands = found.commands.filter(({ session }) => !sessions.has(session));
  return {
    store,
    aside,
    left: { ...found, commands },
    logs,
    blobs,
    contents,
    deadLocks: locks.filter(({ owner }) => !isAlive(owner)).length,
  };
}

const mostProblems = 5;

function brokenIn({ broken }: LogsLook): string[] {
  const named = broken.slice(0, mostProblems).map(({ session, fault }) => `the log of ${session}: ${describeFault(fault)}`);
  return broken.length > named.length ? [...named, `and ${broken.length - named.length} more`] : named;
}
