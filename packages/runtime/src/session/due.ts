import type { Ports } from "../ports/index.ts";

/** How many messages that wait are looked at; others come when these are sent. */
const mostUntold = 1_000;

/**
 * Sessions that should be driven and aren't: what they waited for is due (a deadline, an answer, text), or the process that
 * drove them has died, also before it had told others what it had to. The longest unchanged first, those at last.
 */
export async function dueSessions({
  log,
  processes,
  clock,
}: Pick<Ports, "clock" | "log"> & { readonly processes: Pick<Ports["processes"], "isAlive"> }): Promise<string[]> {
  const rows = [...(await log.list({ wakeBefore: clock.now() })), ...(await log.list({ status: "running" }))];
  const untold = (await log.takeOutbox(mostUntold)).map((row) => row.session);
  const due: string[] = [];
  for (const session of new Set([...rows.toSorted((a, b) => a.updatedAt - b.updatedAt).map((row) => row.session), ...untold])) {
    const holder = await log.holder(`session:${session}`);
    if (holder === null || !processes.isAlive(holder)) due.push(session);
  }
  return due;
}
