import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inspectStore, openSqliteLog } from "@holdfast/stores/sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { mountReadOnly, mountSmallDisk, mountable } from "./disk.ts";
import { commitOf } from "./sample.ts";

// Where no disk can be mounted, a read-only one can't be shown.
describe.each(mountable(4))("a store on a read-only file system (%d MiB)", (size) => {
  const disk = mountSmallDisk(size);
  const [home, shown] = [join(disk.folder, "home"), join(disk.folder, "shown")];
  for (const path of [home, shown]) mkdirSync(path);
  const hide = mountReadOnly(home, shown);
  afterAll(() => {
    hide();
    disk.unmount();
  });
  const unwritable = { code: "store_failed", message: expect.stringContaining("on a read-only file system") as string };

  it("is read as elsewhere, also what somebody is just writing through another mount", async () => {
    const path = join(shown, "sessions.db");
    expect(() => openSqliteLog(path)).toThrow(expect.objectContaining(unwritable));
    const writer = openSqliteLog(join(home, "sessions.db"));
    await writer.commit(commitOf("s", 0));
    const reader = openSqliteLog(path);
    await writer.commit(commitOf("s", 1));
    expect(await reader.read("s", 1)).toHaveLength(2);
    expect(inspectStore(path)).toMatchObject({ type: "whole" });
    await reader.close();
    // As a process that is killed leaves it, and as a copy of it may be.
    const [left, cut] = [join(disk.folder, "left"), join(disk.folder, "cut")];
    for (const copy of [left, cut]) cpSync(home, copy, { recursive: true });
    rmSync(join(cut, "sessions.db-shm"));
    await writer.close();

    disk.protect();
    const names = readdirSync(home);
    const log = openSqliteLog(join(home, "sessions.db"));
    expect(await log.read("s", 1)).toHaveLength(2);
    expect((await log.load("s"))?.row.seq).toBe(2);
    await expect(log.commit(commitOf("s", 2))).rejects.toMatchObject(unwritable);
    expect(await log.read("s", 1)).toHaveLength(2);
    await log.close();
    const killed = openSqliteLog(join(left, "sessions.db"));
    expect(await killed.read("s", 1)).toHaveLength(2);
    await killed.close();
    expect(() => openSqliteLog(join(cut, "sessions.db"))).toThrow(expect.objectContaining(unwritable));
    expect(inspectStore(path)).toMatchObject({ type: "whole" });
    expect(readdirSync(home)).toEqual(names);
  });
});
