import type * as promises from "node:fs/promises";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { noteOwner, ownerOf } from "@holdfast/node/processes/owner-note";
import { removeOwned } from "@holdfast/node/processes/remove";

/** How many removals there are before the process dies. */
let left = Number.POSITIVE_INFINITY;
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof promises>();
  const rm: typeof real.rm = async (...given) => {
    if ((left -= 1) < 0) throw new Error("killed");
    return real.rm(...given);
  };
  return { ...real, rm };
});

let base = "";
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "holdfast-remove-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

it("a folder whose removal was killed on the way still names who used it, so that what is left can go at once", async () => {
  for (let removals = 0; ; removals += 1) {
    const folder = join(base, `session-${removals}`);
    for (const name of ["cache", "runs", "tmp"]) {
      mkdirSync(join(folder, name), { recursive: true });
      writeFileSync(join(folder, name, "file"), "x");
    }
    writeFileSync(join(folder, "boot"), "x");
    noteOwner(folder, base);
    left = removals;
    const isDone = await removeOwned(folder).then(
      () => true,
      () => false,
    );
    if (isDone) break;
    expect(ownerOf(folder)?.pid).toBe(process.pid);
  }
  expect(readdirSync(base)).not.toEqual([]);
  left = Number.POSITIVE_INFINITY;
  for (const name of readdirSync(base)) await removeOwned(join(base, name));
  expect(readdirSync(base)).toEqual([]);
});
