import type { Ports } from "../ports/index.ts";
import { openLock } from "./hold.ts";

/** A blob is written before the commit that refers to it; younger ones may belong to a commit that is under way. */
export const blobGraceMs = 60 * 60 * 1000;

type ContentPorts = Pick<Ports, "log" | "blobs" | "processes" | "clock">;

/** Blobs to which one session alone refers, and how old one must be to go with it. */
export interface OwnContents {
  readonly blobs: ReadonlySet<string>;
  readonly graceMs: number;
}

/**
 * Looks before a session is deleted. Another process may have put one of its blobs again, and be about to refer to it: that
 * takes one at work on another session, or came after this session's last commit.
 */
export async function contentsOf(ports: ContentPorts, session: string): Promise<OwnContents> {
  const rows = await ports.log.list({});
  const weights = await ports.log.weigh([session]);
  const blobs = new Set(weights.flatMap((one) => one.blobs));
  const own = rows.find((row) => row.session === session);
  if (own === undefined || blobs.size === 0) return { blobs, graceMs: blobGraceMs };
  for (const row of rows) if (row !== own && (await isInUse(ports, row.session))) return { blobs, graceMs: blobGraceMs };
  return { blobs, graceMs: Math.min(blobGraceMs, Math.max(0, ports.clock.now() - own.updatedAt)) };
}

/** Whether a living process drives the session, or has it open. */
export async function isInUse({ log, processes }: Pick<Ports, "log" | "processes">, session: string): Promise<boolean> {
  for (const lock of [`session:${session}`, openLock(session)]) {
    const holder = await log.holder(lock);
    if (holder !== null && processes.isAlive(holder)) return true;
  }
  return false;
}
