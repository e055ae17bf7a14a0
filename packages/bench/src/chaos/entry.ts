/**
 * The `holdfast` program as chaos starts it where it must die at a named point: the same `main`, with hosts that roll a die
 * before and after each commit, post, effect and claim. Nothing of this is in the program that is shipped. HOLDFAST_CHAOS holds
 * the `Orders`.
 */
import { appendFileSync, writeSync } from "node:fs";
import type { EventPayload } from "@holdfast/protocol";
import type { BlobStore, Clock, Commit, Log, Owner, Ports, Stop } from "@holdfast/runtime";
import { processIo } from "holdfast/cli/process-io";
import { openHost, openStore } from "holdfast/host/node-hosts";
import { main } from "holdfast/program";
import type { Fault } from "./plant.ts";
import { plant } from "./plant.ts";
import { createDice } from "./dice.ts";

export interface Orders {
  readonly seed: number;
  /** How likely it dies at each point, such as "before commit call.settled". */
  readonly points: Readonly<Record<string, number>>;
  /** A file to which a line "passed POINT" is written for each point it comes to, and "died POINT" where it dies. */
  readonly report: string;
  /** A process that counts as dead although it is only frozen; null for none. */
  readonly dead: number | null;
  /** How far its clock is ahead, ms; behind where it is less than 0. */
  readonly clockAheadMs: number;
  readonly fault: Fault | null;
}

const orders = JSON.parse(process.env["HOLDFAST_CHAOS"] ?? "") as Orders;
const random = createDice(orders.seed);
const passed = new Set<string>();
/** A pipe. */
const intentsTo = 3;

/** Dies here, perhaps. */
async function pass(names: readonly string[]): Promise<void> {
  const fresh = names.filter((name) => !passed.has(name));
  for (const name of fresh) passed.add(name);
  const isLast = random.chance(Math.max(...names.map((name) => orders.points[name] ?? 0)));
  const lines = [...fresh.map((name) => `passed ${name}\n`), ...(isLast ? names.map((name) => `died ${name}\n`) : [])];
  if (lines.length > 0) appendFileSync(orders.report, lines.join(""));
  if (!isLast) return;
  process.kill(process.pid, "SIGKILL");
  await new Promise(() => undefined);
}

async function around<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
  await pass(names.map((name) => `before ${name}`));
  const result = await work();
  await pass(names.map((name) => `after ${name}`));
  return result;
}

/** Commits are seen where the store gets them: also those that no driver makes. */
async function stops({ when, what, boundaries }: Stop): Promise<void> {
  if (what !== "commit") await pass(boundaries.map((boundary) => `${when} ${boundary}`));
}

/** Tells who started it of each intent that has become durable, as a line with its class. */
function tellIntents({ events }: Commit): void {
  for (const { type, payload } of events) {
    if (type === "call.intended") writeSync(intentsTo, `${(JSON.parse(payload ?? "") as EventPayload<"call.intended">).replay}\n`);
    else if (type === "sampling.intended") writeSync(intentsTo, "safe\n");
  }
}

type SomePorts = Pick<Ports, "log"> & { readonly clock: Clock; readonly processes: Pick<Ports["processes"], "isAlive"> };

function watched<P extends SomePorts>(ports: P): P {
  const { log, clock, processes } = ports;
  return {
    ...ports,
    log: {
      ...log,
      commit: (commit) =>
        around([...new Set(commit.events.map(({ type }) => `commit ${type}`))], async () => {
          await log.commit(commit);
          tellIntents(commit);
        }),
      post: (...given) => around(["log post"], () => log.post(...given)),
      lock: (...given) => around(["log lock"], () => log.lock(...given)),
      unlock: (...given) => around(["log unlock"], () => log.unlock(...given)),
      erase: (...given) => around(["log erase"], () => log.erase(...given)),
      settleOutbox: (...given) => around(["log settleOutbox"], () => log.settleOutbox(...given)),
      delete: (...given) => around(["log delete"], () => log.delete(...given)),
    } satisfies Log,
    clock: { ...clock, now: () => clock.now() + orders.clockAheadMs },
    processes: { ...processes, isAlive: (owner: Owner) => owner.pid !== orders.dead && processes.isAlive(owner) },
  };
}

/** In place: tools and the observer hold the same store. */
function watchBlobs(blobs: BlobStore): void {
  const plain = { ...blobs };
  Object.assign(blobs, {
    put: (bytes) => around(["blobs put"], () => plain.put(bytes)),
    delete: (id) => around(["blobs delete"], () => plain.delete(id)),
  } satisfies Partial<BlobStore>);
}

const io = processIo();
process.exitCode = await main(process.argv.slice(2), io, {
  openStore: async (options) => {
    const store = await openStore(options);
    return { ...store, ports: watched(store.ports) };
  },
  openHost: async (options, workspace) => {
    const host = await openHost(options, workspace);
    const { runtime } = host;
    watchBlobs(host.ports.blobs);
    const ports = plant(orders.fault, watched(host.ports));
    return {
      ...host,
      ports,
      runtime: { ...runtime, drive: (at, session, drive) => runtime.drive(at, session, { ...drive, stops }) },
    };
  },
});
await io.flush();
process.exit();
