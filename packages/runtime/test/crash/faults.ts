import { HoldfastError } from "@holdfast/protocol";
import type { BlobStore, Boundary, Log, Stop } from "../../src/index.ts";
import { Crash } from "../kit.ts";

/** What goes wrong at a boundary. Each is a column of the crash table. */
export const faults = {
  killed: "the process is killed there",
  "lost tail": "power is lost there: the process, the boot, and what the store had not flushed",
  "lost tail, normal": "the same with a store of durability `normal`, which flushes only what an effect hangs on",
  refused: "the next commit is refused",
  unacknowledged: "the next commit is saved, but the driver is told that it failed",
  overtaken: "the next commit finds that another driver has gone on",
  "disk full": "from there on nothing can be saved",
  "read-only": "from there on every write is refused",
  busy: "the next write finds the store locked",
  "partial blob": "the process is killed while it writes the next blob",
} as const;
export type Fault = keyof typeof faults;
export const faultNames = Object.keys(faults) as Fault[];

/** After these there is another process; after the others the same one goes on. */
export function isDeath(fault: Fault): boolean {
  return fault === "killed" || fault === "lost tail" || fault === "lost tail, normal" || fault === "partial blob";
}

/** How each method of the stores is met: where the driver stops by itself, as a boundary of its own, or not at all. */
type Meeting = "stop" | "write" | "read" | "unused";
const logMethods: Readonly<Record<keyof Log, Meeting>> = {
  commit: "stop",
  claim: "stop",
  post: "write",
  lock: "write",
  unlock: "write",
  erase: "write",
  delete: "write",
  load: "read",
  snapshot: "read",
  read: "read",
  list: "read",
  inbox: "read",
  posted: "read",
  claimedBy: "read",
  holder: "read",
  sharers: "read",
  search: "read",
  weigh: "read",
  referencedBlobs: "read",
  close: "read",
  settleOutbox: "write",
  takeOutbox: "read",
};
const blobMethods: Readonly<Record<keyof BlobStore, Meeting>> = {
  put: "write",
  delete: "write",
  get: "read",
  has: "read",
  size: "read",
  // Deletes only what no session refers to, and not while one is driven.
  collect: "unused",
};

export type Place = Boundary | `log ${keyof Log}` | `blobs ${keyof BlobStore}`;
function writesOf<T extends string>(methods: Readonly<Record<T, Meeting>>): T[] {
  return (Object.keys(methods) as T[]).filter((name) => methods[name] === "write");
}
export const storePlaces: readonly Place[] = [
  ...writesOf(logMethods).map((name): Place => `log ${name}`),
  ...writesOf(blobMethods).map((name): Place => `blobs ${name}`),
];

/** One passing of a boundary: before or after it. */
export interface Crossing {
  readonly places: readonly Place[];
  readonly when: Stop["when"];
}

/** A process in which, at one crossing, something goes wrong. */
export interface FaultyProcess {
  readonly log: Log;
  readonly blobs: BlobStore;
  readonly stops: (stop: Stop) => Promise<void>;
  /** All crossings so far. */
  readonly crossings: Crossing[];
  /** Throws where the process is dead: nothing of it acts any more. */
  alive(): void;
  /** True once the fault is there. */
  hasStruck(): boolean;
  /** The disk has room again, the store is writable, nobody holds it. */
  mend(): void;
}

export function createFaultyProcess(world: { log: Log; blobs: BlobStore }, planned: { fault: Fault; at: number } | null): FaultyProcess {
  const crossings: Crossing[] = [];
  let isDead = false;
  /** Whether the fault's moment has come, and whether it waits for the next commit, write or blob. */
  let struck: Fault | null = null;
  let isArmed = false;

  const alive = (): void => {
    if (isDead) throw new Crash("this process was killed");
  };
  const die = (): never => {
    isDead = true;
    throw new Crash("killed");
  };
  const cross = (places: readonly Place[], when: Stop["when"]): void => {
    alive();
    crossings.push({ places, when });
    if (planned === null || crossings.length - 1 !== planned.at) return;
    struck = planned.fault;
    isArmed = true;
    if (isDeath(planned.fault) && planned.fault !== "partial blob") die();
  };
  const full = (): never => {
    throw new HoldfastError("store_full", "the disk is full");
  };
  const failed = (): never => {
    throw new HoldfastError("store_failed", "the store can't be written");
  };
  const strikes = (fault: Fault): boolean => struck === fault && isArmed && !(isArmed = false);
  /** Faults that meet any write. */
  const resist = (): void => {
    if (struck === "disk full" && isArmed) full();
    if (struck === "read-only" && isArmed) failed();
    if (strikes("busy")) failed();
  };
  const write = async <T>(place: Place, run: () => Promise<T>): Promise<T> => {
    cross([place], "before");
    resist();
    const result = await run();
    cross([place], "after");
    return result;
  };

  const log: Log = {
    ...world.log,
    async commit(commit) {
      alive();
      // A driver has stopped here by itself; what makes or amends a session has not.
      const places = commit.events.map(({ type }) => `commit ${type}` as Place);
      const isDriven = crossings.at(-1)?.when === "before" && crossings.at(-1)?.places.join() === places.join();
      if (!isDriven) cross(places, "before");
      resist();
      if (strikes("refused")) failed();
      if (strikes("overtaken")) throw new HoldfastError("stale_driver", "another driver went on");
      await world.log.commit(commit);
      if (strikes("unacknowledged")) failed();
      if (!isDriven) cross(places, "after");
    },
    async claim(...claim) {
      alive();
      resist();
      return world.log.claim(...claim);
    },
    post: (...message) => write("log post", () => world.log.post(...message)),
    lock: (...lock) => write("log lock", () => world.log.lock(...lock)),
    settleOutbox: (...message) => write("log settleOutbox", () => world.log.settleOutbox(...message)),
    unlock: (...lock) => write("log unlock", () => world.log.unlock(...lock)),
    erase: (...erasure) => write("log erase", () => world.log.erase(...erasure)),
    delete: (...deletion) => write("log delete", () => world.log.delete(...deletion)),
  };
  const blobs: BlobStore = {
    ...world.blobs,
    async put(bytes) {
      cross(["blobs put"], "before");
      // A store of files leaves a draft then, and nothing under the blob's name.
      if (strikes("partial blob")) die();
      if (struck !== "busy") resist();
      const id = await world.blobs.put(bytes);
      cross(["blobs put"], "after");
      return id;
    },
    delete: (id) => write("blobs delete", () => world.blobs.delete(id)),
  };
  return {
    log,
    blobs,
    crossings,
    alive,
    stops: async (stop) => cross(stop.boundaries, stop.when),
    hasStruck: () => struck !== null,
    mend: () => void (isArmed = false),
  };
}
