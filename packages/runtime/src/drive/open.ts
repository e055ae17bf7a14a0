import type { DriveOptions, Ports } from "../ports/index.ts";
import type { Driver } from "./driver.ts";
import { finishErasures } from "./finish-erasures.ts";
import { loadDriver } from "./load.ts";

/** Takes a session over: what a process that died began to erase, whoever comes next erases. */
export async function openDriver(ports: Ports, session: string, options: DriveOptions): Promise<Driver> {
  const driver = await loadDriver(ports, session, options);
  await finishErasures(driver);
  return driver;
}
