import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { severities } from "@holdfast/harness/text/review";
import type { Changes } from "./changes.ts";

export type Severity = (typeof severities)[number];

/** What a review found at one place. `isThere`: the file has such a line now, or it is one of the changed files that are gone. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
  readonly evidence: string;
  readonly isThere: boolean;
}

export interface ReviewAnswer {
  readonly summary: string;
  readonly findings: readonly Finding[];
}

/** The model's answer, which is valid under the review's schema, held against the files; the worst findings first. */
export async function readFindings(message: string, root: string, changes: Changes): Promise<ReviewAnswer> {
  const { summary, findings } = JSON.parse(message) as { summary: string; findings: Omit<Finding, "isThere">[] };
  const placed = await Promise.all(findings.map(async (one): Promise<Finding> => ({ ...one, isThere: await isThere(one, root, changes) })));
  const rank = ({ severity }: Finding): number => severities.indexOf(severity);
  return { summary, findings: placed.toSorted((a, b) => rank(a) - rank(b)) };
}

async function isThere({ file, line }: { readonly file: string; readonly line: number }, root: string, changes: Changes): Promise<boolean> {
  const path = join(root, file);
  if (!path.startsWith(`${root}/`)) return false;
  const text = await readFile(path, "utf8").catch(() => null);
  if (text !== null) return line <= text.split("\n").length;
  return changes.files.some((change) => change.path === file);
}

/** Whether a finding is as bad as a threshold. */
export function isAtLeast(finding: Finding, threshold: Severity): boolean {
  return severities.indexOf(finding.severity) <= severities.indexOf(threshold);
}
