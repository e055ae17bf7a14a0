import { openSqliteLog } from "@holdfast/stores/sqlite";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { temporaryFolder } from "./folder.ts";
import { commitOf, owner } from "./sample.ts";

const run = promisify(execFile);
const contend = fileURLToPath(new URL("./children/contend.ts", import.meta.url));
const keepCommitting = fileURLToPath(new URL("./children/keep-committing.ts", import.meta.url));
const takeLock = fileURLToPath(new URL("./children/take-lock.ts", import.meta.url));

let folder: string;
let dispose: () => Promise<void>;
beforeEach(() => {
  ({ folder, dispose } = temporaryFolder());
});
afterEach(() => dispose());

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it("processes that make and write one file at once lose nothing and exclude each other", { timeout: 60_000 }, async () => {
  const path = join(folder, "store", "sessions.db");
  const journal = join(folder, "journal");
  const names = ["a", "b", "c"];
  const rounds = 25;
  const outputs = await Promise.all(names.map((name) => run(process.execPath, [contend, path, name, String(rounds), journal])));

  const log = openSqliteLog(path);
  const all = names.length * rounds;
  const shared = await log.load("shared");
  expect(shared?.row.seq).toBe(all);
  expect((await log.read("shared", 1)).map((event) => event.seq)).toEqual(Array.from({ length: all }, (_, index) => index + 1));
  for (const name of names) {
    expect((await log.load(name))?.row.seq).toBe(rounds);
    expect(shared?.registers.filter((register) => register.value === name)).toHaveLength(rounds);
  }

  const numbers = outputs.flatMap(({ stdout }) => JSON.parse(stdout) as number[]);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: all }, (_, index) => index + 1));
  expect(await log.inbox("shared")).toHaveLength(all);

  const lines = readFileSync(journal, "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(2 * all);
  for (let index = 0; index < lines.length; index += 2) {
    expect(lines[index + 1]).toBe(lines[index]?.replace(" in", " out"));
  }
  expect(await log.holder("one at a time")).toBeNull();
  await log.close();
});

it("a file opened twice in one process keeps what it writes when another process opens and closes it", async () => {
  const path = join(folder, "sessions.db");
  const elsewhere = (name: string) => run(process.execPath, [contend, path, name, "1", join(folder, "journal")]);
  const log = openSqliteLog(path);
  await log.commit(commitOf("s", 0));
  const twin = openSqliteLog(path);
  await elsewhere("a");
  await log.commit(commitOf("s", 1));
  await twin.close();
  await elsewhere("b");
  await log.commit(commitOf("s", 2));
  await elsewhere("c");
  await log.close();
  const again = openSqliteLog(path);
  expect((await again.load("s"))?.row.seq).toBe(3);
  expect((await again.load("shared"))?.row.seq).toBe(3);
  await again.close();
});

it("every commit acknowledged before a kill is there, whole, and none by half", { timeout: 60_000 }, async () => {
  const path = join(folder, "sessions.db");
  let acknowledged = 0;
  for (const lines of [1, 7, 40, 150]) {
    const writer = spawn(process.execPath, [keepCommitting, path, "s"], { stdio: ["ignore", "pipe", "inherit"] });
    let seen = 0;
    for await (const line of createInterface({ input: writer.stdout })) {
      acknowledged = Number(line);
      seen += 1;
      if (seen === lines) writer.kill("SIGKILL");
    }
    expect(seen).toBeGreaterThanOrEqual(lines);

    const log = openSqliteLog(path);
    const state = await log.load("s");
    const seq = state?.row.seq ?? 0;
    expect(seq).toBeGreaterThanOrEqual(acknowledged);
    expect(seq % 2).toBe(0);
    expect(state?.head).toBe(`{"seq":${seq}}`);
    expect(state?.registers).toMatchObject([{ value: String(seq) }]);
    expect((await log.read("s", 1)).map((event) => event.seq)).toEqual(Array.from({ length: seq }, (_, index) => index + 1));
    expect(await log.takeOutbox(1e6)).toHaveLength(seq / 2);
    await log.close();
  }
});

it("a lock outlives its killed holder until somebody asks, and then goes to one of those who ask", async () => {
  const path = join(folder, "sessions.db");
  const log = openSqliteLog(path);
  const holder = spawn(process.execPath, [takeLock, path, "workspace"], { stdio: ["ignore", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  const pid = holder.pid ?? 0;
  const isAlive = ({ pid: asked }: { readonly pid: number }) => isRunning(asked);
  expect(await log.lock("workspace", owner(process.pid), isAlive)).toMatchObject({ held: false, holder: { pid } });

  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect(await log.holder("workspace")).toMatchObject({ pid });
  const other = openSqliteLog(path);
  const results = await Promise.all([
    log.lock("workspace", owner(process.pid, { startTime: "1" }), (asked) => asked.startTime === "1" || isAlive(asked)),
    other.lock("workspace", owner(process.pid, { startTime: "2" }), (asked) => asked.startTime === "1" || isAlive(asked)),
  ]);
  expect(results.map((result) => result.held)).toEqual([true, false]);
  await log.close();
  await other.close();
});
