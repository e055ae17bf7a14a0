import type { SessionRow } from "@holdfast/runtime";
import type { Arguments } from "../../cli/command.ts";
import type { Io } from "../../cli/io.ts";
import { jsonLine } from "../../render/json-events.ts";
import { sanitizeLine } from "../../render/sanitize.ts";
import { renderUndone } from "../../render/undo.ts";
import type { Hosts, OpenHost } from "../../runtime-api.ts";
import { assertFree, sessionById } from "../../session/find-session.ts";
import type { Setup } from "../../session/start.ts";
import { warnOfDamage } from "../../session/warn-of-damage.ts";
import { undoSession } from "../../session/undo.ts";
import { eventAt } from "../../undo/point.ts";
import type { Call } from "./call.ts";

/** A fork, and with `--restore` its folder as it was where the fork begins. */
export async function fork({ given, io, hosts, setup }: Omit<Call, "spec">, [id = ""]: readonly string[]): Promise<number> {
  const isRestoring = given.has("restore");
  const { row, host } = await openFor(id, isRestoring, io, hosts, setup);
  const { session } = row;
  try {
    const { ports, runtime } = host;
    const at = given.value("at");
    const title = given.value("title");
    const point = {
      ...(at === undefined ? {} : { at: eventAt(await ports.log.read(session, 1), session, at) - 1 }),
      ...(title === undefined ? {} : { title }),
    };
    if (isRestoring) await assertFree(ports, session);
    const made = await runtime.forkSession(ports, session, point);
    // One that doesn't hold together was refused: what is left is content that nothing erased, and a lost end.
    await warnOfDamage(io, ports, row);
    const undone = isRestoring ? await restoreOrDrop(host, session, made, io) : null;
    const { doubts, lostAfter } = made;
    if (given.has("json")) {
      const known = { type: "session.forked", session: made.session, from: session, seq: made.seq };
      io.stdout.write(jsonLine({ ...known, ...(doubts.length === 0 ? {} : { doubts }), ...(lostAfter === null ? {} : { lostAfter }) }));
    } else {
      io.stdout.write(`${made.session}\n`);
      for (const line of undone === null ? [] : [...undone.lines, ...undone.notes]) io.stderr.write(`${line}\n`);
      for (const summary of doubts)
        io.stderr.write(
          `may have happened in ${session}, and isn't in the shared history: ${sanitizeLine(summary)}; an equal call is asked for\n`,
        );
      if (lostAfter !== null)
        io.stderr.write(`what followed event ${lostAfter} of ${session} is lost: calls that nobody can name may have happened\n`);
      io.stderr.write(`shares the history of ${session} up to event ${made.seq}; go on with: holdfast exec resume ${made.session} "…"\n`);
    }
    return 0;
  } finally {
    await host.close();
  }
}

async function openFor(id: string, isRestoring: boolean, io: Io, hosts: Hosts, setup: Setup): Promise<{ row: SessionRow; host: OpenHost }> {
  if (!isRestoring) {
    const host = await hosts.openHost(setup, { cwd: io.cwd, roots: [] });
    try {
      return { row: await sessionById(host.ports, id), host };
    } catch (error) {
      await host.close();
      throw error;
    }
  }
  const store = await hosts.openStore(setup);
  try {
    const row = await sessionById(store.ports, id);
    const view = await store.runtime.readSession(store.ports, row.session);
    return { row, host: await hosts.openHost(setup, { cwd: view.cwd ?? view.roots[0]?.path ?? io.cwd, roots: view.roots }) };
  } finally {
    await store.close();
  }
}

/** The files as they were where the fork begins; where they can't be had, there is no fork either. */
async function restoreOrDrop(host: OpenHost, session: string, made: { readonly session: string; readonly seq: number }, io: Io) {
  try {
    const onWait = (message: string): void => void io.stderr.write(`${message}\n`);
    const options = { reach: { at: made.seq + 1 }, isDry: false, onWait } as const;
    const first = await undoSession(host, session, options);
    // What an earlier process had begun leads to a place of its own.
    const all = first.isFinished ? [first, await undoSession(host, session, options)] : [first];
    const shown = all.map((undone) => renderUndone(undone, false));
    return { lines: shown.flatMap(({ lines }) => lines), notes: shown.flatMap(({ notes }) => notes) };
  } catch (error) {
    await host.runtime.deleteSession(host.ports, made.session);
    throw error;
  }
}

/** `--restore` is about a place in the past. */
export function restoresNothing(given: Arguments): boolean {
  return given.has("restore") && !given.has("at");
}
