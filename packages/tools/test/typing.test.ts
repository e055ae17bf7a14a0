import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcesses } from "@holdfast/node/processes/index";
import type { Json } from "@holdfast/protocol/json";
import type { Processes } from "@holdfast/runtime/ports/processes";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workbench, type Workbench } from "./workbench.ts";

let base: string;
let home: string;
let processes: Processes;
let at: Workbench;

/** A session whose commands run sandboxed or not, with its folders outside of what a sandbox replaces. */
async function begin(sandbox: "off" | "workspace-write"): Promise<void> {
  processes = createProcesses({ home });
  at = await workbench({ processes, sandbox });
}
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "holdfast-typing-"));
  home = join(base, "home");
  mkdirSync(home);
});
afterEach(async () => {
  await processes.endSession("session_1", { forget: true });
  await at.close();
  rmSync(base, { recursive: true, force: true });
});

const run = (command: string, more: { [key: string]: Json } = {}) => at.call("run_command", { command, ...more });
const type = (handle: string, input: string, more: { [key: string]: Json } = {}) => at.call("write_input", { handle, input, ...more });

describe.each(["off", "workspace-write"] as const)("a program that is typed to, sandbox %s", (sandbox) => {
  beforeEach(() => begin(sandbox));

  test("knows that it has one, and its size", async () => {
    const outcome = await run("[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && tty && stty size && echo $TERM", { tty: true });
    expect(outcome.text).toMatch(/^exit code 0\n\/dev\/pts\/\d+\n40 120\nxterm-256color\n$/);
    expect(outcome).toMatchObject({ status: "completed", exitCode: 0 });
  });

  test("is ended with all it started, by its time limit", async () => {
    const outcome = await run("export MARK=terminal-marker; setsid sleep 300 & echo up; sleep 300", {
      tty: true,
      timeout_s: 1,
      yield_s: 20,
    });
    expect(outcome).toMatchObject({ timedOut: true, text: expect.stringMatching(/^timed out after 1 s and was ended\nup\n/) as string });
    expect(alive("MARK=terminal-marker")).toEqual([]);
  });

  test("a resumed session goes on typing to it", async () => {
    const { task } = await run("read name; echo hello $name; read more; echo $more", { tty: true, yield_s: 0 });
    const next = createProcesses({ home });
    const bench = await workbench({ processes: next, sandbox });
    bench.tasks.set(task!.id, task!);
    expect((await bench.call("write_input", { handle: task!.id, input: "ana\n" })).text).toMatch(/^still running\nana\nhello ana\n/);
    expect(await bench.call("write_input", { handle: task!.id, input: "bye\n" })).toMatchObject({ exitCode: 0 });
    await bench.close();
  });

  test("has no terminal, reads what is typed, and ends when its input does", async () => {
    const { task, text } = await run("[ -t 0 ] || echo no terminal; cat; echo end", { stdin: true });
    expect(text).toContain("no terminal\n");
    expect((await type(task!.id, "one\n")).text).toBe("still running\none\n");
    const closed = await type(task!.id, "two", { close: true });
    expect(closed).toMatchObject({ text: "exit code 0\ntwoend\n", exitCode: 0, endedTask: task!.id });
  });
});

describe("in the sandbox, a program that is typed to", () => {
  beforeEach(() => begin("workspace-write"));

  test("its exit code is told, with quotes in the line left as they were", async () => {
    expect(await run(`echo "it's" '"so"' \\$x; exit 7`, { tty: true })).toMatchObject({ text: `exit code 7\nit's "so" $x\n`, exitCode: 7 });
  });

  test("is typed to, each answer shows what is new, and it ends", async () => {
    const begun = await run("python3 -q", { tty: true });
    expect(begun.text).toMatch(/^still running; type with write_input call_1\.1;.*\n>>> $/s);
    expect(begun.task).toMatchObject({ id: "call_1.1", command: "python3 -q" });
    const answer = await type("call_1.1", "x = 6 * 7\nprint('answer', x)\n");
    expect(answer).toMatchObject({ status: "completed", text: expect.stringMatching(/^still running\n.*answer 42\n>>> ?$/s) as string });
    expect((await type("call_1.1", "1/0\n")).text).not.toContain("answer 42");
    expect((await type("call_1.1", "", { close: true })).text).toMatch(/^exit code 0\n/);
    expect(at.tasks.size).toBe(0);
  });

  test("a key interrupts it", async () => {
    const { task } = await run("trap 'echo caught; exit 3' INT; echo up; while :; do sleep 0.1; done", { tty: true });
    expect(await type(task!.id, "\u0003")).toMatchObject({
      text: expect.stringContaining("caught") as string,
      exitCode: 3,
      endedTask: task!.id,
    });
  });

  test("stands still while it is paused, and takes what was typed meanwhile when it goes on", async () => {
    const { task } = await run("echo up; while read x; do echo got $x; done", { tty: true });
    await processes.pause(task!.ref, true);
    expect((await type(task!.id, "one\n", { yield_s: 1 })).text).not.toContain("got");
    await processes.pause(task!.ref, false);
    expect((await type(task!.id, "two\n")).text).toMatch(/got one\n(.*\n)?got two\n/);
    expect((await type(task!.id, "", { close: true })).exitCode).toBe(0);
  });

  test("what overwrites itself is shown as it stood at the end", async () => {
    const { text } = await run("for i in 10 50 100; do printf '\\r\\033[K%s%%' $i; done; printf '\\n\\033[32mdone\\033[0m\\n'", {
      tty: true,
    });
    expect(text).toBe("exit code 0\n100%\ndone\n");
  });

  test("its records are out of reach through what it reads", async () => {
    const { text } = await run("ls $(dirname $(readlink /proc/self/fd/0))", { stdin: true });
    expect(text).toMatch(/^exit code 2\n[^]*ls: .*No such file/);
  });
});

describe("what can't be typed to", () => {
  beforeEach(() => begin("off"));

  test("is told: a handle that is none, a command without an input, one that has ended", async () => {
    expect((await type("nothing", "x")).text).toContain("not a handle");
    expect((await type("call_9.1", "x")).text).toContain("No command of this session runs");
    const { task } = await run("sleep 300", { yield_s: 0 });
    expect(await type(task!.id, "x")).toMatchObject({ status: "denied", text: expect.stringContaining("without an input") as string });
    const ended = await run("read x", { stdin: true, yield_s: 0 });
    await type(ended.task!.id, "", { close: true });
    expect((await type(ended.task!.id, "x")).status).toBe("denied");
  });

  test("what it doesn't read is told", async () => {
    const { task } = await run("sleep 300", { stdin: true, yield_s: 0 });
    for (let round = 0; round < 3; round += 1) await processes.write(task!.ref, new Uint8Array(20_000));
    const outcome = await type(task!.id, "x".repeat(20_000), { yield_s: 0 });
    expect(outcome).toMatchObject({ status: "failed", text: expect.stringMatching(/^It doesn't read: \d+ of 20000 bytes/) as string });
  });

  test("typing is never repeated, looking may be", async () => {
    const { task } = await run("cat", { stdin: true, yield_s: 0 });
    const tool = at.tool("write_input");
    const handle = task!.id;
    expect(await tool.plan({ handle, input: "x\n" }, at.context)).toMatchObject({
      replay: "never",
      changesWorkspace: true,
      writes: [`output:${handle}`],
      typed: { command: "cat", text: "x\n" },
    });
    expect(await tool.plan({ handle }, at.context)).toMatchObject({ replay: "safe", changesWorkspace: false, writes: [] });
    expect((await at.call("write_input", { handle, yield_s: 0 })).text).toBe("still running\nno new output");
  });
});

/** Processes whose environment holds the marker. */
function alive(marker: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, "latin1").includes(marker);
    } catch {
      return false;
    }
  });
}
