import { mkdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Processes } from "@holdfast/runtime/ports/processes";
import { carriers, makePlace, processesAt, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";

const place = makePlace();
const own = process.pid;
let processes: Processes;
beforeAll(() => {
  processes = processesAt(place);
});
afterAll(async () => {
  await processes.endSession("session", { forget: true });
  rmSync(place.base, { recursive: true, force: true });
});

describe.each(["off", "workspace-write"] as const)("a command, sandbox %s", (mode) => {
  const confinement = { mode };
  const run = (command: string, options: Parameters<typeof specFor>[2] = {}) =>
    runToEnd(processes, specFor(place, command, { ...options, confinement: { ...confinement, ...options.confinement } }));

  it("tells its exit code from the signal with the same number", async () => {
    for (const code of [0, 1, 3, 127, 130, 137, 141, 143, 255]) {
      expect((await run(`exit ${code}`)).end).toEqual({ type: "exited", exitCode: code });
    }
    for (const signal of ["INT", "KILL", "PIPE", "TERM", "SEGV"]) {
      expect((await run(`kill -${signal} $$`)).end).toEqual({ type: "signalled", signal: `SIG${signal}` });
    }
  });

  it("leaves what is counted, and is told to run while it does", async () => {
    const session = `counted-${mode}`;
    expect(await processes.remains(session)).toEqual({ bytes: 0, isRunning: false });
    const running = await processes.start({ ...specFor(place, "seq 1 2000; sleep 300", { confinement }), session });
    await untilOutput(processes, running.ref, "2000");
    const during = await processes.remains(session);
    expect(during.isRunning).toBe(true);
    expect(during.bytes).toBeGreaterThan(8_000);
    await running.stop();
    expect((await processes.remains(session)).isRunning).toBe(false);
    await processes.endSession(session, { forget: true });
    expect(await processes.remains(session)).toEqual({ bytes: 0, isRunning: false });
  });

  it("gets no input, no terminal, and its interrupt signal as usual", async () => {
    const { text } = await run(`cat; [ -t 0 ] || echo no-tty; (: </dev/tty) 2>/dev/null || echo no-ctty
      trap 'echo interrupted' INT; kill -INT $$; echo after`);
    expect(text).toBe("no-tty\nno-ctty\ninterrupted\nafter\n");
  });

  it("is done when its own process is, whatever its children go on printing (X02)", async () => {
    const marker = `chatty-${mode}-${own}`;
    const command = "(while :; do echo tick; sleep 0.02; done) & sleep 0.2; echo fg-done";
    const running = await processes.start(specFor(place, command, { confinement, env: { MARKER: marker } }));
    const ended = await running.ended;
    expect(ended.end).toEqual({ type: "exited", exitCode: 0 });
    expect(await carriers("MARKER", marker)).toEqual([]);
    const { size, bytes } = await processes.read(running.ref, 0, 1_000_000);
    expect(Buffer.from(bytes).toString()).toMatch(/tick\n.*fg-done\n/s);
    await run("sleep 0.1");
    expect((await processes.read(running.ref, 0, 0)).size).toBe(size);
  });

  it("leaves no child behind that took a session of its own and another output", async () => {
    const marker = `stray-${mode}-${own}`;
    const { text } = await run("setsid sleep 300 >/dev/null 2>&1 & setsid sh -c 'sleep 300; echo late' & echo main", {
      env: { MARKER: marker },
    });
    expect(text).toBe("main\n");
    expect(await carriers("MARKER", marker)).toEqual([]);
  });

  it("keeps every byte of its output as it was written (X03, X17)", async () => {
    const { bytes, end } = await run(
      String.raw`printf '\xe4'; sleep 0.05; printf '\xbd\xa0\n'; printf 'ok \xff\xfe end\n'; printf '\x00\x01'; exit 2`,
    );
    expect(Buffer.from(bytes).toString("hex")).toBe("e4bda00a6f6b20fffe20656e640a0001");
    expect(end).toEqual({ type: "exited", exitCode: 2 });
    const many = await run(`for i in $(seq 500); do printf '你%.0s' $(seq 100); done`);
    expect(many.text).toBe("你".repeat(50_000));
  });

  it("keeps long output whole, with the true exit code (X12)", async () => {
    const { text, end } = await run("for i in $(seq 20000); do echo line $i; done; echo SUMMARY-FAIL; exit 3");
    expect(end).toEqual({ type: "exited", exitCode: 3 });
    expect(text.startsWith("line 1\n")).toBe(true);
    expect(text.endsWith("line 20000\nSUMMARY-FAIL\n")).toBe(true);
  });

  it("is ended at the output cap, by that name (X13)", async () => {
    const marker = `cap-${mode}-${own}`;
    const endless = await run("yes x", { outputCap: 100_000, env: { MARKER: marker } });
    expect(endless.end).toEqual({ type: "output_capped", bytes: endless.bytes.length });
    expect(endless.bytes.length).toBeGreaterThanOrEqual(100_000);
    expect(endless.bytes.length).toBeLessThan(101_000);
    // Also where the one that writes is not the one that is waited for.
    const behind = await run("trap '' PIPE; yes x & sleep 300", { outputCap: 10_000, env: { MARKER: marker } });
    expect(behind.end.type).toBe("output_capped");
    expect(await carriers("MARKER", marker)).toEqual([]);
  });

  it("is ended at its time, with what it had printed (X19) and with all its children (X14)", async () => {
    const marker = `late-${mode}-${own}`;
    const command =
      "echo step1; echo step2 >&2; setsid sleep 300 & bash -c \"trap '' TERM; while :; do sleep 1; done\" & trap 'echo bye; exit 1' TERM; while :; do sleep 0.1; done";
    const { end, text } = await run(command, { timeoutMs: 300, env: { MARKER: marker } });
    expect(end).toEqual({ type: "timed_out", afterMs: 300 });
    expect(text).toMatch(/^step1\nstep2\n(?:Terminated\n)?bye\n$/);
    expect(await carriers("MARKER", marker)).toEqual([]);
  });

  it("is stopped politely, then by force, and nothing of it is left", async () => {
    const marker = `stop-${mode}-${own}`;
    const options = { confinement, env: { MARKER: marker } };
    const polite = await processes.start(
      specFor(place, "trap 'echo saved; exit 0' TERM; setsid sleep 300 & echo up; while :; do sleep 0.05; done", options),
    );
    await untilOutput(processes, polite.ref, "up");
    await polite.stop();
    expect((await polite.ended).end).toEqual({ type: "ended" });
    expect(await untilOutput(processes, polite.ref, "saved")).toMatch(/^up\n(?:Terminated\n)?saved\n$/);

    const deaf = await processes.start(
      specFor(place, "trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep 300') & echo up; sleep 300", options),
    );
    await untilOutput(processes, deaf.ref, "up");
    await deaf.stop();
    expect((await deaf.ended).end).toEqual({ type: "ended" });
    expect(await carriers("MARKER", marker)).toEqual([]);
  });

  it("stands still while it is paused, its children too, and ends as it would have", async () => {
    const running = await processes.start(
      specFor(place, "(setsid sh -c 'while :; do echo b; sleep 0.02; done') & for i in $(seq 30); do echo a; sleep 0.02; done; exit 137", {
        confinement,
      }),
    );
    await untilOutput(processes, running.ref, "b\n");
    await processes.pause(running.ref, true);
    // What it had said is still taken from the pipe.
    await run("sleep 0.2");
    const { size } = await processes.read(running.ref, 0, 0);
    await run("sleep 0.3");
    expect((await processes.read(running.ref, 0, 0)).size).toBe(size);
    await processes.pause(running.ref, false);
    expect((await running.ended).end).toEqual({ type: "exited", exitCode: 137 });
    expect((await processes.read(running.ref, 0, 0)).size).toBeGreaterThan(size);
  });

  it("runs fifty at a time, with and without output (X18)", async () => {
    const commands = ["true", "false", "grep -q nope /etc/hosts", "echo out", "exit 7"];
    const codes = [0, 1, 1, 0, 7];
    const results = await Promise.all(Array.from({ length: 50 }, (_, index) => run(commands[index % 5] ?? "")));
    expect(results.map((result) => result.end)).toEqual(results.map((_, index) => ({ type: "exited", exitCode: codes[index % 5] })));
    expect(results.map((result) => result.text)).toEqual(results.map((_, index) => (index % 5 === 3 ? "out\n" : "")));
  });

  it("finds the runtime's own variables, and none of ours (B07)", async () => {
    const canaries = {
      OPENAI_API_KEY: "CANARY",
      GH_TOKEN: "CANARY",
      FOO_TOKEN: "CANARY",
      SSH_AUTH_SOCK: "/CANARY",
      LD_PRELOAD: "/CANARY",
      BASH_ENV: "/CANARY",
      NODE_OPTIONS: "--CANARY",
    };
    const mine = processesAt(place, { environment: { ...process.env, ...canaries, LC_ALL: "C.UTF-8" } });
    const { text } = await runToEnd(
      mine,
      specFor(place, "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep CANAR[Y]", {
        confinement,
        env: { MINE: "yes" },
      }),
    );
    const names = text.split("\n");
    expect(text).not.toContain("CANARY");
    expect(names).toEqual(
      expect.arrayContaining([
        "MINE=yes",
        "TERM=dumb",
        "LC_ALL=C.UTF-8",
        "GIT_TERMINAL_PROMPT=0",
        "PAGER=cat",
        `PATH=${process.env["PATH"]}`,
      ]),
    );
  });

  it("has a temporary folder of the session; a check has its own, and a cache nobody wrote to", async () => {
    await run("echo left > $TMPDIR/left; mkdir -p $TMPDIR/caches; echo ${XDG_CACHE_HOME:-none}");
    expect((await run("cat $TMPDIR/left")).text).toBe("left\n");
    const check = { confinement: { purpose: "check" as const } };
    // What is shown of the real /tmp: the test's own place, and the clone where that lies there.
    const others = `grep -v -e ^holdfast-test- -e '^${relative(tmpdir(), import.meta.dirname).split("/")[0]}$'`;
    const first = await run(
      `ls -A $TMPDIR | ${others}; ls -A $npm_config_cache 2>/dev/null | grep -v _cacache; mkdir -p $XDG_CACHE_HOME; echo x > $XDG_CACHE_HOME/x; touch $TMPDIR/mine; echo`,
      check,
    );
    const second = await run(`ls -A $TMPDIR | ${others}; ls -A $XDG_CACHE_HOME 2>&1 | grep -c x$; echo`, check);
    expect(first.text.trim()).toBe("");
    expect(second.text.trim()).toBe("0");
  });
});

describe("a command's folder", () => {
  it("that is gone is named as what is missing, with the nearest one that is there (X05)", async () => {
    const gone = join(place.workspace, "t");
    mkdirSync(gone);
    rmSync(gone, { recursive: true });
    await expect(processes.start(specFor(place, "echo alive", { cwd: gone }))).rejects.toMatchObject({
      code: "workspace_invalid",
      message: expect.stringContaining(gone),
      hint: expect.stringContaining(place.workspace),
    });
    expect((await runToEnd(processes, specFor(place, "cd / && pwd"))).text).toBe("/\n");
  });
});

describe("the spool", () => {
  it("is readable by its owner alone and read by any slice", async () => {
    const running = await processes.start(specFor(place, "printf 0123456789"));
    await running.ended;
    expect(statSync(join(place.home, "commands/session/runs", running.ref.split("/")[1] ?? "", "1/output")).mode & 0o777).toBe(0o600);
    const slice = async (offset: number, length: number) =>
      Buffer.from((await processes.read(running.ref, offset, length)).bytes).toString();
    expect([await slice(2, 3), await slice(8, 10), await slice(20, 5), await slice(0, 0)]).toEqual(["234", "89", "", ""]);
    expect(await processes.read("session/unknown/1", 0, 10)).toEqual({ bytes: new Uint8Array(), size: 0 });
  });
});

describe("a session", () => {
  it("ends with everything it started, and is forgotten with every file", async () => {
    const running = await Promise.all(
      (["off", "workspace-write"] as const).map((mode) =>
        processes.start(
          specFor(place, "setsid sleep 300 & mkdir -p $TMPDIR/ro; touch $TMPDIR/ro/x; chmod 500 $TMPDIR/ro; echo up; sleep 300", {
            session: "brief",
            env: { MARKER: `brief-${own}` },
            confinement: { mode },
          }),
        ),
      ),
    );
    for (const one of running) await untilOutput(processes, one.ref, "up");
    await processes.endSession("brief", { forget: true });
    for (const one of running) expect((await one.ended).end).toEqual({ type: "ended" });
    expect(await carriers("MARKER", `brief-${own}`)).toEqual([]);
    expect(() => statSync(join(place.home, "commands/brief"))).toThrow();
  });

  it("forgets what a run of a session has put out, in every attempt, and keeps its records", async () => {
    const spec = (id: string, attempt: number) => specFor(place, "echo put-out", { session: "forgetful", id, attempt });
    const refs = [];
    for (const [id, attempt] of [
      ["call-a", 1],
      ["call-a", 2],
      ["call-b", 1],
    ] as const) {
      const running = await processes.start(spec(id, attempt));
      await running.ended;
      refs.push(running.ref);
    }
    await processes.forgetOutput("forgetful", "call-a");
    await processes.forgetOutput("forgetful", "call-a");
    await processes.forgetOutput("forgetful", "call-unknown");
    const sizes = await Promise.all(refs.map(async (ref) => (await processes.read(ref, 0, 100)).size));
    expect(sizes).toEqual([0, 0, 8]);
    expect(await processes.record("forgetful", "call-a", 2)).toMatchObject({ type: "ended", end: { type: "exited", exitCode: 0 } });
    await processes.endSession("forgetful", { forget: true });
  });
});

it("is not waited for where it ends in the moment that its wrapper is told to end it", async () => {
  // Stopped meanwhile, the wrapper finds both at once: its child has ended, and a signal is there.
  const command = "(sleep 0.3; kill -CONT $PPID) & kill -STOP $PPID; kill -TERM $PPID; exit 0";
  const { end } = await runToEnd(processes, specFor(place, command, { timeoutMs: 600_000 }));
  expect(end).toEqual({ type: "ended" });
});
