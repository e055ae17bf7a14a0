import { stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallPlan } from "@holdfast/protocol";
import type { Ports } from "@holdfast/runtime";
import { createPolicy } from "@holdfast/policy";
import { expect, test } from "vitest";
import { approvalDigest } from "@holdfast/runtime/drive/approval";
import type { Driver } from "@holdfast/runtime/drive/driver";
import { temporaryFiles } from "./files-workspace.ts";

test("what an approval is bound to changes with a program of any size, also where its size and times are put back", async () => {
  const { files, root, write, close } = await temporaryFiles();
  try {
    const line = "node './the bundle.js'";
    const plan = { input: {}, command: line, cwd: root } as unknown as CallPlan;
    const driver = { session: "s", ports: { files, policy: createPolicy() } as unknown as Ports } as Driver;
    const digest = () => approvalDigest(driver, ["c"], plan, "i");
    const path = join(root, "the bundle.js");
    for (const size of [10, 2 * 1024 * 1024]) {
      await write("the bundle.js", "a".repeat(size));
      const before = await digest();
      expect(await digest()).toBe(before);
      const { atime, mtime } = await stat(path);
      await writeFile(path, "b".repeat(size));
      await utimes(path, atime, mtime);
      expect(await digest()).not.toBe(before);
    }
  } finally {
    await close();
  }
});
