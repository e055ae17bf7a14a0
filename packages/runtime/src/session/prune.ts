import { isHoldfastError } from "@holdfast/protocol/error";
import type { Ports, SessionRow } from "../ports/index.ts";
import { blobGraceMs, isInUse } from "./contents.ts";
import { removeSession } from "./delete.ts";

export interface PruneWish {
  /** Sessions without a change for so long go. */
  readonly olderThanMs: number | null;
  /** The longest unchanged go until the rest takes no more than this. */
  readonly maxBytes: number | null;
  /** Only sessions of these folders; null for all. */
  readonly workspaces: readonly string[] | null;
  /** Most sessions that go at once; null for any number. */
  readonly atMost: number | null;
  /** False: only what goes is weighed, where `maxBytes` doesn't ask for more. It takes a look at every file of every session. */
  readonly weighsAll: boolean;
}

/** Bytes by where they are: in the log, in blobs to which nothing else refers, in what commands left. */
export interface Sizes {
  readonly log: number;
  readonly blobs: number;
  readonly outputs: number;
}

export interface PrunePlan {
  /** What is to go, the longest unchanged first, with what that frees. */
  readonly going: readonly { readonly row: SessionRow; readonly sizes: Sizes }[];
  /** All sessions that were looked at, and what they take together; zero where they were not weighed. */
  readonly looked: number;
  readonly sizes: Sizes;
  /** Sessions that would go, but are in use: their turn is open, they wait for somebody, or a process works on them. */
  readonly inUse: number;
}

/** A session that changed within this time may belong to somebody who is about to go on, so size alone never takes it. */
const youngestMs = 60 * 60 * 1000;

type PrunePorts = Pick<Ports, "log" | "blobs" | "processes" | "clock">;

export function totalOf({ log, blobs, outputs }: Sizes): number {
  return log + blobs + outputs;
}

/** Which sessions would go, and what that would free. Changes nothing. */
export async function planPrune(ports: PrunePorts, wish: PruneWish): Promise<PrunePlan> {
  const now = ports.clock.now();
  const all = await ports.log.list({});
  const { workspaces } = wish;
  const rows = all.filter(({ workspace }) => workspaces === null || (workspace !== null && workspaces.includes(workspace))).toReversed();
  const sizesOf = scaleOf(ports);
  const sizes = wish.weighsAll || wish.maxBytes !== null ? await sizesOf(rows) : new Map<string, Sizes>();
  const isOld = (row: SessionRow): boolean => wish.olderThanMs !== null && row.updatedAt <= now - wish.olderThanMs;
  const total = sumOf(sizes);
  const going: SessionRow[] = [];
  let inUse = 0;
  let left = total;
  for (const row of rows) {
    if (wish.atMost !== null && going.length >= wish.atMost) break;
    const isTooMuch = wish.maxBytes !== null && left > wish.maxBytes && row.updatedAt <= now - youngestMs;
    if (!isOld(row) && !isTooMuch) continue;
    if (!(await isAtRest(ports, row))) {
      inUse += 1;
      continue;
    }
    going.push(row);
    left -= totalOf(sizes.get(row.session) ?? none);
    // What a fork that stays needs isn't free.
    if (wish.maxBytes !== null && left <= wish.maxBytes) left = total - sumOf(await sizesOf(going));
  }
  const freed = await sizesOf(going);
  return {
    going: going.map((row) => ({ row, sizes: freed.get(row.session) ?? none })),
    looked: rows.length,
    sizes: [...sizes.values()].reduce(add, none),
    inUse,
  };
}

/**
 * Deletes what a plan names, each only if it is still as it was planned and at rest. Returns the sessions that are gone;
 * one that somebody took up meanwhile is left alone.
 */
export async function prune(ports: PrunePorts, plan: PrunePlan): Promise<string[]> {
  const deleted: string[] = [];
  const weights = await ports.log.weigh(plan.going.map(({ row }) => row.session));
  const contents = { blobs: new Set(weights.flatMap(({ blobs }) => blobs)), graceMs: blobGraceMs };
  for (const { row } of plan.going) {
    if (!(await isAtRest(ports, row))) continue;
    try {
      await removeSession(ports, row.session, contents, row.seq);
      deleted.push(row.session);
    } catch (error) {
      if (!isHoldfastError(error, "stale_driver")) throw error;
    }
  }
  if (deleted.length > 0) {
    const referenced = await ports.log.referencedBlobs();
    await ports.blobs.collect(referenced, blobGraceMs, contents.blobs);
    await ports.blobs.collect(referenced, blobGraceMs);
  }
  return deleted;
}

async function isAtRest({ log, processes }: PrunePorts, { session, status }: SessionRow): Promise<boolean> {
  if (status !== "idle" || (await log.inbox(session)).length > 0) return false;
  if (await isInUse({ log, processes }, session)) return false;
  return !(await processes.remains(session)).isRunning;
}

const none: Sizes = { log: 0, blobs: 0, outputs: 0 };

function add(a: Sizes, b: Sizes): Sizes {
  return { log: a.log + b.log, blobs: a.blobs + b.blobs, outputs: a.outputs + b.outputs };
}

function sumOf(sizes: ReadonlyMap<string, Sizes>): number {
  return [...sizes.values()].reduce((sum, one) => sum + totalOf(one), 0);
}

/** Tells what would be free if sessions went together. What was looked at once isn't looked at again. */
function scaleOf({ log, blobs, processes }: PrunePorts): (rows: readonly SessionRow[]) => Promise<Map<string, Sizes>> {
  const known = new Map<string, Promise<number>>();
  const once = (name: string, look: () => Promise<number>): Promise<number> => {
    const looked = known.get(name) ?? look();
    known.set(name, looked);
    return looked;
  };
  return async (rows) => {
    const sizes = new Map<string, Sizes>();
    for (const { session, bytes, blobs: alone, isWhole } of await log.weigh(rows.map((row) => row.session))) {
      let inBlobs = 0;
      for (const blob of alone) inBlobs += await once(blob, () => blobs.size(blob));
      const outputs = isWhole ? await once(session, async () => (await processes.remains(session)).bytes) : 0;
      sizes.set(session, { log: bytes, blobs: inBlobs, outputs });
    }
    return sizes;
  };
}
