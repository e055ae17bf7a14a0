import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcesses } from "@holdfast/node/processes/index";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Json } from "@holdfast/protocol/json";
import type { Processes } from "@holdfast/runtime/ports/processes";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { workbench, type Workbench } from "./workbench.ts";

let home: string;
let processes: Processes;
let at: Workbench;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-home-"));
  processes = createProcesses({ home });
  at = await workbench({ processes });
});
afterEach(async () => {
  await processes.endSession("session_1", { forget: true });
  await at.close();
  rmSync(home, { recursive: true, force: true });
});

const run = (command: string, more: { [key: string]: Json } = {}, signal?: AbortSignal) =>
  at.call("run_command", { command, ...more }, signal);
const read = (input: { [key: string]: Json }) => at.call("read_output", input);

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

describe("how a command ended", () => {
  test("output and exit code are told, errors too", async () => {
    expect(await run("echo out; echo err >&2; exit 3")).toMatchObject({
      status: "failed",
      text: "exit code 3\nout\nerr\n",
      exitCode: 3,
      signal: null,
      timedOut: false,
    });
    expect(await run("echo fine")).toMatchObject({ status: "completed", text: "exit code 0\nfine\n", exitCode: 0 });
  });

  test("no output is said, for any number of commands at once", async () => {
    expect((await run("true")).text).toBe("exit code 0\nno output");
    expect((await run("grep -q nope /etc/hosts")).text).toBe("exit code 1\nno output");
    const many = await Promise.all(Array.from({ length: 12 }, (_, index) => run(index % 2 === 0 ? "true" : "false")));
    expect(many.map((outcome) => outcome.exitCode)).toEqual(many.map((_, index) => index % 2));
  });

  test("an expected exit code is no failure", async () => {
    const outcome = await run("exit 3", { expect: { exit_code: 3 } });
    expect(outcome.status).toBe("completed");
    const plan = await at.tool("run_command").plan({ command: "x", expect: { exit_code: "3", output_contains: "y" } }, at.context);
    expect(plan).toMatchObject({ expect: { exitCode: 3, outputContains: "y" } });
  });

  test("a signal is told apart from an exit code", async () => {
    expect(await run("kill -SEGV $$")).toMatchObject({
      status: "failed",
      exitCode: null,
      signal: "SIGSEGV",
      text: expect.stringContaining("killed by SIGSEGV") as string,
    });
  });

  test("a timeout keeps what was printed and leaves nothing running", async () => {
    const outcome = await run(
      "export MARK=timeout-marker-1; echo step1; echo step2 >&2; bash -c 'trap \"\" TERM; sleep 1000' & sleep 1000",
      { timeout_s: 1 },
    );
    expect(outcome).toMatchObject({ status: "failed", timedOut: true });
    expect(outcome.text).toMatch(/^timed out after 1 s and was ended\nstep1\nstep2\n/);
    expect(alive("MARK=timeout-marker-1")).toEqual([]);
  });

  test("an interrupt ends the whole tree and keeps what was printed", async () => {
    const stop = new AbortController();
    const running = run("export MARK=interrupt-marker-1; echo begun; sleep 1000 & sleep 1000", {}, stop.signal);
    while (!at.live.join("").includes("begun")) await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    expect(await running).toMatchObject({ status: "interrupted", text: "stopped before it finished\nbegun\n" });
    expect(alive("MARK=interrupt-marker-1")).toEqual([]);
    expect((await run("echo x", {}, AbortSignal.abort())).text).toContain("before the command was started");
  });

  test("a chatty background process does not hold the result", async () => {
    const outcome = await run("(while :; do echo tick; sleep 0.1; done) & sleep 0.4; echo fg-done");
    expect(outcome).toMatchObject({ status: "completed", exitCode: 0 });
    expect(outcome.text).toContain("fg-done");
    expect((await run("echo next")).text).toBe("exit code 0\nnext\n");
  });
});

describe("output", () => {
  test("a character that comes in pieces is whole in the result and in the live pieces", async () => {
    const outcome = await run("printf '\\xe4'; sleep 0.3; printf '\\xbd\\xa0\\n'; echo end");
    expect(outcome.text).toBe("exit code 0\n\u4f60\nend\n");
    expect(at.live.join("")).toBe("\u4f60\nend\n");
  });

  test("a long output is cut between characters, and the rest can be read", async () => {
    const outcome = await run(`node -e 'process.stdout.write("\u4f60".repeat(50000))'`);
    expect(outcome.text).not.toContain("\ufffd");
    expect(outcome.text).not.toContain("\\x");
    expect(outcome.text).toMatch(/\[\d+ bytes left out; read_output call_1\.1\]/);
    expect(at.live.join("")).toBe("\u4f60".repeat(50000));
    const part = await read({ handle: outcome.output!, offset: 60_000 });
    expect(part.text).toMatch(/^exit code 0\n\[bytes 60000 to \d+ of 150000\]\n\u4f60+$/);
  });

  test("the beginning, the end and the exit code of a long output are kept", async () => {
    const outcome = await run("for i in $(seq 20000); do echo line $i; done; echo SUMMARY-FAIL; exit 3");
    expect(outcome.exitCode).toBe(3);
    expect(outcome.text).toMatch(/^exit code 3\nline 1\nline 2\n/);
    expect(outcome.text).toContain("SUMMARY-FAIL");
    expect(outcome.text.length).toBeLessThan(17_000);
    const size = Number(/of (\d+)\]/.exec((await read({ handle: outcome.output!, offset: 10 })).text)![1]);
    const found = await read({ handle: outcome.output!, search: "line 12345" });
    const [, offset] = /(\d+): line 12345/.exec(found.text)!;
    expect((await read({ handle: outcome.output!, offset: Number(offset) })).text).toContain("]\nline 12345\nline 12346\n");
    expect((await read({ handle: outcome.output! })).text).toContain(`of ${size}]`);
    expect((await read({ handle: outcome.output!, search: "line 1" })).text).toMatch(/more matches; go on with offset \d+/);
    expect((await read({ handle: outcome.output!, search: "absent" })).text).toContain("No line contains it");
  });

  test("bytes that are no text are shown and break nothing", async () => {
    const outcome = await run("printf 'ok \\xff\\xfe end\\n'; printf '\\x00\\x01\\t.'; exit 2");
    expect(outcome).toMatchObject({ exitCode: 2, text: "exit code 2\nok \\xff\\xfe end\n\\x00\\x01\t." });
  });

  test("terminal sequences go, carriage returns become lines", async () => {
    const outcome = await run("printf '\\033[1;31mred\\033[0m \\033]0;title\\007done\\r\\n10%%\\r20%%\\r\\n'");
    expect(outcome.text).toBe("exit code 0\nred done\n10%\n20%\n");
  });
});

describe("where it runs", () => {
  test("in the session's folder or the one that is named", async () => {
    mkdirSync(join(at.root, "sub"));
    expect((await run("pwd")).text).toBe(`exit code 0\n${at.root}\n`);
    expect((await run("pwd", { cwd: "sub" })).text).toBe(`exit code 0\n${join(at.root, "sub")}\n`);
    expect(await run("pwd", { cwd: "none" })).toMatchObject({
      status: "denied",
      text: expect.stringContaining("none is not a folder") as string,
    });
  });

  test("in the root, and it says so, where the session's folder is gone", async () => {
    const gone = join(at.root, "t");
    const bench = await workbench({ processes, cwd: gone });
    const outcome = await bench.call("run_command", { command: "echo alive" });
    expect(outcome.text).toBe(`exit code 0\nThe working folder ${gone} no longer exists; this ran in ${bench.root}.\nalive\n`);
    expect((await bench.call("run_command", { command: "cd / && pwd" })).text).toContain("/\n");
    await bench.close();
  });

  test("a folder that goes between intent and run is told, and no shell is blamed", async () => {
    mkdirSync(join(at.root, "t"));
    const intent = await at.intend("run_command", { command: "echo x", cwd: "t" });
    rmSync(join(at.root, "t"), { recursive: true });
    const outcome = await at.tool("run_command").run(intent, at.context, new AbortController().signal);
    expect(outcome.status).toBe("failed");
    expect(outcome.text).toContain("not started");
    expect(outcome.text).toContain(join(at.root, "t"));
  });
});

describe("a command that goes on", () => {
  test("is given back with a handle, followed, searched and stopped", async () => {
    const outcome = await run("echo listening; while :; do sleep 0.1; echo tick; done", { yield_s: 0 });
    expect(outcome).toMatchObject({ status: "completed", task: { id: "call_1.1", callId: "call_1", kind: "command" } });
    expect(outcome.text).toMatch(/^still running after 0 s; follow or stop it with read_output call_1\.1/);
    const waited = await read({ handle: "call_1.1", wait_s: 1, search: "listening" });
    expect(waited).toMatchObject({ status: "completed", text: "still running\n0: listening" });
    expect(waited.endedTask).toBeUndefined();
    const stopped = await read({ handle: "call_1.1", stop: true });
    expect(stopped).toMatchObject({
      endedTask: "call_1.1",
      text: expect.stringMatching(/^stopped before it finished\nlistening\ntick/) as string,
    });
    expect((await read({ handle: "call_1.1" })).endedTask).toBeUndefined();
  });

  test("its end is waited for", async () => {
    const { task } = await run("sleep 0.5; echo done; exit 4", { yield_s: 0 });
    expect(await read({ handle: task!.id, wait_s: 20 })).toMatchObject({ text: "exit code 4\ndone\n", exitCode: 4, endedTask: task!.id });
  });

  test("an interrupt of the waiting leaves it running", async () => {
    const { task } = await run("sleep 1000", { yield_s: 0 });
    const outcome = await at.call("read_output", { handle: task!.id, wait_s: 60 }, AbortSignal.abort());
    expect(outcome).toMatchObject({ status: "interrupted", text: "still running\nno output" });
    expect((await processes.record("session_1", "call_1", 1)).type).toBe("running");
  });

  test("a handle that is none, or of another session, is told", async () => {
    expect((await read({ handle: "../../etc/passwd" })).text).toContain("not a handle");
    expect((await read({ handle: "call_77.1" })).text).toContain("No command of this session");
  });
});

describe("after a crash", () => {
  test("a command that was never started has not happened, and can't start under the old attempt", async () => {
    const intent = await at.intend("run_command", { command: "touch ran" });
    expect(await at.tool("run_command").probe!(intent, at.context)).toEqual({ type: "not_happened" });
    await expect(at.tool("run_command").run(intent, at.context, new AbortController().signal)).rejects.toMatchObject({
      code: "claim_lost",
    });
    expect(await at.content("ran")).toBeNull();
  });

  test("one that has ended has happened, with its output", async () => {
    const intent = await at.intend("run_command", { command: "echo once; exit 5" });
    const outcome = await at.tool("run_command").run(intent, at.context, new AbortController().signal);
    expect(await at.tool("run_command").probe!(intent, at.context)).toEqual({ type: "happened", outcome });
  });

  test("a driver that lets go leaves it running, and the next one follows it", async () => {
    const letGo = new AbortController();
    const intent = await at.intend("run_command", { command: "echo begun; sleep 0.5; echo ended" });
    const running = at.tool("run_command").run(intent, at.context, letGo.signal);
    while (!at.live.join("").includes("begun")) await new Promise((resolve) => setTimeout(resolve, 20));
    letGo.abort(new HoldfastError("stale_driver", "the driver stopped"));
    await expect(running).rejects.toMatchObject({ code: "stale_driver" });
    const outcome = await at.tool("run_command").attach!(intent, at.context, new AbortController().signal);
    expect(outcome).toMatchObject({ status: "completed", text: "exit code 0\nbegun\nended\n" });
  });

  test("one of which a restarted machine has no record is in doubt, however often it is asked", async () => {
    const intent = await at.intend("run_command", { command: "touch ran" });
    const earlier = { ...intent, prepared: { ...(intent.prepared as object), bootId: "another boot" } };
    for (let time = 0; time < 2; time += 1) {
      expect(await at.tool("run_command").probe!(earlier, at.context)).toMatchObject({
        type: "unknown",
        look: expect.stringContaining("touch ran") as string,
      });
    }
  });

  test("one that runs is followed to its end", async () => {
    const intent = await at.intend("run_command", { command: "echo a; sleep 0.5; echo b" });
    const { callId, plan } = intent;
    await processes.start({
      session: "session_1",
      id: callId,
      attempt: 1,
      command: plan.command!,
      cwd: plan.cwd!,
      timeoutMs: 60_000,
      outputCap: 1_000_000,
      confinement: at.context.confinement,
      env: {},
    });
    const next = createProcesses({ home });
    const bench = await workbench({ processes: next });
    expect(await bench.tool("run_command").probe!(intent, bench.context)).toEqual({ type: "running" });
    const outcome = await bench.tool("run_command").attach!(intent, bench.context, new AbortController().signal);
    expect(outcome).toMatchObject({ status: "completed", text: "exit code 0\na\nb\n" });
    expect(bench.live.join("")).toBe("a\nb\n");
    await bench.close();
  });
});
