import { execSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CheckDefinition, DiffCheck, FilesCheck, HttpCheck, TestsCheck } from "@holdfast/protocol";
import { constraintCheck } from "../src/constraints.ts";
import { commandCheck } from "../src/index.ts";
import { readReport } from "../src/report.ts";
import { reportFound } from "../src/report-found.ts";
import { makeAdder, right, testFile } from "./adder.ts";
import type { Place } from "./place.ts";

let place: Place;
beforeEach(() => {
  place = makeAdder();
});
afterEach(() => place.end());

const asked = { id: "k", name: "k", authority: "user", isRequired: true } as const;
const files = (...conditions: FilesCheck["files"]): FilesCheck => ({ ...asked, kind: "files", files: conditions });
const diff = (more: Partial<DiffCheck>): DiffCheck => ({
  ...asked,
  kind: "diff",
  only: [],
  never: [],
  maxFiles: null,
  maxLines: null,
  keepsTests: false,
  addsNoSecrets: false,
  ...more,
});

/** Takes the baseline, does the work, and looks. */
async function look(check: CheckDefinition, work: () => void) {
  const baseline = await place.verifier.baseline([check], true, place.context(), new AbortController().signal);
  work();
  const { evidence, verdict } = await place.round(baseline, check);
  return {
    verdict: verdict.verdict,
    says: evidence[0]?.run.tail ?? "",
    heading: verdict.report.heading,
    evidence: evidence[0],
    forModel: verdict.forModel,
  };
}

describe("files", () => {
  test("what is wanted of files holds", async () => {
    const check = files(
      { path: "src/add.js", contains: "a + b" },
      { path: "test/add.test.js", unchanged: true },
      { path: "old.txt", exists: false },
    );
    expect(await look(check, () => place.write("src/add.js", right))).toMatchObject({ verdict: "pass", says: "3 files are as wanted" });
  });

  test("a pattern that takes too long is ended, said, and passes nothing", async () => {
    const end = await look(files({ path: "src/add.js", matches: "^(a+)+$" }), () => place.write("src/add.js", `${"a".repeat(60)}!`));
    expect(end).toMatchObject({ verdict: "fail", says: "src/add.js is not judged: ^(a+)+$ took too long" });
  });

  test("what doesn't hold is said, to the model too", async () => {
    const check = files(
      { path: "src/add.js", matches: "^export const sum" },
      { path: "test/add.test.js", unchanged: true },
      { path: "NEWS.md", exists: true },
    );
    const end = await look(check, () => place.write("test/add.test.js", "// nothing\n"));
    expect(end).toMatchObject({
      verdict: "fail",
      says: "src/add.js does not match ^export const sum\ntest/add.test.js changed\nNEWS.md is not there",
    });
    expect(end.forModel).toContain("test/add.test.js changed");
  });

  test("what stands there counts, whether it is a file, can be read, or leads anywhere", async () => {
    const check = files(
      ...["test", "pipe", "dangling", "linked", "huge", "old/"].map((path) => ({ path, exists: false })),
      ...["src/", "pipe", "linked", "huge", "dangling", "src/add.js/"].map((path) => ({ path, exists: true })),
      ...["huge", "pipe", "src"].map((path) => ({ path, contains: "x" })),
    );
    const { verdict, says } = await look(check, () =>
      execSync("mkfifo pipe; ln -s gone dangling; ln -s src linked; truncate -s 20M huge", { cwd: place.dir, stdio: "ignore" }),
    );
    expect(verdict).toBe("fail");
    expect(says.split("\n")).toEqual([
      ...["test is there", "pipe is there", "dangling is there", "linked is there", "huge is there"],
      ...["dangling is a link that leads nowhere", "src/add.js/ is no folder"],
      ...[
        "huge is not judged: it has more than 16 MB, or can't be read",
        "pipe is no file that can be read",
        "src is no file that can be read",
      ],
    ]);
  });

  test("what is unchanged is so in kind, mode and content, in a folder too, and where it is ignored", async () => {
    place.write(".gitignore", "*.log\ntmp*\n");
    for (const name of ["a", "b", "same/a"]) place.write(name, "x\n");
    place.commit();
    for (const name of ["same.log", "a.log", "gone.log", "tmp/a", "tmp2/a"]) place.write(name, "x\n");
    const paths = ["a", "b", "src", "a.log", "gone.log", "new.log", "new", "tmp2", "same", "same.log", "same-none", "tmp"];
    const work = "chmod +x a; ln -sf same/a b; echo > src/n; echo > a.log; rm gone.log; touch new.log new other.log; echo > tmp2/a";
    const end = await look(files(...paths.map((path) => ({ path, unchanged: true }))), () => execSync(work, { cwd: place.dir }));
    expect(end.says.split("\n")).toEqual(paths.slice(0, 8).map((path) => `${path} changed`));
  });

  test("what nobody looked at before is not judged, and passes nothing", async () => {
    place.write(".gitignore", "*.log\n");
    place.commit();
    place.write("a.log", "x\n");
    const baseline = await place.verifier.baseline([], true, place.context(), new AbortController().signal);
    const { evidence, verdict } = await place.round(baseline, files({ path: "a.log", unchanged: true }));
    expect(evidence[0]?.run.tail).toMatch(/^a\.log is not judged: how it was/);
    expect(verdict.verdict).toBe("fail");
  });
});

describe("diff", () => {
  test("only what may change has changed", async () => {
    const check = diff({ only: ["src/**"], never: ["**/*.lock"], maxFiles: 3, maxLines: 10, keepsTests: true, addsNoSecrets: true });
    expect(await look(check, () => place.write("src/add.js", right))).toMatchObject({ verdict: "pass" });
  });

  test("a path that may not change, and a change that is too large, are named", async () => {
    const check = diff({ only: ["src/**"], maxLines: 3 });
    const end = await look(check, () => place.write("lib/more.js", "1\n2\n3\n4\n"));
    expect(end).toMatchObject({ verdict: "fail", says: "lib/more.js was added, and may not change\n4 lines changed, more than 3" });
  });

  test.each([
    ["removed", testFile.split("\n").slice(0, 4).join("\n"), "tests were removed: adds zero"],
    ["skipped", testFile.replace("test(", "test.skip("), "tests are skipped that were not"],
    ["focused", testFile.replace("test(", "test.only("), "tests are focused"],
    ["weakened", testFile.replace("assert.equal(add(0, 0), 0)", "add(0, 0)"), "assertions before"],
  ])("a test that is %s is noticed", async (_, text, says) => {
    const end = await look(diff({ keepsTests: true }), () => place.write("test/add.test.js", text));
    expect(end.verdict).toBe("fail");
    expect(end.says).toContain(says);
  });

  test("a test that asserts something else proves nothing, until a person accepts it", async () => {
    const work = () => place.write("test/add.test.js", testFile.replace("add(1, 2), 3", "add(1, 2), -1"));
    const end = await look(diff({ keepsTests: true }), work);
    expect(end.verdict).toBe("weak");
    expect(end.heading).toBe('not proven: tests are changed in what they assert: test/add.test.js ("adds")');
    expect(end.evidence?.weaknesses).toMatchObject([{ kind: "test_changed" }]);
  });

  test("a test that a person accepts as changed may change, and a new one may come", async () => {
    place.accept = ["test/add.test.js"];
    const work = () => {
      place.write("test/add.test.js", "");
      place.write("test/more.test.js", testFile.replaceAll("add(", "add(0, "));
    };
    const end = await look(diff({ keepsTests: true }), work);
    expect(end).toMatchObject({ verdict: "pass" });
    expect(end.evidence?.accepted).toEqual(["test/add.test.js"]);
  });

  test("a secret that is added is noticed, and not repeated", async () => {
    const secret = `ghp_${"a1B2".repeat(10)}`;
    const end = await look(diff({ addsNoSecrets: true }), () => place.write("src/key.js", `export const key = "${secret}";\n`));
    expect(end).toMatchObject({ verdict: "fail", says: "src/key.js has a secret in it that it had not before" });
  });
});

describe("tests", () => {
  const tests = (command: string, report: TestsCheck["report"]): TestsCheck => ({ ...commandCheck(command, asked), kind: "tests", report });
  const junit = { path: "report.xml", format: "junit" } as const;
  const command = "node --test --test-reporter=junit --test-reporter-destination=report.xml";
  beforeEach(() => {
    place.write(".gitignore", "report.xml\n");
    place.commit();
  });

  test("a run is judged by the report that it writes, by name", async () => {
    const end = await look(tests(command, junit), () => place.write("src/add.js", right));
    expect(end.verdict).toBe("pass");
    expect(end.evidence?.run.counts).toMatchObject({ passed: 2, failed: 0, names: ["test > adds", "test > adds zero"] });
  });

  test("a report that was there before is nobody's, and status 0 is not enough", async () => {
    const end = await look(tests("true", junit), () =>
      place.write("report.xml", '<testsuites><testcase name="adds" classname="test"/></testsuites>'),
    );
    expect(end.verdict).toBe("fail");
    expect(end.says).toContain("it wrote no report of tests to report.xml");
  });

  test.each([
    ["echo '<testsuite><testcase name=\"a\"/>' > report.xml", "its report report.xml: it is cut off within <testsuite>"],
    ["ln -sf gone report.xml", "its report report.xml is a link that leads nowhere"],
    ["rm -f report.xml; mkfifo report.xml", "its report report.xml is no file that can be read"],
    ["truncate -s 17M report.xml", "its report report.xml has more than 16 MB"],
  ])("a report that is refused says why: `%s`", async (line, says) => {
    const check = tests(line, junit);
    const baseline = await place.verifier.baseline([], false, place.context(), new AbortController().signal);
    const { evidence, verdict } = await place.round(baseline, check);
    expect(evidence[0]?.run.tail).toContain(says);
    expect(verdict.report.reasons.join()).toContain(says);
  });

  test("what is no report of its form is told from an empty one and one in another encoding", () => {
    const says = (bytes: string | Buffer) => reportFound(tests("x", junit), Buffer.from(bytes), null).problem;
    expect(says("well")).toBe("its report report.xml is no JUnit XML");
    expect(says("")).toBe("its report report.xml is empty");
    expect(says(Buffer.from("<testsuite/>", "utf16le"))).toBe("its report report.xml has zero bytes in it: only UTF-8 is read");
  });

  describe("in a repository that doesn't ignore it", () => {
    const units = tests(command, junit);
    const small = { ...diff({ only: ["src/**"], maxLines: 2 }), id: "small" };
    const only = { ...constraintCheck("only change src/**", "flag"), id: "only" };
    const signal = new AbortController().signal;
    beforeEach(() => place.write(".gitignore", ""));

    test("the report is no part of what is tested, nor of what was changed, whoever runs the tests last", async () => {
      const baseline = await place.verifier.baseline([units, small, only], true, place.context(), signal);
      place.write("src/add.js", right);
      for (const order of [
        [small, only, units],
        [units, small, only],
      ]) {
        const { evidence, verdict } = await place.round(baseline, ...order);
        expect(evidence.map(({ run }) => run.passed)).toEqual([true, true, true]);
        expect(evidence.flatMap(({ weaknesses }) => weaknesses)).toEqual([]);
        // No run with an earlier version of the tests, which are as they were.
        expect(evidence.flatMap(({ originalInputsRun }) => originalInputsRun ?? [])).toEqual([]);
        expect(verdict.verdict).toBe("pass");
        // The model tries the tests itself.
        execSync(command, { cwd: place.dir, stdio: "ignore", env: { PATH: process.env["PATH"] } });
        expect(await place.verifier.subject(baseline)).toBe(evidence[0]?.subjectAfter);
      }
    });

    test("what the session writes in its place is a change, and what a run wrote is none", async () => {
      const baseline = await place.verifier.baseline([units, small], true, place.context(), signal);
      const changed = async (): Promise<string[]> => {
        const { manifest } = await place.observer.snapshot(baseline.manifest);
        const all = await place.observer.changes(baseline.manifest ?? "", manifest);
        return ((await place.verifier.withoutReports?.(all, manifest, baseline.evidence)) ?? []).map(({ path }) => path);
      };
      expect(await changed()).toEqual([]);
      place.write("report.xml", "notes\n");
      place.write("src/report.xml", "<testsuites/>\n");
      expect(await changed()).toEqual(["report.xml", "src/report.xml"]);
      const { evidence } = await place.round(baseline, small);
      expect(evidence[0]?.run.tail).toContain("report.xml was added, and may not change");
    });

    test("a name with signs of a glob is that one file", async () => {
      const odd = { path: "./out/[a]*.xml", format: "junit" } as const;
      const check = tests(`mkdir -p out; ${command}; mv report.xml 'out/[a]*.xml'; exit 0`, odd);
      const baseline = await place.verifier.baseline([check], true, place.context(), signal);
      expect(baseline.evidence[0]?.run.report?.path).toBe("out/[a]*.xml");
      const before = await place.verifier.subject(baseline);
      place.write("out/[a]*.xml", "other\n");
      expect(await place.verifier.subject(baseline)).toBe(before);
      place.write("out/a1.xml", "other\n");
      expect(await place.verifier.subject(baseline)).not.toBe(before);
    });
  });

  test("without a file, the output is the report", async () => {
    const end = await look(tests("node --test --test-reporter=tap", null), () => place.write("src/add.js", right));
    expect(end).toMatchObject({ verdict: "pass", evidence: { run: { counts: { passed: 2 } } } });
  });
});

describe("http", () => {
  let server: Server;
  let answer: { status: number; body: string; headers: Record<string, string> };
  let url = "";
  beforeEach(async () => {
    answer = { status: 200, body: '{"build":{"ok":true,"n":[1,2]}}', headers: {} };
    server = createServer((_, response) => response.writeHead(answer.status, answer.headers).end(answer.body));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/state`;
  });
  afterEach(() => void server.close());
  const http = (more: Partial<HttpCheck>): HttpCheck => ({
    ...asked,
    kind: "http",
    url,
    status: 200,
    json: [],
    freshWithinMs: null,
    timeoutMs: 5_000,
    ...more,
  });

  test("status and values are as wanted, and the answer is fresh", async () => {
    const check = http({
      json: [
        { path: "build.ok", equals: true },
        { path: "build.n.1", equals: 2 },
      ],
      freshWithinMs: 60_000,
    });
    expect(await look(check, () => {})).toMatchObject({ verdict: "pass" });
  });

  test("another value, another status and an old answer are named", async () => {
    answer = { status: 201, body: '{"build":{"ok":false}}', headers: { date: "Mon, 01 Jan 2024 00:00:00 GMT" } };
    const end = await look(http({ json: [{ path: "build.ok", equals: true }], freshWithinMs: 1_000 }), () => {});
    expect(end.says).toContain("status 201 instead of 200");
    expect(end.says).toContain("build.ok is false instead of true");
    expect(end.says).toMatch(/the answer is \d+ s old/);
  });

  test("an answer from the future, and an age that is none, are not fresh", async () => {
    const says = async (headers: Record<string, string>) => {
      answer = { ...answer, headers };
      return (await look(http({ freshWithinMs: 60_000 }), () => {})).says;
    };
    const at = (ms: number) => new Date(Date.now() + ms).toUTCString();
    expect(await says({ date: at(3_600_000) })).toMatch(/is dated \d+ s in the future: how old it is can't be told$/);
    expect(await says({ date: at(0), age: "-3600" })).toContain('its Age is "-3600"');
    expect(await says({ date: at(5_000), age: "3" })).toContain("answers as wanted");
  });
});

test("a check about other paths than were changed is not run, and proves nothing", async () => {
  const check = { ...commandCheck("exit 1"), when: ["docs/**"] };
  const baseline = await place.verifier.baseline([check], false, place.context(), new AbortController().signal);
  place.write("src/add.js", right);
  const { evidence, verdict } = await place.round(baseline, check);
  expect(evidence[0]).toMatchObject({ applies: false });
  const row = { now: "not run", evidence: "nothing that it is about was changed" };
  expect(verdict).toMatchObject({
    verdict: "weak",
    report: { heading: "not verified: no check is about what was changed", criteria: [row] },
  });
  place.write("docs/a.md", "x");
  expect((await place.round(baseline, check)).verdict.verdict).toBe("fail");
});

test("a kind that nobody registered fails, and one that is registered is asked", async () => {
  const other = (of: string): CheckDefinition => ({ ...asked, kind: "other", of, options: { wanted: 3 } });
  expect(await look(other("nothing"), () => {})).toMatchObject({
    verdict: "fail",
    says: "this program has no kind of check named nothing",
  });
  expect(await look(other("counts-to"), () => {})).toMatchObject({ verdict: "pass", says: "counted to 3" });
});

describe("reports", () => {
  test.each([
    [
      "junit",
      '<testsuite><testcase name="a &amp; b" classname="X"/><testcase name="c"><failure message="<testcase>"/></testcase><testcase name="d"><skipped/></testcase></testsuite>',
    ],
    [
      "json",
      JSON.stringify({
        testResults: [
          {
            assertionResults: [
              { fullName: "X > a & b", status: "passed" },
              { fullName: "c", status: "failed" },
              { fullName: "d", status: "pending" },
            ],
          },
        ],
      }),
    ],
    ["tap", "TAP version 14\nok 1 - X > a & b\nnot ok 2 - c\n    ok 1 - inner\nok 3 - d # SKIP later\n1..3\n"],
  ] as const)("%s", (format, text) => {
    for (const form of [format, "auto"] as const)
      expect(readReport(text, form)).toEqual({ counts: { passed: 1, failed: 1, skipped: 1, names: ["X > a & b", "c"] }, wrong: [] });
  });

  test("planned tests that never came are failures; what is no report is none", () => {
    expect(readReport("1..3\nok 1 - a\n", "tap")?.counts).toMatchObject({ passed: 1, failed: 2 });
    for (const text of ["", "<html/>", "{}", '{"testResults":3}', "null", "all well"]) expect(readReport(text, "auto")).toBeNull();
  });

  const listed = [{ name: "a.test.js", status: "passed", assertionResults: [{ fullName: "a", status: "passed" }] }];
  const json = (more: object): string => JSON.stringify({ testResults: listed, ...more });
  test.each([
    ['<testsuites><testsuite name="s" tests="5" failures="2" errors="1"><testcase name="a"/>', "it is cut off within <testsuite>"],
    ['<testsuite><testcase name="a"/><testcase name="b"><system-out><![CDATA[ x', "it is cut off within a comment or CDATA"],
    ['<testsuite name="s" tests="1" failures="0" errors="1"><testcase name="a"/></testsuite>', "says that 1 failed and shows 0 of them"],
    ['<testsuites failures="1"><testsuite><testcase name="a"/></testsuite></testsuites>', "a suite says that 1 failed"],
    ['<testsuite name="s" tests="2"><testcase name="a"/></testsuite>', "says that it has 2 tests and shows 1"],
    ["TAP version 14\nok 1 - a\nBail out! db gone\n1..1\n", "Bail out! db gone"],
    ["TAP version 13\nok 1 - a\n", "its plan (1..N) never came"],
    [json({ success: false, numFailedTests: 2, numTotalTests: 3 }), "it says that 2 failed and shows 0 of them"],
    [json({ success: false }), "the run had no success"],
    [json({ success: true, numTotalTests: 2 }), "2 tests and shows 1"],
    [json({ numRuntimeErrorTestSuites: 1 }), "1 files failed"],
  ])("%s says against itself that all is well", (text, says) => {
    const read = readReport(text, "auto");
    expect(read?.counts).toMatchObject({ passed: 1, failed: 1, names: ["a"] });
    expect(read?.wrong).toEqual([expect.stringContaining(says)]);
  });

  test("a failure beside all tests, of a suite or of a file, is one", () => {
    const suite = '<testsuite name="s" tests="1" errors="1"><testcase name="a"/><error>no db</error></testsuite>';
    const file = JSON.stringify({ success: false, testResults: [{ ...listed[0], status: "failed" }] });
    for (const text of [suite, file]) expect(readReport(text, "auto")).toMatchObject({ counts: { passed: 1, failed: 1 }, wrong: [] });
  });

  test("groups that count as tests, and numbers that leave out repeats, are no harm", () => {
    const nested =
      '<testsuite name="out" tests="1" failures="0"><testsuite name="in" tests="2"><testcase name="a"/><testcase name="b"/></testsuite></testsuite>';
    expect(readReport(`<testsuites>${nested}</testsuites>`, "auto")).toMatchObject({ counts: { passed: 2, failed: 0 }, wrong: [] });
  });
});
