import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CommandSpec, Processes } from "@holdfast/runtime/ports/processes";
import { mountable, mountSmallDisk } from "../../stores/test/disk.ts";
import { carriers, makePlace, processesAt, resultOf, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";

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

const starter = fileURLToPath(new URL("./processes-starter.ts", import.meta.url));
const modes = ["off", "workspace-write"] as const;

/** Starts `spec` from a process of its own; resolves when that has its claim. `extra` is a descriptor it inherits as its sixth. */
async function startElsewhere(spec: CommandSpec, extra: number | "ignore" = "ignore"): Promise<ChildProcess> {
  const options = { home: place.home, workspaceRoots: [place.workspace], userHome: place.userHome };
  const child = spawn(process.execPath, [starter, JSON.stringify(options), JSON.stringify(spec)], {
    stdio: ["ignore", "pipe", "inherit", "ignore", "ignore", extra],
  });
  await new Promise<void>((done) => child.stdout?.once("data", () => done()));
  return child;
}

async function killed(child: ChildProcess): Promise<void> {
  const exit = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await exit;
}

function startFile(spec: CommandSpec): string {
  return join(place.home, "commands", spec.session, "runs", spec.id, String(spec.attempt), "start");
}

/** Writes what another would have, and names the attempt. */
function plant(id: string, files: Record<string, string>): void {
  const folder = join(place.home, "commands/session/runs", id, "1");
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

describe.each(modes)("a command whose starter was killed, sandbox %s", (mode) => {
  const confinement = { mode };

  it("goes on; another process attaches to the same one and reads its whole output", async () => {
    const spec = specFor(place, "echo $$; echo first; sleep 0.5; echo second; exit 5", { confinement });
    const elsewhere = await startElsewhere(spec);
    await killed(elsewhere);
    const before = readFileSync(startFile(spec), "utf8");
    const record = await processes.record(spec.session, spec.id, 1);
    expect(record).toMatchObject({ type: "running" });
    const running = await processes.attach(spec.session, spec.id, 1);
    const { end, text } = await resultOf(processes, running.ref, await running.ended);
    expect(end).toEqual({ type: "exited", exitCode: 5 });
    expect(text).toMatch(/^\d+\nfirst\nsecond\n$/);
    expect(readFileSync(startFile(spec), "utf8").split("\n")[0]).toBe(before.split("\n")[0]);
    expect(await processes.record(spec.session, spec.id, 1)).toMatchObject({ type: "ended", end });
    // And again, long after.
    const again = await processesAt(place).attach(spec.session, spec.id, 1);
    expect((await again.ended).end).toEqual(end);
  });

  it("keeps its own time limit", async () => {
    const marker = `orphan-${mode}-${own}`;
    const spec = specFor(place, "echo up; setsid sleep 300 & sleep 300", { confinement, timeoutMs: 700, env: { MARKER: marker } });
    await killed(await startElsewhere(spec));
    const running = await processes.attach(spec.session, spec.id, 1);
    expect((await running.ended).end).toEqual({ type: "timed_out", afterMs: 700 });
    expect(await carriers("MARKER", marker)).toEqual([]);
  });

  it("keeps its own output cap", async () => {
    const spec = specFor(place, "yes x", { confinement, outputCap: 100_000 });
    await killed(await startElsewhere(spec));
    const { end } = await (await processes.attach(spec.session, spec.id, 1)).ended;
    expect(end).toMatchObject({ type: "output_capped" });
    expect((await processes.read(`session/${spec.id}/1`, 0, 1)).size).toBeLessThan(101_000);
  });

  it("is ended by whoever attached", async () => {
    const marker = `adopted-${mode}-${own}`;
    const spec = specFor(place, "setsid sleep 300 & echo up; sleep 300", { confinement, env: { MARKER: marker } });
    await killed(await startElsewhere(spec));
    const running = await processes.attach(spec.session, spec.id, 1);
    await untilOutput(processes, running.ref, "up");
    await running.stop();
    expect((await running.ended).end).toEqual({ type: "ended" });
    expect(await carriers("MARKER", marker)).toEqual([]);
  });

  it("goes on after it was paused by the one that died", async () => {
    const spec = specFor(place, "echo up; sleep 0.2; echo on", { confinement });
    const elsewhere = await startElsewhere(spec);
    await untilOutput(processes, `session/${spec.id}/1`, "up");
    await processes.pause(`session/${spec.id}/1`, true);
    await killed(elsewhere);
    const running = await processesAt(place).attach(spec.session, spec.id, 1);
    expect((await running.ended).end).toEqual({ type: "exited", exitCode: 0 });
  });

  it("has no descriptor that its starter had from others, and holds none of them open", async () => {
    const file = join(place.base, "leaked");
    writeFileSync(file, "");
    const leaked = openSync(file, "r");
    const spec = specFor(place, "ls -l /proc/self/fd; echo up; sleep 300", { confinement });
    const elsewhere = await startElsewhere(spec, leaked);
    closeSync(leaked);
    const ref = `session/${spec.id}/1`;
    const links = [...(await untilOutput(processes, ref, "up\n")).matchAll(/(\d+) -> (\S+?)(?:\[\d+\])?$/gm)];
    // The fourth is the folder that `ls` itself reads.
    expect(links.map((link) => `${link[1]} ${link[2]}`).slice(0, 3)).toEqual(["0 /dev/null", "1 pipe:", "2 pipe:"]);
    expect(links.length).toBe(4);
    const holders = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && Number(pid) !== elsewhere.pid && holds(pid, file));
    expect(holders.map((pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8"))).toEqual([]);
    await killed(elsewhere);
    await (await processes.attach(spec.session, spec.id, 1)).stop();
  });
});

function holds(pid: string, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === path);
  } catch {
    return false;
  }
}

describe("the claim of an attempt", () => {
  it("is taken once: a second start of the same attempt is refused and changes nothing", async () => {
    const spec = specFor(place, "echo once; exit 3");
    const first = await runToEnd(processes, spec);
    await expect(processes.start(spec)).rejects.toMatchObject({ code: "claim_lost" });
    const race = specFor(place, "echo once; sleep 0.2");
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => processes.start(race)));
    const won = answers.filter((answer) => answer.status === "fulfilled");
    expect(won.length).toBe(1);
    for (const answer of answers) if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "claim_lost" });
    const running = won[0]?.value;
    expect(running === undefined ? null : (await resultOf(processes, running.ref, await running.ended)).text).toBe("once\n");
    expect((await processes.read(`session/${spec.id}/1`, 0, 100)).size).toBe(first.bytes.length);
  });

  it.each(mountable(1))("that can't be written is told as a full disk: nothing was started, and nothing will be (%s MB)", async (size) => {
    const disk = mountSmallDisk(size);
    const small = processesAt({ ...place, home: disk.folder });
    try {
      // What stands by is there from the first command on, and its request is what finds no room.
      await runToEnd(small, specFor(place, "true"));
      const records: string[] = [];
      for (const leaving of [0, 4096]) {
        const spec = specFor(place, "touch ran-full");
        disk.fill(leaving);
        await expect(small.start(spec)).rejects.toMatchObject({ code: "store_full", hint: "free some space, then go on" });
        disk.empty();
        records.push((await small.record(spec.session, spec.id, 1)).type);
        expect(await small.revoke(spec.session, spec.id, 1)).toEqual({ taken: [] });
        await expect(small.start(spec)).rejects.toMatchObject({ code: "claim_lost" });
      }
      expect(records).toEqual(["none", "revoked"]);
      expect(readdirSync(place.workspace)).not.toContain("ran-full");
    } finally {
      await small.endSession("session", { forget: true });
      disk.unmount();
    }
  });

  it("whose words found no room counts as revoked", async () => {
    const spec = specFor(place, "touch ran");
    const file = startFile(spec);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    chmodSync(file, 0o400);
    expect(await processes.record(spec.session, spec.id, 1)).toEqual({ type: "revoked" });
    await expect(processes.start(spec)).rejects.toMatchObject({ code: "claim_lost" });
  });

  it("can be revoked before it is taken, and a late start is refused", async () => {
    const spec = specFor(place, "touch ran");
    expect(await processes.revoke(spec.session, spec.id, 1)).toEqual({ taken: [] });
    expect(await processes.revoke(spec.session, spec.id, 1)).toEqual({ taken: [] });
    expect(await processes.record(spec.session, spec.id, 1)).toEqual({ type: "revoked" });
    await expect(processes.start(spec)).rejects.toMatchObject({ code: "claim_lost" });
    await expect(processes.attach(spec.session, spec.id, 1)).rejects.toMatchObject({ code: "internal" });
    expect(readdirSync(place.workspace)).not.toContain("ran");
    expect((await runToEnd(processes, { ...spec, attempt: 2, command: "echo two" })).text).toBe("two\n");
    expect(await processes.revoke(spec.session, spec.id, 3)).toEqual({ taken: [2] });
    await expect(processes.start({ ...spec, attempt: 3 })).rejects.toMatchObject({ code: "claim_lost" });
  });

  it("is one or the other when a start and a revocation meet", async () => {
    for (let round = 0; round < 10; round += 1) {
      const spec = specFor(place, "exit 4");
      const [started, revoked] = await Promise.allSettled([processes.start(spec), processes.revoke(spec.session, spec.id, 1)]);
      const taken = revoked.status === "fulfilled" ? revoked.value.taken : [];
      expect(taken).toEqual(started.status === "fulfilled" ? [1] : []);
      if (started.status === "fulfilled") expect((await started.value.ended).end).toEqual({ type: "exited", exitCode: 4 });
    }
  });
});

describe("the records", () => {
  it("of a run that never started say whether this is the boot it was meant for", async () => {
    const { bootId } = processes.owner;
    expect(await processes.record("session", "never", 1, bootId)).toEqual({ type: "none", sameBoot: true });
    expect(await processes.record("session", "never", 1, "another-boot")).toEqual({ type: "none", sameBoot: false });
    await runToEnd(processes, specFor(place, "true"));
    expect(await processes.record("session", "never", 1)).toEqual({ type: "none", sameBoot: true });
    expect(await processes.record("no-session", "never", 1)).toEqual({ type: "none", sameBoot: false });
  });

  it("that stop half way count as taken and lost, never as not started", async () => {
    for (const start of ["", "run 12", "run 12 34 boot 5.000 no", "revoke", "garbage\n"]) {
      const id = `broken-${start.length}`;
      plant(id, { start });
      expect(await processes.record("session", id, 1)).toMatchObject({ type: "ended", end: { type: "lost" }, durationMs: 0 });
      expect(await processes.revoke("session", id, 1)).toEqual({ taken: [1] });
      await expect(processes.start(specFor(place, "true", { id }))).rejects.toMatchObject({ code: "claim_lost" });
      const running = await processes.attach("session", id, 1);
      expect((await running.ended).end).toEqual({ type: "lost" });
      await running.stop();
    }
  });

  it("of a later version are refused and left alone, and the session can be closed", async () => {
    const start = `started 2 ${process.pid} end\n`;
    plant("later", { start });
    const newer = { code: "session_newer" };
    await expect(processes.record("session", "later", 1)).rejects.toMatchObject(newer);
    await expect(processes.attach("session", "later", 1)).rejects.toMatchObject(newer);
    await expect(processes.start(specFor(place, "true", { id: "later" }))).rejects.toMatchObject({ code: "claim_lost" });
    expect(await processes.revoke("session", "later", 1)).toEqual({ taken: [1] });
    await processes.endSession("session", { forget: false });
    expect(readFileSync(join(place.home, "commands/session/runs/later/1/start"), "utf8")).toBe(start);
  });

  it("of a wrapper that is gone, with no exit record or half of one, say lost; also after a reboot or with its pid in use", async () => {
    const { pid, startTime, bootId } = processes.owner;
    const lost = { type: "ended", end: { type: "lost" }, durationMs: 0 };
    plant("dead", { start: `run ${pid} 1 ${bootId} 5.000 no end\n`, exit: "" });
    plant("half", { start: `run ${pid} 1 ${bootId} 5.000 no end\ncommand 1`, exit: "exited 0" });
    plant("rebooted", { start: `run ${pid} ${startTime} other-boot 5.000 no end\n` });
    for (const id of ["dead", "half", "rebooted"]) {
      expect(await processes.record("session", id, 1)).toEqual({ ...lost, isOfEarlierBoot: id === "rebooted" });
    }
    plant("alive", { start: `run ${pid} ${startTime} ${bootId} 5.000 no end\n`, exit: "exited 0 en" });
    expect(await processes.record("session", "alive", 1)).toEqual({ type: "running", pid });
    rmSync(join(place.home, "commands/session/runs/alive"), { recursive: true });
  });

  it.each(modes)("of a wrapper killed by force say lost, and what it left is ended (sandbox %s)", async (mode) => {
    const marker = `forced-${mode}-${own}`;
    const spec = specFor(place, "setsid sleep 300 & echo up; sleep 300", { confinement: { mode }, env: { MARKER: marker } });
    const running = await processes.start(spec);
    await untilOutput(processes, running.ref, "up");
    const record = await processes.record(spec.session, spec.id, 1);
    if (record.type === "running") process.kill(record.pid, "SIGKILL");
    expect((await running.ended).end).toEqual({ type: "lost" });
    await running.stop();
    expect(await carriers("MARKER", marker)).toEqual([]);
  });

  it.each(modes)(
    "of a wrapper killed by force leave no timer, which would wake whoever has its number by then (sandbox %s)",
    async (mode) => {
      const spec = specFor(place, "sleep 0.3", { confinement: { mode }, timeoutMs: 600_000 });
      const running = await processes.start(spec);
      process.kill(running.owner.pid, "SIGKILL");
      expect((await running.ended).end).toEqual({ type: "lost" });
      await expect.poll(() => commandLinesWith(`/runs/${spec.id}/`), { timeout: 5_000 }).toEqual([]);
    },
  );
});

/** Command lines of living processes that hold a text. */
function commandLinesWith(text: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return line.includes(text) ? [line] : [];
    } catch {
      return [];
    }
  });
}

describe("an owner", () => {
  it("is alive only as the process it was", () => {
    const { owner } = processes;
    expect(processes.isAlive(owner)).toBe(true);
    expect(processes.isAlive({ ...owner, startTime: "1" })).toBe(false);
    expect(processes.isAlive({ ...owner, bootId: "other" })).toBe(false);
    expect(processes.isAlive({ ...owner, pid: 2 ** 22 + 1 })).toBe(false);
  });
});
