import type { Item } from "@holdfast/protocol";
import { createWindow } from "../kernel/window.ts";
import { readEvents } from "../session/stored.ts";
import type { Driver, Whole } from "./driver.ts";

/**
 * What shows where the values of a call come from: also once a compaction has begun another window, the user's own words and
 * what was read, as they stood there. The log is read for it only then, each event once.
 */
export async function itemsOfSession(driver: Driver): Promise<readonly Item[]> {
  if (driver.head.windowStart <= 1) return driver.window.items;
  // The calls of one answer are decided together.
  driver.whole = (driver.whole ?? Promise.resolve({ window: createWindow(true), seq: 0 })).then((whole) => readOn(driver, whole));
  return (await driver.whole).window.items;
}

/** What a compaction says of the state is made of these items: it is no source beside them. */
async function readOn({ ports, session }: Driver, { window, seq }: Whole): Promise<Whole> {
  const events = readEvents(await ports.log.read(session, seq + 1));
  for (const event of events) if (event.type !== "window.compacted") window.add(event);
  return { window, seq: events.at(-1)?.seq ?? seq };
}
