import { expect, test } from "vitest";
import { judgeExpectation } from "../src/expect.ts";
import type { Bounded } from "../src/ports/bounded.ts";
import { done } from "./kit.ts";

const bounded: Bounded = (work) => ({ value: work() });

test("an expected status is held against the answer, and a wrong one has a cause", () => {
  const judged = (status: number | undefined) =>
    judgeExpectation({ status: 201 }, done("", status === undefined ? {} : { httpStatus: status }));
  expect(judged(201)).toEqual({ verdict: "met", expected: "status 201", observed: "status 201" });
  expect(judged(undefined)).toMatchObject({ verdict: "unknown", observed: "no answer" });
  for (const [status, cause] of [
    [200, "wrong_belief"],
    [302, "wrong_belief"],
    [400, "wrong_input"],
    [403, "denied"],
    [404, "wrong_input"],
    [429, "environment"],
    [503, "environment"],
  ] as const) {
    expect(judged(status), String(status)).toMatchObject({ verdict: "unmet", cause });
  }
});

test("files are held against their digests before and after the call", () => {
  const seen = (path: string, before: string | null, after: string | null) => done("", { files: [{ path, before, after }] });
  expect(judgeExpectation({ fileChanged: "a" }, seen("a", "1", "2"))).toMatchObject({ verdict: "met" });
  expect(judgeExpectation({ fileChanged: "a" }, seen("a", "1", "1"))).toMatchObject({ verdict: "unmet", cause: "wrong_belief" });
  expect(judgeExpectation({ fileUnchanged: "a" }, seen("a", "1", "2"))).toMatchObject({ verdict: "unmet", observed: "a changed" });
  expect(judgeExpectation({ fileExists: "a" }, seen("a", null, "2"))).toMatchObject({ verdict: "met" });
  expect(judgeExpectation({ fileExists: "a" }, seen("a", "1", null))).toMatchObject({ verdict: "unmet", observed: "a is not there" });
  expect(judgeExpectation({ fileUnchanged: "a" }, done(""))).toMatchObject({ verdict: "unknown" });
});

test("another mode, or a link in its place, is a change with the same content", () => {
  const seen = done("", { files: [{ path: "a", before: "1", after: "1", isOtherForm: true }] });
  expect(judgeExpectation({ fileChanged: "a" }, seen)).toMatchObject({ verdict: "met" });
  expect(judgeExpectation({ fileUnchanged: "a" }, seen)).toMatchObject({ verdict: "unmet", observed: "a changed" });
  expect(judgeExpectation({ fileExists: "a" }, seen)?.isTrivial).toBeUndefined();
});

test("of a command that still runs, what has not come about yet is unknown", () => {
  const task = { id: "t", callId: "c", kind: "command", title: "sleep 4", ref: "r" } as const;
  const running = (before: string | null, after: string | null) => done("", { task, output: "t", files: [{ path: "a", before, after }] });
  const verdict = (...given: Parameters<typeof judgeExpectation>) => judgeExpectation(...given)?.verdict;
  expect(judgeExpectation({ exitCode: 0, fileExists: "a" }, running(null, null))).toMatchObject({
    verdict: "unknown",
    observed: "no exit status, a is not there so far: the command still runs",
  });
  expect(verdict({ fileChanged: "a" }, running("1", "1"))).toBe("unknown");
  expect(verdict({ fileUnchanged: "a" }, running("1", "1"))).toBe("unknown");
  expect(verdict({ fileUnchanged: "a" }, running("1", "2"))).toBe("unmet");
  expect(verdict({ fileExists: "a" }, running(null, "1"))).toBe("met");
  const counts = (passed: number, failed: number) => ({ counts: { passed, failed, skipped: 0 } });
  expect(verdict({ testsPassed: true }, running(null, null), counts(3, 0))).toBe("unknown");
  expect(verdict({ testsPassed: true }, running(null, null), counts(0, 0))).toBe("unknown");
  expect(verdict({ testsPassed: true }, running(null, null), counts(3, 1))).toBe("unmet");
});

test("output is held against a regular expression, and against the tests that it counts", () => {
  const matched = (outputMatches: string, text: string) => judgeExpectation({ outputMatches }, done(text), { counts: null, bounded });
  expect(matched("^built \\d+", "so\nbuilt 3\n")).toMatchObject({ verdict: "met" });
  expect(matched("^built \\d+$", "not built")).toMatchObject({ verdict: "unmet" });
  expect(matched("(", "x")).toMatchObject({ verdict: "unknown" });
  const ended = judgeExpectation({ outputMatches: "x" }, done("x"), { counts: null, bounded: () => null });
  expect(ended).toMatchObject({ verdict: "unknown", observed: "not judged: the pattern took too long" });
  expect(judgeExpectation({ outputMatches: "x" }, done("x"))).toMatchObject({ verdict: "unknown" });
  const counts = (passed: number, failed: number) => ({ counts: { passed, failed, skipped: 0 } });
  expect(judgeExpectation({ testsPassed: true }, done(""), counts(3, 0))).toMatchObject({ verdict: "met" });
  expect(judgeExpectation({ testsPassed: true }, done(""), counts(3, 1))).toMatchObject({
    verdict: "unmet",
    observed: "3 passed, 1 failed",
  });
  expect(judgeExpectation({ testsPassed: true }, done(""), counts(0, 0))).toMatchObject({ verdict: "unmet" });
  expect(judgeExpectation({ testsPassed: true }, done(""))).toMatchObject({ verdict: "unknown" });
});

test.each([
  [{ outputContains: "all well" }, "echo all well"],
  [{ outputContains: "" }, "make"],
  [{ outputMatches: ".*" }, "make"],
  [{ exitCode: 0 }, "make || true"],
  [{ exitCode: 0, outputMatches: "x?" }, "make; exit 0"],
  [{ exitCode: 0 }, "exit 0"],
  [{ exitCode: 0, outputContains: "all well" }, "echo all well || true"],
  [{ exitCode: 0 }, "true || make"],
  [{ exitCode: 0 }, "(cd a && make) || true"],
])("%j of `%s` is trivial", (expected, command) => {
  expect(judgeExpectation(expected, done("all well", { exitCode: 0 }), { command, counts: null, bounded })).toMatchObject({
    verdict: "met",
    isTrivial: true,
  });
});

test.each([
  [{ exitCode: 0 }, "make"],
  [{ exitCode: 1 }, "make || true"],
  [{ exitCode: 0 }, "make && true"],
  [{ exitCode: 0 }, "true && make"],
  [{ exitCode: 0 }, "set -e; make; true"],
  [{ exitCode: 0 }, "make || exit 1; true"],
  [{ exitCode: 0 }, "echo well | make"],
  [{ exitCode: 0 }, "sh <<E\nexit 0\nE"],
  [{ exitCode: 0 }, "if make; then exit 1; fi"],
  [{ outputContains: "3 passed" }, "make test"],
  [{ fileExists: "a", outputMatches: "" }, "make"],
])("%j of `%s` is not", (expected, command) => {
  expect(judgeExpectation(expected, done("", {}), { command, counts: null, bounded })?.isTrivial).toBeUndefined();
});

test("a file that was there before, as it is, shows nothing; one that came or changed does", () => {
  const judged = (before: string | null, after: string | null) =>
    judgeExpectation({ fileExists: "a" }, done("", { files: [{ path: "a", before, after }] }))?.isTrivial;
  expect([judged("1", "1"), judged(null, "1"), judged("1", "2"), judged("1", null)]).toEqual([true, undefined, undefined, undefined]);
});
