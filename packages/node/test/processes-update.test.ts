import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";

const wrapper = fileURLToPath(new URL("../sh/run.sh", import.meta.url));

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "holdfast-test-"));
});
afterEach(() => {
  rmSync(base, { recursive: true, force: true });
});

// Found in use: a program that was updated while it ran passed its arguments in the old order, and the new wrapper moved
// the shell of the system away as a path that had to be absent.
it.each([
  ["none", {}],
  ["another", { HOLDFAST_WRAPPER_FORM: "1" }],
])("a wrapper whose caller names %s form of the arguments starts, moves and records nothing", (_, form) => {
  const [folder, program, ran] = [join(base, "run"), join(base, "program"), join(base, "ran")];
  mkdirSync(folder);
  writeFileSync(program, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
  const before = ["--posix", wrapper, folder, "mark", "5", "100", "no", base, program, "-c", "true"];
  const { status } = spawnSync("bash", before, {
    env: { PATH: process.env["PATH"], ...form },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  expect(status).toBe(76);
  expect(existsSync(program)).toBe(true);
  expect(existsSync(ran)).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});
