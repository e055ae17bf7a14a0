import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { CommandLimits } from "@holdfast/runtime/ports/processes";
import { carriers, makePlace, processesAt, runToEnd, specFor } from "./processes-fixture.ts";

const megabyte = 1024 * 1024;
const roomy: CommandLimits = { processes: 500, memoryBytes: 4_000 * megabyte, freeBytes: 0 };
const place = makePlace();
const node = `'${process.execPath}'`;
afterAll(() => rmSync(place.base, { recursive: true, force: true }));

describe.each(["workspace-write", "off"] as const)("a command (sandbox %s) that passes a limit is ended, and told so:", (mode) => {
  const run = async (command: string, limits: Partial<CommandLimits>) => {
    const processes = processesAt(place, { limits: { ...roomy, ...limits } });
    try {
      return await runToEnd(processes, specFor(place, command, { confinement: { mode } }));
    } finally {
      await processes.endSession("session", { forget: true });
      await processes.close();
    }
  };

  it("a bomb of forks", async () => {
    const { end } = await run("export BOMB=ticking; for i in $(seq 200); do sleep 60 & done; wait", { processes: 40 });
    expect(end).toMatchObject({ type: "limited", limit: "processes", max: 40 });
    expect(await carriers("BOMB", "ticking")).toEqual([]);
  });

  it("too much memory, however many processes share in it", async () => {
    const eat = `${node} -e 'const all = []; setInterval(() => all.push(Buffer.alloc(20e6, 1)), 5)'`;
    const { end } = await run(`${eat} & ${eat}; wait`, { memoryBytes: 300 * megabyte });
    expect(end).toMatchObject({ type: "limited", limit: "memory", max: 300 * megabyte });
  });

  it("a disk that fills", async () => {
    const full = Number.MAX_SAFE_INTEGER;
    const { end } = await run("sleep 0.6; head -c 200000000 /dev/zero >big; sleep 60", { freeBytes: full });
    expect(end).toMatchObject({ type: "limited", limit: "disk", max: full });
    rmSync(join(place.workspace, "big"), { force: true });
  });

  it("and one that stays within them isn't", async () => {
    const { end, text } = await run("head -c 1000000 /dev/zero >small; sleep 0.6; echo done", {
      processes: 40,
      freeBytes: Number.MAX_SAFE_INTEGER,
    });
    expect([end, text]).toEqual([{ type: "exited", exitCode: 0 }, "done\n"]);
  });
});

describe("what a sandboxed command keeps in memory", () => {
  it("is capped: /tmp and shared memory take so much and no more, and nothing else of /dev takes any", async () => {
    const processes = processesAt(place, { sandbox: { tmpBytes: 4 * megabyte } });
    const fill = (path: string): string => `head -c 9000000 /dev/zero >${path} 2>/dev/null; stat -c %s ${path}`;
    const confinement = { mode: "workspace-write" } as const;
    for (const purpose of ["session", "check"] as const) {
      const { text } = await runToEnd(
        processes,
        specFor(place, `${fill("/tmp/big")}; ${fill("/dev/shm/big")}; touch /dev/more 2>&1; echo x >/dev/null && echo null`, {
          confinement: { ...confinement, purpose },
        }),
      );
      const [tmp, shared, ...rest] = text.split("\n");
      for (const size of [tmp, shared]) expect(Number(size)).toBeLessThanOrEqual(4 * megabyte);
      expect(rest).toEqual([expect.stringContaining("Read-only file system"), "null", ""]);
    }
    expect((await runToEnd(processes, specFor(place, "ls /tmp", { confinement }))).text).toMatch(/^big$/m);
    await processes.endSession("session", { forget: true });
    expect(existsSync("/tmp/big")).toBe(false);
    expect((await runToEnd(processes, specFor(place, "ls /tmp", { confinement }))).text).not.toMatch(/^big$/m);
    await processes.endSession("session", { forget: true });
    await processes.close();
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(place.home);
  });
});
