import { join } from "node:path";
import type { ThreadEvent, ThreadOptions } from "@openai/codex-sdk";
import { expect, test } from "vitest";
import type { Script } from "../e2e/model-server.ts";
import { processesWith, until } from "../e2e/run.ts";
import { assertThreadEvent } from "./events.ts";
import { codexFor, run, setUp, writes } from "./program.ts";

test("an abort ends the run and its commands, and the thread can go on at once", async () => {
  const marker = `codex-abort-${process.pid}`;
  const { place, thread } = await setUp((results) =>
    results.length === 0 ? { calls: [run(`exec -a ${marker} sleep 300`)] } : { text: "Gone on." },
  );
  const controller = new AbortController();
  const { events } = await thread.runStreamed("wait", { signal: controller.signal });
  const reading = (async () => {
    for await (const event of events) assertThreadEvent(event);
  })();
  const failed = reading.catch((error: unknown) => error);
  await until(() => processesWith(marker).length > 0, "the command runs");
  controller.abort();
  expect(await failed).toMatchObject({ name: "AbortError" });
  expect((await thread.run("go on")).finalResponse).toBe("Gone on.");
  await until(() => processesWith(marker).length === 0, "the command has ended");
  await until(() => processesWith(place.workspace).length === 0, "both runs have ended");
  expect(JSON.stringify(place.server.requests.at(-1))).toContain("stopped before it finished");
});

test("a program that reads no further ends the run, however much is unread", async () => {
  const marker = `codex-unread-${process.pid}`;
  const { place, thread } = await setUp(() => ({ text: "long ".repeat(400_000), calls: [run(`exec -a ${marker} sleep 300`)] }));
  for await (const event of (await thread.runStreamed("go")).events) {
    if (event.type !== "turn.started") continue;
    await until(() => processesWith(marker).length > 0, "the command runs");
    break;
  }
  await until(() => processesWith(place.workspace).length === 0, "the run has ended");
  expect(processesWith(marker)).toEqual([]);
});

test("a turn that fails rejects run with why, and ends the stream with turn.failed before it throws; the thread can go on", async () => {
  const { thread } = await setUp((results) =>
    results.length === 0 ? { calls: [{ name: "give_up", input: { reason: "there is no such bug" } }] } : { text: "Here it is." },
  );
  const seen: ThreadEvent[] = [];
  const streaming = (async () => {
    for await (const event of (await thread.runStreamed("fix it")).events) seen.push(event);
  })();
  await expect(streaming).rejects.toThrow("exited with code 1");
  expect(seen.at(-1)).toMatchObject({ type: "turn.failed", error: { message: expect.stringContaining("there is no such bug") } });
  expect((await thread.run("look again")).finalResponse).toBe("Here it is.");
  const other = await setUp(() => ({ calls: [{ name: "give_up", input: { reason: "no way" } }] }));
  await expect(other.thread.run("fix it")).rejects.toThrow("no way");
});

test("what needs a person is refused under approvalPolicy never, and waits under on-request until it is answered", async () => {
  const script: Script = (results) => (results.length === 0 ? { calls: [run("git push origin main")] } : { text: "Not pushed." });
  const never = await setUp(script, { approvalPolicy: "never" });
  const turn = await never.thread.run("push");
  expect(turn.finalResponse).toBe("Not pushed.");
  expect(turn.items[0]).toMatchObject({ type: "command_execution", status: "failed" });

  const asks = await setUp(script, { approvalPolicy: "on-request" });
  await expect(asks.thread.run("push")).rejects.toThrow(/waits for the answer to apr_/);
  const { stdout } = await asks.place.start(["approvals"]).finished;
  const id = /apr_[0-9a-z]+/.exec(stdout)?.[0] ?? "";
  expect((await asks.place.start(["approvals", "answer", id, "deny"]).finished).code).toBe(0);
  expect((await asks.thread.run("well?")).finalResponse).toBe("Not pushed.");
});

test("Holdfast's own config keys pass: a check holds the turn to what it claims", async () => {
  const { thread } = await setUp(() => ({ text: "All done." }), {}, { config: { checks: { commands: ["test -e done.txt"] } } });
  await expect(thread.run("do it")).rejects.toThrow("test -e done.txt");
});

test("what can't be used is an error that says so", async () => {
  const { codex, place } = await setUp(() => ({ text: "Hi." }));
  const start = (options: ThreadOptions) => codex.startThread({ ...writes, workingDirectory: place.workspace, ...options });
  await expect(start({ workingDirectory: join(place.home, "none") }).run("hi")).rejects.toThrow("there is no folder");
  await expect(start({ model: "nowhere/gpt" }).run("hi")).rejects.toThrow("unknown provider");
  await expect(codex.resumeThread("ses_unknown").run("hi")).rejects.toThrow("there is no session");
  const strict = codexFor(place, { config: { permissions: { fs: { deny: ["/"] } } } });
  await expect(strict.startThread(writes).run("hi")).rejects.toThrow("permissions.fs.deny");
  expect(place.server.requests).toEqual([]);
});
