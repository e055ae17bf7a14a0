import type { TestCounts, TestsCheck } from "@holdfast/protocol";
import type { CheckFiles, Place } from "@holdfast/runtime";
import { stripControls } from "./counts.ts";
import { readReport } from "./report.ts";

/** Of what a report says against its run, in characters. */
const mostSaid = 300;

const forms = {
  junit: "JUnit XML",
  json: "JSON as jest and vitest write it",
  tap: "TAP",
  auto: "JUnit XML, JSON of jest or vitest, TAP, nor output of a known runner",
} as const;

/** What a report shows, and what is wrong with it in words. `whyNone`: why there is none of this run. */
export function reportFound(
  { report }: TestsCheck,
  bytes: Uint8Array | null,
  whyNone: string | null,
): { readonly counts: TestCounts | null; readonly problem: string | null } {
  const who = report === null ? "its output" : `its report ${report.path}`;
  if (bytes === null) return { counts: null, problem: whyNone ?? `${who} is no report of tests` };
  const read = readReport(new TextDecoder().decode(bytes), report?.format ?? "auto");
  if (read !== null) {
    const { counts, wrong } = read;
    return { counts, problem: wrong.length === 0 ? null : `${who}: ${stripControls(wrong.join("; ")).slice(0, mostSaid)}` };
  }
  if (report === null) return { counts: null, problem: `${who} is no report of tests` };
  const is = bytes.length === 0 ? "is empty" : bytes.includes(0) ? "has zero bytes in it: only UTF-8 is read" : null;
  const form = report.format === "auto" ? `is neither ${forms.auto}` : `is no ${forms[report.format]}`;
  return { counts: null, problem: `${who} ${is ?? form}` };
}

/** Why there is no content of the report `name` that this run wrote; null where there is. `before` and `after`: its signatures. */
export async function whyNone(
  name: string,
  report: Place,
  before: string,
  after: string,
  whole: Uint8Array | null,
  observer: CheckFiles,
): Promise<string | null> {
  if (whole !== null) return null;
  if (after === "") return `it wrote no report of tests to ${name}`;
  const target = await observer.standing(report, true);
  if (target === null) return `its report ${name} is a link that leads nowhere`;
  if (target.kind !== "file" && target.kind !== "executable") return `its report ${name} is no file that can be read`;
  if (before === after) return `it wrote no report of tests to ${name}: that is as it was before the run`;
  return `its report ${name} has more than 16 MB`;
}
