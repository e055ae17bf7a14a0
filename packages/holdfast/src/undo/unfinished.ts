import { unfinishedUndos, type UnfinishedUndo } from "@holdfast/node/checkpoints/restore-note";
import { isHoldfastError } from "@holdfast/protocol/error";
import { plural } from "../render/numbers.ts";
import type { HostOptions, Hosts, OpenHost } from "../runtime-api.ts";
import { untilFree } from "../session/find-session.ts";

/** A living process that is at an undo is waited for so long. */
const waitMs = 10_000;

/**
 * Undos that were cut off in these folders, whatever sessions they are of, are finished before anything else is done there:
 * no work, and no baseline, begins with files that are half the one and half the other. One that can't be finished is told.
 */
export async function finishUndos(hosts: Hosts, setup: HostOptions, roots: readonly string[]): Promise<void> {
  for (const found of unfinishedUndos(setup.home, roots)) {
    try {
      const said = await finish(hosts, { ...setup, isEphemeral: false }, found);
      if (said !== null) setup.onNote(said);
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      const { session } = found;
      setup.onNote(`an undo of ${session} was cut off and could not be finished: ${error.message}; see holdfast undo ${session} --dry-run`);
    }
  }
}

async function finish(hosts: Hosts, setup: HostOptions, { session, isBegun }: UnfinishedUndo): Promise<string | null> {
  const store = await hosts.openStore(setup);
  let view;
  try {
    view = await store.runtime.readSession(store.ports, session);
  } finally {
    await store.close();
  }
  const host = await hosts.openHost(setup, { cwd: view.cwd ?? view.roots[0]?.path ?? "/", roots: view.roots });
  try {
    await untilFree(host.ports, session, waitMs);
    if (!isBegun) {
      await dropUnbegun(host, setup.home, session);
      return `an undo of ${session} was cut off before it changed a file: holdfast undo ${session}`;
    }
    const { undoSession } = await import("../session/undo.ts");
    const { files, isFinished } = await undoSession(host, session, { reach: "begun", isDry: false, onWait: setup.onWait });
    return isFinished ? `an undo of ${session} that was cut off is finished: ${plural(files.length, "file")}` : null;
  } finally {
    await host.close();
  }
}

/** What it had made ready beside the files goes. */
async function dropUnbegun({ ports, runtime }: OpenHost, home: string, session: string): Promise<void> {
  await runtime.recordUndo(ports, session, async () => {
    const now = unfinishedUndos(home, null).find((one) => one.session === session);
    if (now?.isBegun === false) await ports.checkpoints?.settled(session);
    return null;
  });
}

/** Sessions whose undo nobody is at any more. */
export async function cutOffUndos({ ports: { log, processes } }: OpenHost, home: string): Promise<string[]> {
  const left: string[] = [];
  for (const { session } of unfinishedUndos(home, null)) {
    const holder = await log.holder(`session:${session}`);
    if (holder === null || !processes.isAlive(holder)) left.push(session);
  }
  return left;
}
