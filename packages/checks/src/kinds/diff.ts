import type { DiffCheck, FileChange } from "@holdfast/protocol";
import { redactionMark, redact } from "@holdfast/runtime/redact";
import { createAccepted } from "../accepted.ts";
import { storedInputs } from "../baseline.ts";
import { matcher } from "../glob.ts";
import { holdsReport } from "../own-report.ts";
import { some } from "../subject.ts";
import { type ChangedFile, keptTests } from "../tests/kept.ts";
import { folderOf, resolvePath } from "../paths.ts";
import { dependenciesIn, isRequirementFile } from "./dependencies.ts";
import { finding } from "./kind.ts";
import { requirementFilesIn } from "./origins.ts";
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
      if (check.addsNoSecrets && secretsIn(is) > secretsIn(was)) problems.push(`${path} has a secret in it that it had not before`);
    }
    const named = [...changes.map(({ path }) => path), ...[...entries.keys()].filter(isRequirementFile)];
    for (const path of check.addsNoDependencies === true && changes.length > 0 ? new Set(named) : []) {
      const known = await dependenciesOf(path, (one) => text(before, one));
      const added = [...(await dependenciesOf(path, (one) => text(after, one)))].filter((name) => !known.has(name));
      if (added.length > 0) problems.push(`${path} has new dependencies: ${some(added)}`);
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

/** What a file names, with the files that it takes in; each is read once. */
async function dependenciesOf(path: string, text: (path: string) => Promise<string>): Promise<Set<string>> {
  const names = new Set<string>();
  const seen = new Set([path]);
  for (const one of seen) {
    const content = await text(one);
    for (const name of dependenciesIn(one === path ? path : "requirements.txt", content)) names.add(name);
    if (one === path && !isRequirementFile(path)) continue;
    for (const file of requirementFilesIn(content)) {
      const taken = file.includes("://") ? null : resolvePath(folderOf(one), file);
      if (taken === null) names.add(file);
      else seen.add(taken);
    }
  }
  return names;
}

function secretsIn(text: string): number {
  return redact(text, []).split(redactionMark).length - text.split(redactionMark).length;
}
