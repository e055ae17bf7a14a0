import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { mountable, mountSmallDisk } from "../../stores/test/disk.ts";
import { makePlace, processesAt, runToEnd, specFor } from "./processes-fixture.ts";

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
});
