import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPlace, processesWith, until } from "./run.ts";

const run = (command: string, more: object = {}) => ({ name: "run_command", input: { command, ...more } });

test("a command whose driver was killed keeps the workspace until it ends: another session's waits for it", async () => {
  const place = await createPlace((results) =>
    results.length < 1 ? { calls: [run("echo begin >> ledger; sleep 2; echo end >> ledger")] } : { text: "Done." },
  );
  const ledger = join(place.workspace, "ledger");
  const killed = place.start(["exec", "go"]);
  await until(() => existsSync(ledger), "the first command has begun");
  killed.child.kill("SIGKILL");
  expect((await place.exec("go")).code).toBe(0);
  expect(readFileSync(ledger, "utf8")).toBe("begin\nend\nbegin\nend\n");
});

test("a command that outlived its driver and yields gives the workspace back: the next one doesn't wait for its end", async () => {
  const place = await createPlace((results) => {
    if (results.length === 0) return { calls: [run("touch up; sleep 300", { yield_s: 2 })] };
    return results.length === 1 ? { calls: [run("touch second")] } : { text: "Done." };
  });
  const killed = place.start(["exec", "go"]);
  await until(() => existsSync(join(place.workspace, "up")), "the command has begun");
  killed.child.kill("SIGKILL");
  expect((await place.exec("resume", "--last")).code).toBe(0);
  expect(existsSync(join(place.workspace, "second"))).toBe(true);
  await until(() => processesWith(place.marker).length === 0, "nothing is left");
});
