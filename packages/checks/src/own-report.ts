import type { CheckDefinition, Evidence, FileChange, TestsCheck } from "@holdfast/protocol";
import type { CheckFiles, ManifestEntry, Place } from "@holdfast/runtime";
import { placeOf, type Workplace } from "./inputs.ts";
import { resolvePath } from "./paths.ts";
import { readReport } from "./report.ts";

/** The file that a `tests` check has its report in, with its form. */
export interface OwnReport extends Place {
  readonly format: NonNullable<TestsCheck["report"]>["format"];
}

/** Null where its report is its output, or lies outside the workspace. */
export function ownReport(check: CheckDefinition, workplace: Workplace): OwnReport | null {
  if (check.kind !== "tests" || check.report === null) return null;
  const home = placeOf(workplace, workplace.cwd);
  const path = home === null || check.report.path.startsWith("/") ? null : resolvePath(home.path, check.report.path);
  return home === null || path === null ? null : { root: home.root, path, format: check.report.format };
}

/** Globs of what a check may write: what it declares, and its report. */
export function outputsOf(check: CheckDefinition, workplace: Workplace): string[] {
  if (check.kind !== "command" && check.kind !== "tests") return [];
  const report = ownReport(check, workplace);
  return report === null ? check.outputs : [...check.outputs, exactly(report.path)];
}

/** A glob of this path alone. */
function exactly(path: string): string {
  return `/${path.replaceAll(/[*?[{]/g, "[$&]")}`;
}

/**
 * `changes` up to `manifest` without the reports that the checks' own runs wrote last. One that the session has written since
 * has another content, and stays.
 */
export async function withoutWritten(
  changes: readonly FileChange[],
  manifest: string,
  evidence: readonly Evidence[],
  files: CheckFiles,
): Promise<FileChange[]> {
  const runs = evidence.flatMap(({ run, repeats }) => [run, ...repeats]);
  const written = runs.flatMap(({ report }) => report ?? []);
  if (written.length === 0 || changes.length === 0) return [...changes];
  const entries = (await files.list(manifest)).filter((entry) => written.some((one) => isAt(one, entry) && one.digest === entry.digest));
  return changes.filter(({ path }) => !entries.some((entry) => isNamed(entry, path)));
}

/** Whether a change is of a report of one of these checks, with a report in it: which run it is of, no `diff` check can tell. */
export async function holdsReport(path: string, manifest: string, reports: readonly OwnReport[], files: CheckFiles): Promise<boolean> {
  for (const report of reports) {
    if (!isNamed(report, path)) continue;
    const bytes = await files.content(manifest, report);
    if (bytes !== null && readReport(new TextDecoder().decode(bytes), report.format) !== null) return true;
  }
  return false;
}

/** Changes name files by root too where there are several roots. */
function isNamed({ root, path }: Place, name: string): boolean {
  return name === path || name === `${root}:${path}`;
}

function isAt(one: Place, entry: ManifestEntry): boolean {
  return one.root === entry.root && one.path === entry.path;
}
