import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newTally } from "../src/chaos/tally.ts";

const run = (program: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, `../src/${program}.ts`), ...args], { encoding: "utf8" });

test.each([
  ["chaos", ["--kills", "x"], "--kills takes a whole number from 1 on"],
  ["chaos", ["--wrappers", "2"], "--wrappers takes a number from 0 to 1"],
  ["chaos", ["--frobnicate"], "--frobnicate"],
  ["chaos", ["300"], "--sum"],
  ["chaos", ["--sum"], "--sum"],
  ["long", ["--steps", ""], "--steps"],
  ["bench", ["--lengths", "1,,2"], "--lengths"],
  ["bench", ["--only", "none such"], "no group"],
  ["eval", ["lies", "--count", "x"], "--count"],
] as const)("%s %j is refused in plain words, and nothing is measured", (program, args, words) => {
  const { status, stdout, stderr } = run(program, ...args);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(words);
  expect(stderr).toContain(`usage: npm run ${program}`);
  expect(stderr).not.toContain("    at ");
});

test.each(["chaos", "long", "bench", "eval"])("%s --help says how it is used", (program) => {
  const { status, stdout } = run(program, "--help");
  expect([status, stdout.startsWith(`usage: npm run ${program}`)]).toEqual([0, true]);
});

test("runs of chaos without a kill show nothing, however many are added up", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-chaos-sum-"));
  try {
    const file = join(folder, "none.json");
    writeFileSync(file, JSON.stringify({ seed: 1, commit: "x", startedAt: "", seconds: 0, tally: newTally() }));
    const { status, stdout } = run("chaos", "--sum", file);
    expect(status).toBe(1);
    expect(stdout).not.toContain("nothing lost");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
