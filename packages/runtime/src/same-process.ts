import type { Owner } from "./ports/log.ts";

/** Whether two owners are of one process. Of two containers that began together the first processes differ by their life alone. */
export function isSameProcess(a: Owner, b: Owner): boolean {
  return a.pid === b.pid && a.startTime === b.startTime && a.bootId === b.bootId && a.life === b.life;
}
