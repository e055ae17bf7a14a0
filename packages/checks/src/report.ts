import type { Json, TestCounts, TestsCheck } from "@holdfast/protocol";
import { parseCounts } from "./counts.ts";
import { isObject, parseObject } from "./parts.ts";

type Format = NonNullable<TestsCheck["report"]>["format"];
type Status = "passed" | "failed" | "skipped";
/** So many of a plan's points that never came are named. */
const mostMissing = 1_000;

/** What a report shows: its tests, and what it says of the run beside them. */
export interface ReportRead {
  /** With the names of those that ran. What is wrong beside the tests counts as failed. */
  readonly counts: TestCounts;
  /** That the run went wrong, or that the report isn't whole. Empty where all is well. */
  readonly wrong: readonly string[];
}

interface Told {
  readonly tests: readonly (readonly [name: string, status: Status])[];
  readonly wrong: readonly string[];
}

/** Null where it is no report of its form. */
export function readReport(text: string, format: Format): ReportRead | null {
  switch (format) {
    case "junit":
      return counted(junit(text));
    case "json":
      return counted(jestJson(text));
    case "tap":
      return counted(tap(text));
    case "auto": {
      const start = text.trimStart();
      if (start.startsWith("<")) return readReport(text, "junit");
      if (start.startsWith("{")) return readReport(text, "json");
      const counts = parseCounts(text);
      return counted(tap(text)) ?? (counts === null ? null : { counts, wrong: [] });
    }
  }
}

function counted(told: Told | null): ReportRead | null {
  if (told === null) return null;
  const { tests, wrong } = told;
  const of = (status: Status): number => tests.filter(([, one]) => one === status).length;
  const names = [...new Set(tests.filter(([, status]) => status !== "skipped").map(([name]) => name))].sort();
  return { counts: { passed: of("passed"), failed: of("failed") + wrong.length, skipped: of("skipped"), names }, wrong };
}

/** A suite or a test that is being read. */
interface Frame {
  readonly tag: string;
  readonly name: string;
  status: Status;
  /** Tests in it, and failures and errors; of a suite by its own numbers too. */
  tests: number;
  failures: number;
  readonly says: { readonly tests: number; readonly failures: number };
}

const junitTag = /<(\/?)(testsuites?|testcase|failure|error|skipped)\b((?:[^>"']|"[^"]*"|'[^']*')*?)(\/?)>/g;

/**
 * The JUnit form that runners write (schema of the Ant task, as Surefire has it): test cases, each with what befell it inside.
 * A suite may have failures of its own, and says how many tests and failures it has.
 */
function junit(text: string): Told | null {
  const plain = text.replaceAll(/<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>/g, "");
  if (!/<testsuites?\b/.test(plain)) return null;
  const tests: (readonly [string, Status])[] = [];
  const wrong: string[] = [];
  const frames: Frame[] = [];
  const close = (frame: Frame): void => {
    frames.pop();
    if (frame.tag === "testcase") {
      tests.push([frame.name, frame.status]);
      frame.tests = 1;
    } else wrong.push(...lacking(frame));
    const parent = frames.at(-1);
    if (parent === undefined) return;
    parent.tests += Math.max(frame.tests, frame.says.tests);
    parent.failures += Math.max(frame.failures, frame.says.failures);
  };
  for (const [, end, tag = "", attributes = "", isEmpty] of plain.matchAll(junitTag)) {
    const top = frames.at(-1);
    if (tag === "failure" || tag === "error" || tag === "skipped") {
      if (end !== "" || top === undefined) continue;
      if (tag !== "skipped") top.failures += 1;
      if (tag !== "skipped" && top.tag !== "testcase") tests.push([top.name, "failed"]);
      if (top.status !== "failed") top.status = tag === "skipped" ? "skipped" : "failed";
    } else if (end === "") {
      const frame = frameOf(tag, attributes);
      frames.push(frame);
      if (isEmpty !== "") close(frame);
    } else if (top?.tag === tag) close(top);
    else return { tests, wrong: [`</${tag}> ends what did not begin`] };
  }
  const open = /<!--|<!\[CDATA\[/.test(plain) ? "a comment or CDATA" : frames.length > 0 ? `<${frames.at(-1)?.tag ?? ""}>` : null;
  return { tests, wrong: open === null ? wrong : [`it is cut off within ${open}`] };
}

function frameOf(tag: string, attributes: string): Frame {
  const number = (name: string): number => Number(attribute(attributes, name)) || 0;
  const parts = [tag === "testcase" ? attribute(attributes, "classname") : "", attribute(attributes, "name")].filter((part) => part !== "");
  const says = tag === "testcase" ? { tests: 0, failures: 0 } : { tests: number("tests"), failures: number("failures") + number("errors") };
  return { tag, name: parts.join(" > "), status: "passed", tests: 0, failures: 0, says };
}

/** What a suite says of itself and doesn't show. More than it says may be there: some count groups, some leave out repeats. */
function lacking({ name, tests, failures, says }: Frame): string[] {
  const who = name === "" ? "a suite" : `the suite ${JSON.stringify(name)}`;
  if (says.failures > failures) return [`${who} says that ${says.failures} failed and shows ${failures} of them`];
  return says.tests > tests ? [`${who} says that it has ${says.tests} tests and shows ${tests}`] : [];
}

function attribute(text: string, name: string): string {
  const [, double, single] = new RegExp(`(?:^|\\s)${name}=(?:"([^"]*)"|'([^']*)')`).exec(text) ?? [];
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
  return (double ?? single ?? "").replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, entity: string) => entities[entity] ?? "");
}

/** What `jest --json` and `vitest --reporter=json` write. */
function jestJson(text: string): Told | null {
  const report = parseObject(text);
  if (report === null || !Array.isArray(report["testResults"])) return null;
  const tests = objectsIn(report["testResults"]).flatMap(({ assertionResults, status, name }): (readonly [string, Status])[] => {
    const own = objectsIn(assertionResults).map((one) => [textOf(one["fullName"] ?? one["title"]), statusOf(one["status"])] as const);
    // A file that could not be loaded has no tests, and failed; so did one where something beside its tests did.
    return status === "failed" && !own.some(([, one]) => one === "failed") ? [...own, [textOf(name), "failed"] as const] : own;
  });
  const failed = tests.filter(([, status]) => status === "failed").length;
  const said = (key: string): number => (typeof report[key] === "number" ? report[key] : 0);
  const files = Math.max(said("numFailedTestSuites"), said("numRuntimeErrorTestSuites"));
  const wrong: string[] = [];
  if (said("numFailedTests") > failed) wrong.push(`it says that ${said("numFailedTests")} failed and shows ${failed} of them`);
  else if (said("numTotalTests") > tests.length)
    wrong.push(`it says that there are ${said("numTotalTests")} tests and shows ${tests.length}`);
  else if (failed === 0 && files > 0) wrong.push(`it says that ${files} files failed and shows none of them`);
  else if (failed === 0 && report["success"] === false) wrong.push("it says that the run had no success");
  return { tests, wrong };
}

function objectsIn(value: Json | undefined): Readonly<Record<string, Json>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function statusOf(word: Json | undefined): Status {
  return word === "passed" ? "passed" : word === "failed" ? "failed" : "skipped";
}

/** Test points of TAP 13 and 14 (testanything.org); a subtest's own points are told by the point that closes it. */
function tap(text: string): Told | null {
  if (!/^(?:TAP version 1[34]|1\.\.\d+)/m.test(text)) return null;
  const plan = Number(/^1\.\.(\d+)/m.exec(text)?.[1] ?? Number.NaN);
  const tests = [...text.matchAll(/^(not )?ok\b *(\d*) *(?:- *)?(.*)$/gm)].map(
    ([, not, number = "", rest = ""]): readonly [string, Status] => {
      const [, name = "", directive] = /^(.*?)(?: *# *(skip|todo)\b.*)?$/i.exec(rest.trim()) ?? [];
      return [name === "" ? number : name, directive !== undefined ? "skipped" : not === undefined ? "passed" : "failed"];
    },
  );
  const bail = /^Bail out!.*$/im.exec(text)?.[0].trim();
  const wrong = bail !== undefined ? [bail] : Number.isNaN(plan) ? ["it is cut off: its plan (1..N) never came"] : [];
  // Points that were planned and never came are failures.
  const missing = Number.isNaN(plan) ? 0 : Math.max(0, plan - tests.length);
  const never = Array.from(
    { length: Math.min(missing, mostMissing) },
    (_, at) => [`planned test ${tests.length + at + 1}`, "failed"] as const,
  );
  return { tests: [...tests, ...never], wrong };
}
