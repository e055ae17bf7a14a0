/**
 * All checks and all tests. The last line says `N passed, N failed`, a check counting as one test; the exit status is 0
 * only where nothing failed. A skipped test or one left to do counts as failed: nothing passes by not running.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChecks } from "./check.ts";

const root = join(import.meta.dirname, "..");

/** The part of vitest's JSON report that is counted. */
interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

async function runVitest(args: readonly string[]): Promise<{ readonly passed: number; readonly failed: number }> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  const file = join(folder, "report.json");
  try {
    const argv = [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${file}`,
      ...args,
    ];
    const child = spawn(process.execPath, argv, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    const report = JSON.parse(readFileSync(file, "utf8")) as VitestReport;
    const broken = report.testResults.filter(
      (one) => one.status === "failed" && one.assertionResults.every((test) => test.status !== "failed"),
    );
    for (const one of broken) console.log(`✗ ${one.name} could not be run`);
    const unrun = report.numPendingTests + report.numTodoTests;
    if (unrun > 0) console.log(`✗ ${unrun} tests skipped or left to do`);
    const failed = report.numFailedTests + broken.length + unrun;
    // An error outside every test fails the run without failing a test.
    return { passed: report.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const checks = await runChecks();
const tests = await runVitest(process.argv.slice(2)).catch((error: unknown) => {
  console.log(`✗ the tests could not be run: ${String(error)}`);
  return { passed: 0, failed: 1 };
});
const failed = checks.failed + tests.failed;
console.log(`${checks.passed + tests.passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
