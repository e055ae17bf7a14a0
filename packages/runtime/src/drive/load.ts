import { createRequestDigests } from "../kernel/request-digests.ts";
import { createWindow } from "../kernel/window.ts";
import type { DriveOptions, Ports } from "../ports/index.ts";
import { refuseOtherEnd } from "../session/cut.ts";
import { loadState, newer, readEvents } from "../session/stored.ts";
import { refuseBroken } from "../session/verify.ts";
import type { Driver } from "./driver.ts";
import { takeKept } from "./kept.ts";
import { endsWithOwn } from "./own-commits.ts";

/**
 * Reads head, registers and the items of the current window: the cost doesn't depend on the age of the session. Throws
 * `session_corrupt` where the window's part of the hash chain is broken. `isHeld`: nobody else can drive it meanwhile; else what
 * was committed after its head was read isn't looked at.
 */
export async function loadDriver(ports: Ports, session: string, options: DriveOptions, isHeld = true): Promise<Driver> {
  const driver = await loadBare(ports, session, options);
  const kept = takeKept(ports, session, driver.head);
  if (kept !== null)
    return { ...driver, window: kept.window, digests: kept.digests, ...(kept.whole === undefined ? {} : { whole: kept.whole }) };
  const stored = await ports.log.read(session, driver.head.windowStart, isHeld ? undefined : driver.head.seq);
  refuseBroken(session, stored, driver.head);
  const salts = new Map(stored.map(({ seq, salt }) => [seq, salt]));
  for (const event of readEvents(stored)) driver.window.add(event, salts.get(event.seq));
  return driver;
}

/** A driver that can only stage events that bring no item: its window is empty, and no event is read. */
export async function loadBare(ports: Ports, session: string, options: DriveOptions): Promise<Driver> {
  const { row, head, registers } = await loadState(ports.log, session);
  refuseOtherEnd(row, head);
  if (head.behaviour > ports.director.behaviour) throw newer(`session ${session}`);
  return {
    ports,
    session,
    options,
    head,
    registers,
    window: createWindow(),
    digests: createRequestDigests(),
    staged: { events: [], puts: [], taken: [], blobs: [], at: 0 },
    attachable: new Set(),
    early: new Set(),
    hasSandbox: ports.sandbox !== undefined,
    wasTakenUp: !endsWithOwn(ports.log, session, { seq: head.seq, pid: ports.processes.owner.pid }),
    asked: new Set(),
    created: undefined,
  };
}
