import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandCheck } from "../src/index.ts";
import { makePlace, pausesOf, type Place } from "./place.ts";

let place: Place;
beforeEach(() => {
  place = makePlace();
  place.write("a.txt", "a\n");
  place.commit();
});
afterEach(() => place.end());

const never = (): AbortSignal => new AbortController().signal;

test("the same command has the same id, and another one another", () => {
  expect(commandCheck("npm test")).toEqual({ ...commandCheck("npm test", { name: "npm test" }) });
  expect(commandCheck("npm test").id).not.toBe(commandCheck("npm  test").id);
  expect(commandCheck("x")).toMatchObject({ authority: "user", isRequired: true, timeoutMs: 600_000, name: "x" });
});

test("a baseline that runs nothing still has the subject and the inputs", async () => {
  const check = commandCheck("touch ran; exit 1");
  const baseline = await place.verifier.baseline([check], false, place.context(), never());
  expect(baseline.evidence).toEqual([]);
  expect(baseline.subject).toMatch(/^[0-9a-f]{64}$/);
  expect(existsSync(join(place.dir, "ran"))).toBe(false);
});

test("output is streamed while the check runs, and kept whole", async () => {
  const check = commandCheck("echo one; sleep 0.3; printf '\\033[31mtwo\\033[0m\\n' >&2; seq 1 20000");
  const baseline = await place.verifier.baseline([check], false, place.context(), never());
  const { evidence } = await place.round(baseline, check);
  expect(place.printed[0]).toContain("one");
  expect(place.printed.join("")).toContain("19999\n20000\n");
  expect(place.printed.length).toBeGreaterThan(1);
  const [run] = evidence.map((one) => one.run);
  expect(run?.tail.length).toBeLessThanOrEqual(4_096);
  expect(run?.tail).toContain("20000");
  expect(run?.output).toMatch(/^[0-9a-f]+$/);
});

test("an aborted check is stopped at once, and the session's commands go on", async () => {
  const check = commandCheck("sleep 60 & echo started; wait");
  const baseline = await place.verifier.baseline([check], false, place.context(), never());
  const controller = new AbortController();
  const context = { ...place.context(), runningTasks: ["t1"], onOutput: () => controller.abort(new Error("interrupted")) };
  await expect(place.verifier.check(check, baseline, context, controller.signal)).rejects.toThrow("interrupted");
  expect(pausesOf(place)).toEqual(["pause t1", "continue t1"]);
});

test("a command that ended before it could be paused is no reason to fail", async () => {
  const check = commandCheck("true");
  const baseline = await place.verifier.baseline([check], true, { ...place.context(), runningTasks: ["gone", "t2"] }, never());
  expect(baseline.evidence[0]?.run.passed).toBe(true);
  expect(pausesOf(place)).toEqual(["pause gone", "pause t2", "continue gone", "continue t2"]);
});

test("a check that takes too long has timed out, and is not run again", async () => {
  const check = commandCheck("sleep 60", { timeoutMs: 200 });
  const baseline = await place.verifier.baseline([check], false, place.context(), never());
  const { evidence, verdict } = await place.round(baseline, check);
  expect(evidence[0]?.run).toMatchObject({ timedOut: true, passed: false, exitCode: null });
  expect(evidence[0]?.repeats).toEqual([]);
  expect(verdict.verdict).toBe("fail");
});

test("a check that fails is run once more, so that chance is told from a fault", async () => {
  const check = commandCheck(`echo x >> ${join(place.top, "runs")}; exit 1`);
  const baseline = await place.verifier.baseline([check], false, place.context(), never());
  const { evidence } = await place.round(baseline, check);
  expect(evidence[0]?.repeats).toHaveLength(2);
  expect(readFileSync(join(place.top, "runs"), "utf8")).toBe("x\nx\n");
  expect(evidence[0]?.weaknesses).toEqual([]);
});

test("evidence names the git tree while the workspace is clean, and says that no sandbox was there", async () => {
  const check = commandCheck("true");
  const baseline = await place.verifier.baseline([check], false, place.context(), never());
  const clean = await place.round(baseline, check);
  expect(clean.evidence[0]?.gitTree).toMatch(/^[0-9a-f]{40}$/);
  expect(clean.evidence[0]?.sandboxed).toBe(false);
  place.write("a.txt", "b\n");
  expect((await place.round(baseline, check)).evidence[0]?.gitTree).toBeNull();
});

test("a check added later is held to the session's baseline", async () => {
  place.write("test/run.sh", "grep -q b a.txt\n");
  place.commit();
  const baseline = await place.verifier.baseline([], false, place.context(), never());
  place.write("test/run.sh", "true\n");
  const { evidence } = await place.round(baseline, commandCheck("sh test/run.sh"));
  expect(evidence[0]?.weaknesses).toMatchObject([{ kind: "test_changed" }]);
});

test("checks added later extend the baseline and never move it", async () => {
  const [first, second] = [commandCheck("sh test/run.sh"), commandCheck("true")];
  place.write("test/run.sh", "grep -q b a.txt\n");
  place.commit();
  const before = await place.baseline(first);
  place.write("test/run.sh", "true\n");
  const after = await place.verifier.baseline([first, second], true, { ...place.context(), earlier: before }, never());
  expect(after.subject).toBe(before.subject);
  expect(after.evidence.map((one) => [one.checkId, one.run.passed])).toEqual([
    [first.id, false],
    [second.id, true],
  ]);
  const { evidence } = await place.round(after, first);
  expect(evidence[0]?.weaknesses).toMatchObject([{ kind: "test_changed" }]);
});
