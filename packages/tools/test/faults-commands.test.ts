// Fault area 2: what other agents' shell tools did. Each test carries the fault's kind and id, and plays its scenario.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createProcesses } from "@holdfast/node/processes/index";
import type { CallOutcome } from "@holdfast/protocol/call";
import type { Json } from "@holdfast/protocol/json";
import type { Processes } from "@holdfast/runtime/ports/processes";
import { afterAll, describe, expect, test } from "vitest";
import { workbench, type Workbench } from "./workbench.ts";

type Sandbox = "off" | "workspace-write";
const modes: readonly Sandbox[] = ["off", "workspace-write"];

const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

interface Bench {
  readonly at: Workbench;
  run(command: string, more?: { [key: string]: Json }, signal?: AbortSignal): Promise<CallOutcome>;
  read(input: { [key: string]: Json }): Promise<CallOutcome>;
}

/** A session of its own: most of these tests wait, so they do it side by side. */
async function begin(sandbox: Sandbox, options: { readonly cwd?: string; readonly outputCap?: number } = {}): Promise<Bench> {
  const home = mkdtempSync(join(tmpdir(), "holdfast-faults-"));
  const real = createProcesses({ home });
  const { outputCap, cwd } = options;
  const processes: Processes = outputCap === undefined ? real : { ...real, start: (spec) => real.start({ ...spec, outputCap }) };
  const at = await workbench({ processes, sandbox, ...(cwd !== undefined && { cwd }) });
  cleanUps.push(async () => {
    await processes.endSession("session_1", { forget: true });
    await at.close();
    rmSync(home, { recursive: true, force: true });
  });
  return {
    at,
    run: (command, more = {}, signal) => at.call("run_command", { command, ...more }, signal),
    read: (input) => at.call("read_output", input),
  };
}

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

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe.concurrent.each(modes)("a command, sandbox %s", (sandbox) => {
  test.each([false, true])(
    "bg-holder chatty (X02): it returns when its own process ends, and no later tick leaks (terminal: %s)",
    async (tty) => {
      const { run } = await begin(sandbox);
      const command = `export MARK=x02-${sandbox}-${tty}; (while :; do echo tick; sleep 0.1; done) & sleep 1; echo fg-done`;
      const outcome = await run(command, { yield_s: 60, tty });
      expect(outcome).toMatchObject({ status: "completed", exitCode: 0 });
      expect(outcome.text).toContain("fg-done\n");
      expect(alive(`MARK=x02-${sandbox}-${tty}`)).toEqual([]);
      expect((await run("sleep 0.3; echo next")).text).toBe("exit code 0\nnext\n");
    },
  );

  test("utf8-split-across-chunks (X03): text is that of the decoded whole in the result, live, and when it is polled", async () => {
    const { at, run, read } = await begin(sandbox);
    expect((await run("printf '\\xe4'; sleep 0.2; printf '\\xbd\\xa0\\n'")).text).toBe("exit code 0\n你\n");
    expect(at.live.join("")).toBe("你\n");
    at.live.length = 0;
    const many = await run(`python3 -c "import sys; sys.stdout.write('你' * 50000)"`);
    expect(at.live.join("")).toBe("你".repeat(50_000));
    expect(many.text).toMatch(/^exit code 0\n你+\n\[\d+ bytes left out; read_output call_2\.1\]\n你+$/);
    const { task } = await run("printf '\\xe4\\xbd'; sleep 0.6; printf '\\xa0\\n'; sleep 0.6; echo end", { yield_s: 0 });
    const seen = await read({ handle: task!.id, wait_s: 1 });
    expect(seen.text).not.toContain("\ufffd");
    expect((await read({ handle: task!.id, wait_s: 20, offset: 0 })).text).toBe("exit code 0\n你\nend\n");
    expect((await read({ handle: "call_2.1", offset: 31 })).text).toMatch(/\n你+$/);
  });

  test("cap kills process (X12): a long output is no reason to end a command; its start, its end and its status are told", async () => {
    const { run, read } = await begin(sandbox);
    const outcome = await run("for i in $(seq 20000); do echo line $i; done; echo SUMMARY-FAIL; exit 3");
    expect(outcome).toMatchObject({ exitCode: 3, output: "call_1.1" });
    expect(outcome.text).toMatch(/^exit code 3\nline 1\n/);
    expect(outcome.text).toContain("SUMMARY-FAIL\n");
    expect((await read({ handle: "call_1.1", search: "line 10001" })).text).toMatch(/^exit code 3\n\d+: line 10001$/);
  });

  test("invalid-bytes (X17): what can be read is, the rest is shown as bytes", async () => {
    const { run } = await begin(sandbox);
    const outcome = await run("printf 'ok \\xff\\xfe end\\n'; printf '\\x00\\x01'; exit 2");
    expect(outcome).toMatchObject({ exitCode: 2, text: "exit code 2\nok \\xff\\xfe end\n\\x00\\x01" });
    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
  });

  test("empty-output hang (X18): fifty silent commands side by side, and as many in turn, each with its code", async () => {
    const { run } = await begin(sandbox);
    const commands = ["true", "false", "grep -q nope /etc/hosts"];
    const codes = [0, 1, 1];
    const many = await Promise.all(Array.from({ length: 50 }, (_, index) => run(commands[index % 3]!)));
    for (const [index, outcome] of many.entries()) {
      expect(outcome).toMatchObject({ exitCode: codes[index % 3]!, text: `exit code ${codes[index % 3]!}\nno output` });
    }
    for (let index = 0; index < 50; index += 1) expect((await run(commands[index % 3]!)).exitCode).toBe(codes[index % 3]!);
  });

  test.each([false, true])("timeout loses output (X19): what was printed before stays (terminal: %s)", async (tty) => {
    const { run } = await begin(sandbox);
    const outcome = await run("echo step1; echo step2 >&2; sleep 60", { timeout_s: 2, yield_s: 30, tty });
    expect(outcome).toMatchObject({ status: "failed", timedOut: true });
    expect(outcome.text).toMatch(/^timed out after 2 s and was ended\nstep1\nstep2\n/);
  });
});

describe.concurrent.each(modes)("orphan grandchildren after timeout (X14), sandbox %s", (sandbox) => {
  const server = (marker: string) => `export MARK=${marker}; bash -c 'sleep 1000 & python3 -m http.server 8911'`;
  const stubborn = (marker: string) =>
    `export MARK=${marker}; echo up; trap '' TERM HUP INT; setsid sh -c 'trap "" TERM; sleep 1000' & sleep 1000; sleep 1000`;

  test("nothing of the tree is left after a timeout, a child that won't be told included", async () => {
    const { run } = await begin(sandbox);
    const outcomes = await Promise.all([
      run(server(`x14-timeout-${sandbox}`), { timeout_s: 2, yield_s: 60 }),
      run(stubborn(`x14-timeout-${sandbox}`), { timeout_s: 2, yield_s: 60 }),
    ]);
    for (const outcome of outcomes) expect(outcome.timedOut).toBe(true);
    expect(alive(`MARK=x14-timeout-${sandbox}`)).toEqual([]);
  });

  test("nothing is left after an interrupt either", async () => {
    const { at, run } = await begin(sandbox);
    const stop = new AbortController();
    const running = run(stubborn(`x14-interrupt-${sandbox}`), { yield_s: 60 }, stop.signal);
    await until(() => at.live.join("").includes("up"));
    stop.abort();
    expect((await running).status).toBe("interrupted");
    expect(alive(`MARK=x14-interrupt-${sandbox}`)).toEqual([]);
  });
});

describe.concurrent.each(modes)("runaway output not stopped (X13), sandbox %s", (sandbox) => {
  test("an endless producer is ended at the hard budget, and that is what it is called", async () => {
    const { run } = await begin(sandbox, { outputCap: 2_000_000 });
    const outcome = await run("yes x", { timeout_s: 600, yield_s: 300 });
    expect(outcome).toMatchObject({ status: "failed", timedOut: false });
    expect(outcome.text).toMatch(/^reached the output limit of \d+ bytes and was ended\nx\n/);
    const endless = await run(`export MARK=x13-${sandbox}; yes x & yes y`, { timeout_s: 600, yield_s: 300, tty: true });
    expect(endless.text).toMatch(/^reached the output limit/);
    expect(alive(`MARK=x13-${sandbox}`)).toEqual([]);
  });
});

describe.concurrent.each(modes)("cwd-deleted (X05), sandbox %s", (sandbox) => {
  test("commands go on when the folder they work in is gone, and it is said where they run", async () => {
    const { run } = await begin(sandbox);
    expect((await run("mkdir -p t && cd t")).exitCode).toBe(0);
    expect((await run("rm -rf ../t", { cwd: "t" })).exitCode).toBe(0);
    expect((await run("echo alive")).text).toBe("exit code 0\nalive\n");
    expect((await run("cd / && pwd")).text).toBe("exit code 0\n/\n");
    const gone = await run("echo there", { cwd: "t" });
    expect(gone).toMatchObject({ status: "denied", text: expect.stringContaining("t is not a folder") as string });
  });

  test("the session's own folder too: from then on in the workspace's root", async () => {
    const root = mkdtempSync(join(tmpdir(), "holdfast-gone-"));
    rmSync(root, { recursive: true });
    const { at, run } = await begin(sandbox, { cwd: join(root, "t") });
    for (const [command, said] of [
      ["echo alive", "alive\n"],
      ["cd / && pwd", "/\n"],
    ] as const) {
      const outcome = await run(command);
      expect(outcome.text).toBe(`exit code 0\nThe working folder ${root}/t no longer exists; this ran in ${at.root}.\n${said}`);
      expect(outcome.text).not.toMatch(/bash|ENOENT/);
    }
  });
});

describe.concurrent.each(modes)("pager-hang (X07), sandbox %s", (sandbox) => {
  test("with a terminal, git and man show everything and wait for no key", async () => {
    const { at, run } = await begin(sandbox);
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: at.root });
    git("init", "-q");
    const stream = Array.from({ length: 200 }, (_, index) => {
      const file = `file ${index}\n`;
      const message = `commit ${index}`;
      return `blob\nmark :${index * 2 + 1}\ndata ${file.length}\n${file}\ncommit refs/heads/main\nmark :${index * 2 + 2}\ncommitter t <t@example.org> ${1e9 + index} +0000\ndata ${message.length}\n${message}\n${index > 0 ? `from :${index * 2}\n` : ""}M 644 :${index * 2 + 1} f${index}.txt\n\n`;
    }).join("");
    execFileSync("git", ["fast-import", "--quiet"], { cwd: at.root, input: stream });
    git("checkout", "-q", "main");
    git("config", "core.pager", "less");
    for (const [command, last] of [
      ["git log", "commit 0"],
      ["git diff HEAD~50", "file 199"],
      ["git -c core.pager=less -p log --oneline", "commit 0"],
      ["man ls", ""],
    ] as const) {
      const outcome = await run(command, { tty: true, yield_s: 60, timeout_s: 60 });
      expect(outcome.task, command).toBeUndefined();
      expect(outcome.timedOut, command).toBe(false);
      expect(outcome.text, command).toContain(last);
    }
  });
});

describe.concurrent("credential-prompt hang (X10)", () => {
  test.each([false, true])(
    "git over HTTP fails with an auth error and asks nobody (terminal: %s), whatever an earlier command exported",
    async (tty) => {
      const { run, read } = await begin("off");
      const server = createServer((_, response) => {
        response.writeHead(401, { "www-authenticate": 'Basic realm="x"' });
        response.end();
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x.git`;
      await run("export GIT_EDITOR=vim GIT_TERMINAL_PROMPT=1 GIT_ASKPASS=", { tty });
      const outcome = await run(`git ls-remote ${url}`, { tty, yield_s: 60 });
      expect(outcome).toMatchObject({ status: "failed", exitCode: 128 });
      expect(outcome.text).toMatch(/could not read Username|Authentication failed|terminal prompts disabled/);
      const { task } = await run(`git ls-remote ${url}`, { tty, yield_s: 0 });
      expect(await read({ handle: task!.id, wait_s: 60 })).toMatchObject({ exitCode: 128 });
      server.close();
    },
  );
});

test.concurrent("a neighbour of X07 and X10: a terminal's program gets no editor that waits either", async () => {
  const { at, run } = await begin("workspace-write");
  mkdirSync(join(at.root, "r"));
  const outcome = await run(
    "git init -q . && git -c user.name=t -c user.email=t@example.org commit --allow-empty; echo status $?; echo $EDITOR $PAGER",
    { cwd: "r", tty: true, yield_s: 60 },
  );
  expect(outcome.text).toMatch(/empty commit message[^]*status 1\ntrue cat\n$/i);
});
