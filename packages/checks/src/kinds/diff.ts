import type { DiffCheck, FileChange } from "@holdfast/protocol";
import { redactionMark, redact } from "@holdfast/runtime/redact";
import { createAccepted } from "../accepted.ts";
import { storedInputs } from "../baseline.ts";
import { matcher } from "../glob.ts";
import { holdsReport } from "../own-report.ts";
import { fixtures, runnerFiles, testFiles } from "../toolchains.ts";
import { some } from "../subject.ts";
import { dependenciesIn } from "./dependencies.ts";
import { finding } from "./kind.ts";
import type { CheckKind } from "../verifier-input.ts";

/** Larger files are not read for tests and secrets; their size counts all the same. */
const mostBytes = 1024 * 1024;

/** Holds all that was changed since the baseline against a definition. */
export const checkDiff: CheckKind<DiffCheck> = async ({ observer }, check, baseline, context) => {
  if (baseline.manifest === null) return { passed: false, says: "how the workspace was before is not known" };
  const before = baseline.manifest;
  const { manifest: after } = await observer.snapshot(before);
  const { reports } = storedInputs(baseline.inputs);
  const changes: FileChange[] = [];
  for (const change of await observer.changes(before, after))
    if (!(await holdsReport(change.path, after, reports, observer))) changes.push(change);
  const problems: string[] = [];
  const accepted = createAccepted(context.acceptCheckChanges);
  const isAllowed = check.only.length === 0 ? () => true : matcher(check.only);
  const isForbidden = matcher(check.never);
  for (const { path, change } of changes) {
    if (!isAllowed(path) || isForbidden(path)) problems.push(`${path} was ${change}, and may not change`);
  }
  const lines = changes.reduce((sum, { added, removed }) => sum + (added ?? 0) + (removed ?? 0), 0);
  if (check.maxFiles !== null && changes.length > check.maxFiles)
    problems.push(`${changes.length} files changed, more than ${check.maxFiles}`);
  if (check.maxLines !== null && lines > check.maxLines) problems.push(`${lines} lines changed, more than ${check.maxLines}`);

  if (check.keepsTests || check.addsNoSecrets || check.addsNoDependencies === true) {
    const entries = new Map([...(await observer.list(before)), ...(await observer.list(after))].map((entry) => [entry.path, entry]));
    const text = async (manifest: string, path: string): Promise<string> => {
      const entry = entries.get(path);
      const bytes = entry === undefined || entry.size > mostBytes ? null : await observer.content(manifest, entry);
      return bytes === null ? "" : new TextDecoder().decode(bytes);
    };
    const isTest = matcher([...testFiles, ...fixtures, ...runnerFiles]);
    for (const { path, change } of changes) {
      const [was, is] = [change === "added" ? "" : await text(before, path), change === "deleted" ? "" : await text(after, path)];
      const weaker = check.keepsTests && isTest(path) ? weakened(path, was, is, change === "deleted") : [];
      if (weaker.length > 0 && !accepted.isAccepted(path)) problems.push(...weaker);
      if (check.addsNoDependencies === true) {
        const known = dependenciesIn(path, was);
        const added = [...dependenciesIn(path, is)].filter((name) => !known.has(name));
        if (added.length > 0) problems.push(`${path} has new dependencies: ${some(added)}`);
      }
      if (check.addsNoSecrets && secretsIn(is) > secretsIn(was)) problems.push(`${path} has a secret in it that it had not before`);
    }
  }
  const well = `${changes.length} ${changes.length === 1 ? "file" : "files"} and ${lines} lines changed, all as allowed`;
  return { ...finding(problems, well), accepted: [...accepted.paths].sort() };
};

/** One test by its name, in the forms of common runners. */
const named =
  /\b(?:it|test|specify|describe|context)(?:\.\w+)*\s*\(\s*(["'`])((?:(?!\1).)+)\1|\bdef (test_\w+)|\bfunc (Test\w+)\s*\(|#\[(?:tokio::)?test\][\s\S]{0,80}?\bfn (\w+)|@Test\b[\s\S]{0,120}?\bvoid (\w+)/g;
const skipping =
  /\b(?:it|test|describe|context|suite)\.(?:skip|todo|fixme|failing)\b|\bx(?:it|describe|test)\b|\{\s*(?:skip|todo)\s*:|@(?:unittest|pytest\.mark)\.(?:skip\w*|xfail|expectedFailure)|\bt\.Skip|#\[ignore|@(?:Disabled|Ignore)\b/g;
const focusing = /\b(?:it|test|describe|context|suite)\.only\b|\bf(?:it|describe)\(|\{\s*only\s*:\s*true/g;
const asserting = /\b(?:assert\w*|expect|should|is_deeply|ok|require)\b\s*[.(!]|^\s*assert\b/gm;

function weakened(path: string, was: string, is: string, isGone: boolean): string[] {
  const names = (text: string): Set<string> =>
    new Set([...text.matchAll(named)].map((match) => match.slice(2).find((name) => name !== undefined) ?? ""));
  const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;
  const now = names(is);
  const gone = [...names(was)].filter((name) => !now.has(name));
  const problems =
    gone.length === 0
      ? []
      : [`${path}: tests were removed: ${gone.slice(0, 5).join(", ")}${gone.length > 5 ? ` and ${gone.length - 5} more` : ""}`];
  if (isGone) return gone.length === 0 && was !== "" ? [`${path} was deleted`] : problems;
  if (count(is, skipping) > count(was, skipping)) problems.push(`${path}: tests are skipped that were not`);
  if (count(is, focusing) > count(was, focusing)) problems.push(`${path}: tests are focused, so that others don't run`);
  if (count(is, asserting) < count(was, asserting))
    problems.push(`${path}: ${count(was, asserting)} assertions before, ${count(is, asserting)} now`);
  return problems;
}

function secretsIn(text: string): number {
  return redact(text, []).split(redactionMark).length - text.split(redactionMark).length;
}
