import type { TestCounts, TestsCheck } from "@holdfast/protocol";
import { parseCounts } from "./counts.ts";

type Format = NonNullable<TestsCheck["report"]>["format"];
type Status = "passed" | "failed" | "skipped";

/** Test counts, with the names of those that ran, from a report; null where it is none of its form. */
export function parseReport(text: string, format: Format): TestCounts | null {
  switch (format) {
    case "junit":
      return counted(junit(text));
    case "json":
      return counted(jestJson(text));
    case "tap":
      return counted(tap(text));
    case "auto": {
      const start = text.trimStart();
      if (start.startsWith("<")) return parseReport(text, "junit");
      if (start.startsWith("{")) return parseReport(text, "json");
      return counted(tap(text)) ?? parseCounts(text);
    }
  }
}

function counted(tests: readonly (readonly [name: string, status: Status])[] | null): TestCounts | null {
  if (tests === null) return null;
  const of = (status: Status): number => tests.filter(([, one]) => one === status).length;
  const names = [...new Set(tests.filter(([, status]) => status !== "skipped").map(([name]) => name))].sort();
  return { passed: of("passed"), failed: of("failed"), skipped: of("skipped"), names };
}

/** The JUnit form that runners write (schema of the Ant task, as Surefire has it): test cases, each with what befell it inside. */
function junit(text: string): (readonly [string, Status])[] | null {
  const plain = text.replaceAll(/<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>/g, "");
  if (!/<testsuites?\b/.test(plain)) return null;
  return [...plain.matchAll(/<testcase\b((?:[^>"']|"[^"]*"|'[^']*')*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(
    ([, attributes = "", inside = ""]) => {
      const name = [attribute(attributes, "classname"), attribute(attributes, "name")].filter((part) => part !== "").join(" > ");
      if (/<(?:failure|error)\b/.test(inside)) return [name, "failed"];
      return [name, /<skipped\b/.test(inside) ? "skipped" : "passed"];
    },
  );
}

function attribute(text: string, name: string): string {
  const [, double, single] = new RegExp(`(?:^|\\s)${name}=(?:"([^"]*)"|'([^']*)')`).exec(text) ?? [];
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
  return (double ?? single ?? "").replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, entity: string) => entities[entity] ?? "");
}

/** What `jest --json` and `vitest --reporter=json` write. */
function jestJson(text: string): (readonly [string, Status])[] | null {
  interface Result {
    readonly fullName?: string;
    readonly title?: string;
    readonly status?: string;
  }
  let report: { testResults?: readonly { assertionResults?: readonly Result[]; status?: string; name?: string }[] };
  try {
    report = JSON.parse(text) as typeof report;
  } catch {
    return null;
  }
  const { testResults } = report;
  if (testResults === undefined || !Array.isArray(testResults)) return null;
  const results: readonly { readonly assertionResults?: readonly Result[]; readonly status?: string; readonly name?: string }[] =
    testResults;
  return results.flatMap(({ assertionResults = [], status, name = "" }): (readonly [string, Status])[] => {
    // A file that could not be loaded has no tests, and failed.
    if (assertionResults.length === 0 && status === "failed") return [[name, "failed"] as const];
    return assertionResults.map(({ fullName, title = "", status: one = "" }) => [fullName ?? title, statusOf(one)] as const);
  });
}

function statusOf(word: string): Status {
  return word === "passed" ? "passed" : word === "failed" ? "failed" : "skipped";
}

/** Test points of TAP 13 and 14 (testanything.org); a subtest's own points are told by the point that closes it. */
function tap(text: string): (readonly [string, Status])[] | null {
  if (!/^(?:TAP version 1[34]|1\.\.\d+)/m.test(text)) return null;
  const plan = Number(/^1\.\.(\d+)/m.exec(text)?.[1] ?? Number.NaN);
  const tests = [...text.matchAll(/^(not )?ok\b *(\d*) *(?:- *)?(.*)$/gm)].map(
    ([, not, number = "", rest = ""]): readonly [string, Status] => {
      const [, name = "", directive] = /^(.*?)(?: *# *(skip|todo)\b.*)?$/i.exec(rest.trim()) ?? [];
      return [name === "" ? number : name, directive !== undefined ? "skipped" : not === undefined ? "passed" : "failed"];
    },
  );
  // Points that were planned and never came are failures.
  const missing = Number.isNaN(plan) ? 0 : Math.max(0, plan - tests.length);
  return [...tests, ...Array.from({ length: missing }, (_, at) => [`planned test ${tests.length + at + 1}`, "failed"] as const)];
}
