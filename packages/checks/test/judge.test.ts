import { expect, test } from "vitest";
import type { CheckRun, Evidence, FileChange } from "@holdfast/protocol";
import type { Baseline } from "@holdfast/runtime";
import { commandCheck } from "../src/index.ts";
import { judge } from "../src/judge.ts";

const check = commandCheck("npm test");
const other = commandCheck("npm run lint", { name: "lint" });
const changes: FileChange[] = [{ path: "a.ts", change: "modified", added: 1, removed: 1 }];

function run(passed: boolean, extra: Partial<CheckRun> = {}): CheckRun {
  return {
    exitCode: passed ? 0 : 1,
    signal: null,
    timedOut: false,
    durationMs: 1234,
    passed,
    counts: null,
    tail: "the end\n",
    output: "blob",
    ...extra,
  };
}

function evidence(passed: boolean, extra: Partial<Evidence> = {}): Evidence {
  return {
    checkId: check.id,
    phase: "final",
    subjectBefore: "after".padEnd(64, "0"),
    subjectAfter: "after".padEnd(64, "0"),
    inputs: "i",
    definition: "d",
    run: run(passed),
    originalInputsRun: null,
    repeats: [],
    weaknesses: [],
    sandboxed: true,
    gitTree: null,
    at: 1,
    ...extra,
  };
}

function baseline(...list: Evidence[]): Baseline {
  const before = list.map((one) => ({ ...one, phase: "baseline" as const, subjectBefore: "before", subjectAfter: "before" }));
  return { subject: "before", manifest: "m", evidence: before, inputs: null };
}

const input = {
  checks: [check],
  baseline: baseline(evidence(false)),
  evidence: [evidence(true)],
  subject: null as string | null,
  changes,
  changesKnown: true,
  message: "All done.",
};

test("red to green is demonstrated", () => {
  const { verdict, report } = judge(input);
  expect(verdict).toBe("pass");
  expect(report.heading).toBe("demonstrated: npm test failed before and passes now");
  expect(report.criteria).toEqual([
    { checkId: check.id, name: "npm test", baseline: "fail", now: "pass", evidence: "exit 0, no counts shown, 1.2 s, on after0000000" },
  ]);
  expect(report.message).toBe("All done.");
  expect(report.reasons).toEqual([]);
});

test("green to green, no baseline and no change are not demonstrated", () => {
  const heading = (extra: Partial<typeof input>): string => judge({ ...input, ...extra }).report.heading;
  expect(heading({ baseline: baseline(evidence(true)) })).toBe("not demonstrated: the checks passed before as well");
  expect(heading({ baseline: baseline() })).toBe("not demonstrated: the checks pass now; how they were before is not known");
  expect(heading({ baseline: baseline(evidence(true)), changes: [] })).toBe(
    "not demonstrated: nothing was changed, and the checks passed before as well",
  );
  const flaky = evidence(false, { weaknesses: [{ kind: "flaky", detail: "x" }] });
  expect(heading({ baseline: baseline(flaky) })).toMatch(/^not demonstrated/);
});

test("without a check: nothing to verify, or not verified", () => {
  const none = { ...input, checks: [], baseline: null, evidence: [] };
  expect(judge({ ...none, changes: [] }).report.heading).toBe("nothing to verify");
  expect(judge(none).report.heading).toBe("not verified: no check was asked for");
  expect(judge({ ...none, changes: [], changesKnown: false }).report.heading).toBe("not verified: no check was asked for");
});

test("one failing required check refutes, whatever the others say", () => {
  const weak = evidence(true, { checkId: other.id, weaknesses: [{ kind: "flaky", detail: "1 of 2 runs passed" }] });
  const { verdict, report, forModel } = judge({ ...input, checks: [check, other], evidence: [evidence(false), weak] });
  expect(verdict).toBe("fail");
  expect(report.heading).toBe("refuted: npm test fails");
  expect(report.reasons).toEqual(["npm test: failed: exit 1, no counts shown, 1.2 s", "lint: 1 of 2 runs passed"]);
  expect(forModel).toContain("The check `npm test` failed (exit 1, no counts shown, 1.2 s).");
  expect(forModel).toContain("the end");
  expect(forModel).toContain("will be run again");
  expect(forModel).not.toContain("lint");
});

test("a check that the model added and nobody requires never refutes", () => {
  const added = { ...other, isRequired: false };
  const { verdict, report } = judge({
    ...input,
    checks: [check, added],
    evidence: [evidence(true), evidence(false, { checkId: other.id })],
  });
  expect(verdict).toBe("pass");
  expect(report.criteria.map((row) => row.now)).toEqual(["pass", "fail"]);
});

test("a required check without evidence is not a pass", () => {
  const { verdict, report } = judge({ ...input, checks: [check, other] });
  expect(verdict).toBe("weak");
  expect(report.criteria.map((row) => row.now)).toEqual(["pass", "not run"]);
});

test("evidence of another tree is not a pass", () => {
  const earlier = evidence(true, { subjectBefore: "x", subjectAfter: "x", at: 0 });
  const { verdict, report } = judge({ ...input, checks: [check, other], evidence: [earlier, evidence(true, { checkId: other.id })] });
  expect(verdict).toBe("weak");
  expect(report.reasons).toEqual(["npm test: a later check changed files after it ran"]);
});

test("evidence of a tree that changed before the turn ended is not a pass", () => {
  expect(judge({ ...input, subject: evidence(true).subjectAfter }).verdict).toBe("pass");
  const { verdict, report } = judge({ ...input, subject: "later" });
  expect(verdict).toBe("weak");
  expect(report.reasons).toEqual(["files changed after it ran, before the turn ended"]);
});

test("failing before and passing now on the same files is flaky, not fixed", () => {
  const same = evidence(true, { subjectBefore: "before", subjectAfter: "before" });
  const { verdict, report } = judge({ ...input, evidence: [same], changes: [] });
  expect(verdict).toBe("weak");
  expect(report.heading).toBe("not proven: flaky: it failed before and passes now on the same files");
});

test("what the model is told of failures is bounded, and keeps the ends", () => {
  const checks = [check, other];
  const tail = (mark: string): string => `${"x".repeat(4_000)}${mark}`;
  const failing = checks.map((one, index) => evidence(false, { checkId: one.id, run: run(false, { tail: tail(`end ${index}`) }) }));
  const { forModel } = judge({ ...input, checks, evidence: failing });
  expect(forModel.length).toBeLessThan(4_600);
  expect(forModel).toContain("end 0");
  expect(forModel).toContain("end 1");
});

test("a run without a sandbox, a signal and a timeout are said as what they are", () => {
  const now = (extra: Partial<Evidence>): string | undefined =>
    judge({ ...input, evidence: [evidence(false, extra)] }).report.criteria[0]?.evidence;
  expect(now({ sandboxed: false })).toContain("run without a sandbox");
  expect(now({ run: run(false, { exitCode: null, signal: "SIGSEGV" }) })).toContain("ended by SIGSEGV");
  expect(now({ run: run(false, { exitCode: null, timedOut: true }) })).toContain("timed out");
  const counts = { passed: 3, failed: 1, skipped: 2 };
  expect(now({ run: run(false, { counts }) })).toContain("3 passed, 1 failed, 2 skipped");
  expect(now({ run: run(true), originalInputsRun: run(true) })).toContain("with the earlier tests: passes");
});

test("a proposed check that passes whatever is done is marked so, and one that can fail is not", () => {
  const note = (command: string) => {
    const proposed = commandCheck(command, { authority: "tool" });
    const { report } = judge({ ...input, checks: [proposed], evidence: [evidence(true, { checkId: proposed.id })] });
    return report.criteria[0]?.evidence.includes("it passes whatever is done");
  };
  expect(["true", "npm test || true", "true || npm test", "echo fine", "exit 0"].map(note)).not.toContain(false);
  expect(["npm test", "true && npm test", "npm test && true", "npm test || false", "npm test || exit 1; true"].map(note)).not.toContain(
    true,
  );
});
