/** Replays the recorded logs on the Node that runs this. Exit status 1 where a digest is not the recorded one. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedLog } from "../packages/browser/test/replay-logs.ts";
import { expectedOf, replayLogs } from "../packages/browser/test/replay-logs.ts";

const file = join(import.meta.dirname, "../packages/browser/test/fixtures/logs-1.json");
const logs = JSON.parse(readFileSync(file, "utf8")) as RecordedLog[];
const wanted = expectedOf(logs);
const others = (await replayLogs(logs)).filter((one, index) => JSON.stringify(one) !== JSON.stringify(wanted[index]));
for (const one of others) console.log(`✗ ${one.session}: ${one.departure ?? `digest ${one.digest}`}`);
console.log(`Node ${process.versions.node}: ${logs.length - others.length} of ${logs.length} logs replay equal`);
process.exitCode = others.length > 0 ? 1 : 0;
