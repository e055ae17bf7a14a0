/**
 * Works on one file beside others like it: `contend FILE NAME ROUNDS JOURNAL`. Each round commits to the shared session
 * and to its own, posts a message, and notes in the journal when it holds the lock. Prints the numbers of its messages.
 */
import { isHoldfastError } from "@holdfast/protocol";
import { openSqliteLog } from "@holdfast/stores/sqlite";
import { appendFileSync } from "node:fs";
import { commitOf, owner } from "../sample.ts";

const [path = "", name = "", rounds = "", journal = ""] = process.argv.slice(2);
const log = openSqliteLog(path);
const self = owner(process.pid);
const numbers: number[] = [];

async function commitNext(session: string): Promise<void> {
  for (;;) {
    const seq = (await log.load(session))?.row.seq ?? 0;
    try {
      await log.commit(commitOf(session, seq, { registers: [{ kind: "by", key: String(seq + 1), value: name }] }));
      return;
    } catch (error) {
      if (!isHoldfastError(error, "stale_driver")) throw error;
    }
  }
}

async function withLock(body: () => void): Promise<void> {
  while (!(await log.lock("one at a time", self, () => true)).held) await new Promise((resolve) => setTimeout(resolve, 1));
  body();
  await log.unlock("one at a time", self);
}

for (let round = 0; round < Number(rounds); round++) {
  await commitNext("shared");
  await commitNext(name);
  numbers.push((await log.post("shared", { messageId: `${name} ${round}`, body: "", at: round })) ?? 0);
  await withLock(() => {
    appendFileSync(journal, `${name} in\n`);
    appendFileSync(journal, `${name} out\n`);
  });
}
await log.close();
process.stdout.write(JSON.stringify(numbers));
