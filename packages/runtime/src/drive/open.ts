import { createWindow } from "../kernel/window.ts";
import type { DriveOptions, Ports } from "../ports/index.ts";
import { loadState, newer, readEvents } from "../session/stored.ts";
import type { Driver } from "./driver.ts";
import { finishErasures } from "./finish-erasures.ts";

/** Reads head, registers and the items of the current window: the cost doesn't depend on the age of the session. */
export async function openDriver(ports: Ports, session: string, options: DriveOptions): Promise<Driver> {
  const { head, registers } = await loadState(ports.log, session);
  if (head.behaviour > ports.director.behaviour) throw newer(`session ${session}`);
  const window = createWindow();
  for (const event of readEvents(await ports.log.read(session, head.windowStart))) window.add(event);
  const driver: Driver = {
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
  // What a process that died began to erase, whoever comes next erases.
  await finishErasures(driver);
  return driver;
}
