import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { mountable, mountSmallDisk } from "../../stores/test/disk.ts";
import { makePlace, processesAt, resultOf, runToEnd, specFor, untilOutput } from "./processes-fixture.ts";

/** Processes whose command line names a text. */
function naming(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}

// Where no disk can be mounted, a full one can't be shown.
describe.each(mountable(8))("a disk of %i MiB that a command's output fills", (size) => {
  const disk = mountSmallDisk(size);
  const place = makePlace();
  const home = join(disk.folder, "home");
  mkdirSync(home);
  const processes = processesAt({ ...place, home });
  afterAll(async () => {
    await processes.endSession("session", { forget: true });
    disk.unmount();
    rmSync(place.base, { recursive: true, force: true });
  });

  it.each(["off", "workspace-write"] as const)("ends it, says why, and has room for its record (sandbox %s)", async (mode) => {
    const spec = specFor(place, "yes some output", { confinement: { mode }, outputCap: 256 * 1024 * 1024, timeoutMs: 60_000 });
    const { end } = await runToEnd(processes, spec);
    expect(end).toEqual({ type: "unspooled" });
    expect(readFileSync(join(home, "commands/session/runs", spec.id, "1/exit"), "utf8")).toBe("unspooled end\n");
    await processes.forgetOutput("session", spec.id);
    expect((await runToEnd(processes, specFor(place, "echo fine", { confinement: { mode } }))).text).toBe("fine\n");
  });

  it.each(["off", "workspace-write"] as const)("keeps what a command had said before and how it ended (sandbox %s)", async (mode) => {
    const full = join(place.workspace, `full-${mode}`);
    const spec = specFor(place, `echo first; until [ -e ${full} ]; do sleep 0.05; done; echo last; exit 3`, { confinement: { mode } });
    // Its last words pass the end of a block, and there is no other, or at most one that was given back meanwhile.
    const line = spec.command.replace("echo first", "printf %4094s first").replace("echo last", "printf %40000s last");
    const longer = specFor(place, line, { confinement: { mode } });
    const both = [await processes.start(spec), await processes.start(longer)] as const;
    for (const { ref } of both) await untilOutput(processes, ref, "first");
    disk.fill(0);
    writeFileSync(full, "");
    const [kept, cut] = await Promise.all(both.map(async ({ ref, ended }) => resultOf(processes, ref, await ended)));
    disk.empty();
    expect(kept).toMatchObject({ end: { type: "exited", exitCode: 3 }, text: "first\nlast\n" });
    expect(cut).toMatchObject({ end: { type: "unspooled" }, text: expect.stringMatching(/^ {4089}first {2,20000}$/) as string });
    expect(kept?.durationMs).toBeGreaterThan(40);
  });

  it("doesn't save a command that passes a limit, nor us: it is ended, and the limit is told", async () => {
    const bounded = processesAt({ ...place, home }, { limits: { processes: 20, memoryBytes: 4e9, freeBytes: 0 } });
    const bomb = "yes | head -c 20000; until [ -e full ]; do sleep 0.05; done; for i in $(seq 60); do sleep 60 & done; wait";
    const running = await bounded.start(specFor(place, bomb, { confinement: { mode: "workspace-write" } }));
    await untilOutput(bounded, running.ref, "y\n".repeat(10_000));
    disk.fill(0);
    writeFileSync(join(place.workspace, "full"), "");
    expect((await running.ended).end).toMatchObject({ type: "limited", limit: "processes", max: 20 });
    disk.empty();
    await bounded.close();
  });

  it("refuses a command for which there is no room to hold its network, leaves nothing of it, and has the session end", async () => {
    const confinement = { mode: "workspace-write" as const };
    await runToEnd(processes, specFor(place, "true", { confinement }));
    await processes.endSession("session", { forget: false });
    // What held it gives back the last of its room as it goes.
    await expect.poll(() => naming(home)).toEqual([]);
    disk.fill(0);
    await expect(processes.start(specFor(place, "true", { confinement }))).rejects.toMatchObject({ code: "store_full" });
    await processes.endSession("session", { forget: false });
    await expect.poll(() => naming(home)).toEqual([]);
    disk.empty();
    expect((await runToEnd(processes, specFor(place, "echo fine", { confinement }))).text).toBe("fine\n");
  });
});
