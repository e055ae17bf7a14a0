import type { DiffCheck, FileChange } from "@holdfast/protocol";
import { redactionMark, redact } from "@holdfast/runtime/redact";
import { createAccepted } from "../accepted.ts";
import { storedInputs } from "../baseline.ts";
import { matcher } from "../glob.ts";
import { holdsReport } from "../own-report.ts";
import { some } from "../subject.ts";
import { type ChangedFile, keptTests } from "../tests/kept.ts";
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
  const changedTests: string[] = [];
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
    const read: ChangedFile[] = [];
    for (const { path, change } of changes) {
      const [was, is] = [change === "added" ? "" : await text(before, path), change === "deleted" ? "" : await text(after, path)];
      read.push({ path, was: change === "added" ? null : was, is: change === "deleted" ? null : is });
      if (check.addsNoDependencies === true) {
        const known = dependenciesIn(path, was);
        const added = [...dependenciesIn(path, is)].filter((name) => !known.has(name));
        if (added.length > 0) problems.push(`${path} has new dependencies: ${some(added)}`);
      }
      if (check.addsNoSecrets && secretsIn(is) > secretsIn(was)) problems.push(`${path} has a secret in it that it had not before`);
    }
    for (const { path, lost, changed } of check.keepsTests ? keptTests(read) : []) {
      if ((lost.length === 0 && changed === "") || accepted.isAccepted(path)) continue;
      problems.push(...lost);
      if (changed !== "") changedTests.push(changed);
    }
  }
  const well = `${changes.length} ${changes.length === 1 ? "file" : "files"} and ${lines} lines changed, all as allowed`;
  const accepts = [...accepted.paths].sort();
  if (changedTests.length === 0) return { ...finding(problems, well), accepted: accepts };
  // Whether that is less than before no code can tell: as where a command's tests changed, it proves nothing.
  const detail = `tests are changed in what they assert: ${some(changedTests)}`;
  return { ...finding(problems, detail), weaknesses: [{ kind: "test_changed", detail }], accepted: accepts };
};

function secretsIn(text: string): number {
  return redact(text, []).split(redactionMark).length - text.split(redactionMark).length;
}
