/** Commits to a session until it is killed, and names each commit that was acknowledged: `keep-committing FILE SESSION`. */
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { writeSync } from "node:fs";
import { commitOf } from "../sample.ts";

const [path = "", session = ""] = process.argv.slice(2);
const log = openSqliteLog(path);
let seq = (await log.load(session))?.row.seq ?? 0;
for (;;) {
  const messageId = `message ${seq + 2}`;
  await log.commit(
    commitOf(session, seq, {
      count: 2,
      registers: [{ kind: "counter", key: "seq", value: String(seq + 2) }],
      outbox: [{ messageId, to: "other", body: "" }],
    }),
  );
  seq += 2;
  writeSync(1, `${seq}\n`);
}
