import type { DiffCheck, FileChange } from "@holdfast/protocol";
import { createAccepted } from "../accepted.ts";
import { storedInputs } from "../baseline.ts";
import { matcher } from "../glob.ts";
import { holdsReport } from "../own-report.ts";
import { some } from "../subject.ts";
import { keptTests } from "../tests/kept.ts";
import { isCode } from "../tests/languages.ts";
import { folderOf, resolvePath } from "../paths.ts";
import { changedLines, type Contents, openContents } from "./contents.ts";
import { dependenciesIn, isRequirementFile, namesDependencies } from "./dependencies.ts";
import { finding } from "./kind.ts";
import { requirementFilesIn } from "./origins.ts";
import { readTests } from "./read-tests.ts";
import type { CheckKind } from "../verifier-input.ts";

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
  const contents = await openContents(observer, before, after);
  let lines = 0;
  for (const change of changes) {
    const changed = await linesOf(change, contents);
    lines += changed ?? 0;
    if (changed === null && check.maxLines !== null) problems.push(`${change.path} can't be counted in lines: it can't be read`);
  }
  if (check.maxFiles !== null && changes.length > check.maxFiles)
    problems.push(`${changes.length} files changed, more than ${check.maxFiles}`);
  if (check.maxLines !== null && lines > check.maxLines) problems.push(`${lines} lines changed, more than ${check.maxLines}`);
  if (check.addsNoSecrets) for (const { path } of changes) problems.push(...(await newSecrets(path, contents)));
  if (check.addsNoDependencies === true && changes.length > 0) {
    const named = new Set([...changes.map(({ path }) => path), ...contents.paths.filter(isRequirementFile)]);
    for (const path of named) problems.push(...(await newDependencies(path, contents)));
  }
  if (check.keepsTests) {
    const { read, unread } = await readTests(changes, contents);
    for (const { path, lost, changed } of [...keptTests(read), ...unread]) {
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

/** Null where it can't be told. */
async function linesOf({ path, added, removed }: FileChange, contents: Contents): Promise<number | null> {
  if (added !== null && removed !== null) return added + removed;
  const [was, is] = [await contents.before(path), await contents.after(path)];
  if (was === null || is === null) return null;
  // A program is a text, whatever is in it.
  return (was.isBinary || is.isBinary) && !isCode(path) ? 0 : changedLines(was, is);
}

async function newSecrets(path: string, contents: Contents): Promise<string[]> {
  const is = await contents.after(path);
  if (is === null) return [`${path} can't be read for secrets`];
  if (is.secrets === 0) return [];
  const was = await contents.before(path);
  if (was === null) return [`${path} has a secret in it; whether it had it before can't be read`];
  return is.secrets > was.secrets ? [`${path} has a secret in it that it had not before`] : [];
}

async function newDependencies(path: string, contents: Contents): Promise<string[]> {
  const unread = new Set<string>();
  const reading = (side: Contents["after"]) => async (one: string) => {
    const text = (await side(one))?.text ?? null;
    if (text === null && (one !== path || namesDependencies(one))) unread.add(one);
    return text ?? "";
  };
  const known = await dependenciesOf(path, reading(contents.before));
  unread.clear();
  const added = [...(await dependenciesOf(path, reading(contents.after)))].filter((name) => !known.has(name));
  const problems = [...unread].map((one) => `${one} can't be read for dependencies, or is too large`);
  return added.length === 0 ? problems : [...problems, `${path} has new dependencies: ${some(added)}`];
}

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
