/**
 * Replays the recorded logs on the Node that runs this. Exit status 1 where a digest is not the recorded one. After a change of
 * what the state holds that was meant, `--record` writes down the new digests; a departure is never recorded.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedLog } from "../packages/browser/test/replay-logs.ts";
import { expectedOf, recordings, replayLogs } from "../packages/browser/test/replay-logs.ts";

for (const name of recordings) {
  const file = join(import.meta.dirname, "../packages/browser/test/fixtures", name);
  const logs = JSON.parse(readFileSync(file, "utf8")) as RecordedLog[];
  const replayed = await replayLogs(logs);
  if (process.argv.includes("--record") && replayed.every(({ departure }) => departure === null)) {
    for (const [index, { digest, bodies }] of replayed.entries()) logs[index] = { ...(logs[index] as RecordedLog), digest, bodies };
    writeFileSync(file, `[\n${logs.map((log) => JSON.stringify(log)).join(",\n")}\n]\n`);
  }
  const wanted = expectedOf(logs);
  const others = replayed.filter((one, index) => JSON.stringify(one) !== JSON.stringify(wanted[index]));
  for (const one of others) console.log(`✗ ${one.session}: ${one.departure ?? `digest ${one.digest}`}`);
  console.log(`Node ${process.versions.node}: ${logs.length - others.length} of ${logs.length} logs of ${name} replay equal`);
  if (others.length > 0) process.exitCode = 1;
}
