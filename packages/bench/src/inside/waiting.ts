/**
 * Sessions that wait, in this process: `node waiting.ts FOLDER SESSIONS`. Prints a JSON line: how many a second are found
 * due and handed to a worker, how many rings a second reach a listening driver, and what waiting holds meanwhile.
 */
import { join } from "node:path";
import { clock } from "@holdfast/node/host/clock";
import { createWakeups } from "@holdfast/node/host/wakeups";
import { isAlive } from "@holdfast/node/processes/identity";
import { dueSessions } from "@holdfast/runtime";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { usualCommit } from "../store-layout/layouts.ts";

const [, , folder = "", sessions = "0"] = process.argv;
const count = Number(sessions);
const log = openSqliteLog({ path: join(folder, "sessions.db"), durability: "normal" });
const ofOne = (n: number) => ({ ...usualCommit(`session-${n}`, 0), status: "waiting" as const, wakeAt: 1 });
const handlesBefore = process.getActiveResourcesInfo().length;
for (let n = 0; n < count; n += 1) await log.commit(ofOne(n));
const handles = process.getActiveResourcesInfo().length - handlesBefore;

const handed = new Set<string>();
const wakeups = createWakeups(null);
const begun = performance.now();
await wakeups.serve({
  due: async () =>
    (handed.size === count ? [] : await dueSessions({ log, clock, processes: { isAlive } })).filter((one) => !handed.has(one)),
  work: async (session) => void handed.add(session),
  atOnce: count,
  untilIdle: true,
  signal: new AbortController().signal,
});
const handedPerSecond = (handed.size / (performance.now() - begun)) * 1_000;

const rings = 20_000;
const never = new AbortController().signal;
const rung = performance.now();
for (let n = 0; n < rings; n += 1) {
  const heard = wakeups.listen("session-0", never);
  wakeups.ring("session-0");
  await heard;
}
const ringsPerSecond = (rings / (performance.now() - rung)) * 1_000;
await log.close();
process.stdout.write(`${JSON.stringify({ handed: handed.size, handedPerSecond, ringsPerSecond, handles })}\n`);
