import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

/** The program as it is built: a bundle that misses one of its files fails here. */
const bundle = join(import.meta.dirname, `../dist.test.${process.pid}`);
const main = join(bundle, "main.js");
beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, "../../../scripts/build.ts"), bundle]);
});
afterAll(() => rmSync(bundle, { recursive: true, force: true }));

/** A temporary folder of its own for each run, so that what is left behind is seen. */
let temporary: string;
beforeEach(() => {
  temporary = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-demo-test-")));
});
afterEach(() => rmSync(temporary, { recursive: true, force: true }));

function demo(...flags: readonly string[]): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const env = { PATH: process.env["PATH"], HOME: join(temporary, "no-home"), TMPDIR: temporary };
  return new Promise((resolve) => {
    execFile(process.execPath, [main, "demo", ...flags], { env, encoding: "utf8" }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const fix = "+  return users.get(normalise(email)) ?? null;";

test("the demo ends verified, red before and green after, says that its model is scripted, and leaves nothing behind", async () => {
  const { status, stdout, stderr } = await demo();
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stdout).toContain("The login bug is fixed");
  expect(stderr).toContain("The model is scripted");
  expect(stderr).toMatch(/verified/);
  expect(stderr).toContain(fix);
  expect(stderr).toContain("--model openai/NAME");
  expect(readdirSync(temporary)).toEqual([]);
});

test("without a sandbox the demo still does the whole job, and --keep keeps it", async () => {
  const { status, stderr } = await demo("--sandbox", "off", "--keep");
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const path = /^Kept: (.+)$/m.exec(stderr)?.[1] ?? "";
  expect(path.startsWith(temporary)).toBe(true);
  expect(readFileSync(join(path, "src/users.js"), "utf8")).toContain("users.get(normalise(email))");
});
