import { createWindow } from "../kernel/window.ts";
import type { DriveOptions, Ports } from "../ports/index.ts";
import { loadState, newer, readEvent } from "../session/stored.ts";
import type { Driver } from "./driver.ts";

/** Reads head, registers and the items of the current window: the cost doesn't depend on the age of the session. */
export async function openDriver(ports: Ports, session: string, options: DriveOptions): Promise<Driver> {
  const { head, registers } = await loadState(ports.log, session);
  if (head.behaviour > ports.director.behaviour) throw newer(`session ${session}`);
  const window = createWindow();
  for (const event of await ports.log.read(session, head.windowStart)) {
    const parsed = readEvent(event);
    if (parsed !== null) window.add(parsed);
  }
  return {
    ports,
    session,
    options,
    head,
    registers,
    window,
    staged: { events: [], puts: [], taken: [], blobs: [], at: 0 },
    attachable: new Set(),
    created: undefined,
  };
}
