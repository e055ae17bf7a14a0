import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const loop = join(import.meta.dirname, "../../../bench/src/chaos.ts");

test("killed a dozen times at work, a session ends with nothing lost, doubled, left behind or kept quiet", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [loop, "--kills", "12", "--seed", "3", "--wrappers", "0.3"], {
    encoding: "utf8",
  });
  expect({ status, stderr, faults: status === 0 ? "" : stdout }).toEqual({ status: 0, stderr: "", faults: "" });
}, 60_000);
