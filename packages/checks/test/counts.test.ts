import type { CheckRun } from "@holdfast/protocol";
import type { BlobStore } from "@holdfast/runtime";
import { expect, test } from "vitest";
import { countWeakness, endsAsFilter } from "../src/count-weakness.ts";
import { parseCounts } from "../src/counts.ts";

const outputs: readonly (readonly [string, string, readonly [number, number, number] | null])[] = [
  [
    "node --test, spec",
    "▶ suite\n  ✔ adds (0.5ms)\n  ✖ fails (0.7ms)\n  ﹣ later (0.1ms) # SKIP\n✖ suite (3.6ms)\nℹ tests 4\nℹ suites 1\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 85.5\n",
    [1, 1, 2],
  ],
  [
    "node --test, TAP",
    "TAP version 13\nok 1 - adds\n1..1\n# tests 3\n# suites 0\n# pass 2\n# fail 0\n# cancelled 1\n# skipped 0\n# todo 0\n# duration_ms 81.9\n",
    [2, 1, 0],
  ],
  [
    "node --test without a test",
    "ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 3.1\n",
    [0, 0, 0],
  ],
  [
    "vitest",
    "\u001b[2m Test Files \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m (1)\n\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m\u001b[2m | \u001b[22m\u001b[1m\u001b[32m3 passed\u001b[39m\u001b[22m\u001b[2m | \u001b[22m\u001b[33m1 skipped\u001b[39m | 1 todo\u001b[90m (6)\u001b[39m\n",
    [3, 1, 2],
  ],
  ["vitest without a file", "\u001b[31mNo test files found, exiting with code 0\u001b[39m\n", [0, 0, 0]],
  [
    "jest",
    "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 skipped, 1 todo, 4 passed, 7 total\nSnapshots:   0 total\n",
    [4, 1, 2],
  ],
  ["jest without a test", "No tests found, exiting with code 0\n", [0, 0, 0]],
  ["mocha", "\n  3 passing (12ms)\n  1 pending\n  2 failing\n", [3, 2, 1]],
  ["mocha without a test", "\n  0 passing (1ms)\n", [0, 0, 0]],
  [
    "pytest",
    "FAILED test_a.py::T::test_b - AssertionError\n=== 1 failed, 2 passed, 1 skipped, 1 xfailed, 1 error in 0.67s ===\n",
    [3, 2, 1],
  ],
  ["pytest -q", "..\n2 passed in 0.01s\n", [2, 0, 0]],
  ["pytest with nothing selected", "===== 3 deselected in 0.65s =====\n", [0, 0, 0]],
  ["pytest without a test", "===== no tests ran in 0.01s =====\n", [0, 0, 0]],
  ["pytest for more than a minute", "==== 2 passed, 1 warning in 75.20s (0:01:15) ====\n", [2, 0, 0]],
  ["unittest", "Ran 3 tests in 0.001s\n\nFAILED (failures=1, skipped=1)\n", [1, 1, 1]],
  ["unittest, subtests that failed", "Ran 2 tests in 0.001s\n\nFAILED (failures=4)\n", [0, 2, 0]],
  ["unittest, a class that can't be set up", "Ran 0 tests in 0.001s\n\nFAILED (errors=1)\n", [0, 1, 0]],
  [
    "pytest, subtests that failed",
    `${[1, 2, 3].map((x) => `SUBFAILED(x=${x}) t.py::test_f - assert`).join("\n")}\nFAILED t.py::test_f\n4 failed, 1 passed, 1 subtests passed in 0.52s\n`,
    [1, 1, 0],
  ],
  ["pytest, subtests that passed", "2 passed, 4 subtests passed in 0.47s\n", [2, 0, 0]],
  ["unittest, all well", "Ran 2 tests in 0.001s\n\nOK\n", [2, 0, 0]],
  ["unittest without a test", "Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", [0, 0, 0]],
  [
    "go test -v",
    "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    --- FAIL: TestB/one (0.00s)\n--- FAIL: TestB (0.00s)\n--- SKIP: TestC (0.00s)\nFAIL\n",
    [1, 2, 1],
  ],
  ["go test -json", '{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}\n{"Action":"pass","Package":"p","Elapsed":0}\n', [1, 0, 0]],
  ["go test without counts", "ok  \texample.org/p\t0.012s\n?   \texample.org/q\t[no test files]\n", null],
  ["go test without a test", "ok  \texample.org/p\t0.012s [no tests to run]\n?   \texample.org/q\t[no test files]\n", [0, 0, 0]],
  [
    "cargo test, several binaries",
    "test tests::a ... ok\n\ntest result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.26s\n",
    [3, 1, 1],
  ],
  [
    "maven",
    "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in ATest\n[INFO] Results:\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n",
    [2, 2, 1],
  ],
  ["rspec", "5 examples, 1 failure, 1 pending\n", [3, 1, 1]],
  ["minitest", "3 runs, 5 assertions, 1 failures, 0 errors, 1 skips\n", [1, 1, 1]],
  ["phpunit", "Tests: 4, Assertions: 6, Failures: 1, Skipped: 1.\n", [2, 1, 1]],
  ["phpunit, all well", "OK (3 tests, 5 assertions)\n", [3, 0, 0]],
  ["dotnet", "Failed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4, Duration: 5 ms\n", [2, 1, 1]],
  ["deno", "ok | 3 passed | 0 failed | 1 ignored (5ms)\n", [3, 0, 1]],
  ["bun", " 3 pass\n 1 skip\n 0 fail\nRan 4 tests across 1 file. [10ms]\n", [3, 0, 1]],
  ["TAP", "1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later\n", [1, 1, 1]],
  [
    "prove -v",
    "a.t .. \nok 1 - a\nok 2 - b\n1..2\nok\nb.t .. \nok\nnot ok 2\n1..2\nFailed 1/2 subtests\nFiles=2, Tests=4,  0 wallclock secs\nResult: FAIL\n",
    [3, 1, 0],
  ],
  ["TAP without a test", "TAP version 14\n1..0\n", [0, 0, 0]],
  ["two packages of a workspace", "      Tests  3 passed (3)\n\n      Tests  2 passed | 1 failed (3)\n", [5, 1, 0]],
  ["lines that only look like counts", "tests 12\n42 passed!\nok, all 42 tests pass\n# pass 42\nTests: fine\n", null],
  ["nothing", "", null],
];

for (const [name, output, counts] of outputs) {
  test(`counts of ${name}`, () => {
    const found = parseCounts(output);
    expect(found === null ? null : [found.passed, found.failed, found.skipped]).toEqual(counts);
  });
}

test("names are told where the reporter shows all that ran", () => {
  expect(
    parseCounts("test a::x ... ok\ntest a::y ... ignored\n\ntest result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n")
      ?.names,
  ).toEqual(["a::x"]);
  expect(
    parseCounts("test a::x ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n")?.names,
  ).toBeUndefined();
  expect(
    parseCounts("✔ adds (0.5ms)\n✖ test/b.test.js (3ms)\nℹ tests 2\nℹ pass 1\nℹ duration_ms 1\n✖ failing tests:\n")?.names,
  ).toBeUndefined();
});

test("very long output is looked at from its end, in time", () => {
  const noise = "noise noise noise noise\n".repeat(400_000);
  expect(parseCounts(`${noise}      Tests  3 passed (3)\n`)).toEqual({ passed: 3, failed: 0, skipped: 0 });
});

const blobs = { get: async (text: string) => new TextEncoder().encode(text) } as unknown as BlobStore;
const runOf = (output: string, passed: boolean) => ({ passed, output, counts: parseCounts(output) }) as CheckRun;
const weaknessOf = async (before: string, now: string): Promise<string | undefined> =>
  (await countWeakness(runOf(before, false), runOf(now, true), true, blobs))?.kind;

test.each([
  ["go test", "--- FAIL: TestTotal (0.00s)\n    total_test.go:9: got 1\nFAIL\nFAIL\tjob\t0.002s\nFAIL\n", "ok  \tjob\t0.002s\n"],
  ["gradle test", "3 tests completed, 1 failed\n\nBUILD FAILED in 2s\n", "BUILD SUCCESSFUL in 2s\n"],
  ["mvn -q test", "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n", ""],
])("%s counts only what failed: a fix shows no counts, and is none the weaker", async (_, before, now) => {
  expect(await weaknessOf(before, now)).toBeUndefined();
  const other = "ℹ tests 3\nℹ pass 3\nℹ duration_ms 1\n";
  expect(await weaknessOf(before + other, now + other)).toBeUndefined();
  expect(await weaknessOf(before + other, now + other.replaceAll("3", "2"))).toBe("fewer_tests");
});

test("a runner that counts what passes as well is held to it", async () => {
  const go = "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\n";
  expect(await weaknessOf(go, "ok  \tjob\t0.002s\n")).toBe("fewer_tests");
  const maven = "[INFO] Running ATest\n[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n";
  expect(await weaknessOf(maven, "[INFO] BUILD SUCCESS\n")).toBe("fewer_tests");
  expect(await weaknessOf("--- FAIL: TestA (0.00s)\nFAIL\n", "ok  \tjob\t0.01s [no tests to run]\n")).toBe("no_tests_ran");
});

test("where a filter behind a pipe ends a check, no failure that it shows is let pass", () => {
  const filtered = ["npm test | tee out.log", "npm test 2>&1 |& /usr/bin/tail -n 5", "(npm test | cat) && echo ok"];
  expect(filtered.map(endsAsFilter)).toEqual(filtered.map(() => true));
  const judged = [
    "npm test",
    "npm test || cat log",
    "set -o pipefail; npm test | tee log",
    "npm test | grep -q passed",
    "cat a | tail -1 | xargs npm test",
  ];
  expect(judged.map(endsAsFilter)).toEqual(judged.map(() => false));
});

test("a test that failed may have said why in its name; one that passed is missed", async () => {
  const tap = (...points: string[]): string =>
    `${points.map((point, at) => point.replace("ok", `ok ${at + 1} -`)).join("\n")}\n# tests ${points.length}\n# pass ${points.filter((one) => one.startsWith("ok")).length}\n# duration_ms 1\n`;
  expect(await weaknessOf(tap("not ok adds: got 1", "ok zero"), tap("ok adds", "ok zero"))).toBeUndefined();
  expect(await weaknessOf(tap("not ok adds", "ok zero"), tap("ok adds", "ok one"))).toBe("fewer_tests");
});
