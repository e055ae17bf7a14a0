import type { FileCondition, FilesCheck } from "@holdfast/protocol";
import type { Bounded, CheckFiles, Place, Standing } from "@holdfast/runtime";
import { storedInputs } from "../baseline.ts";
import type { CheckKind } from "../verifier-input.ts";
import { finding } from "./kind.ts";
import { conditionPlace, isUnchanged } from "./unchanged.ts";

/** Holds files against what a definition says of them. What can't be told of one is a problem, and never that it isn't there. */
export const checkFiles: CheckKind<FilesCheck> = async ({ observer, files, bounded }, { files: conditions }, baseline) => {
  const wantsOld = conditions.some(({ unchanged }) => unchanged === true) && baseline.manifest !== null;
  const before = wantsOld && baseline.manifest !== null ? await observer.list(baseline.manifest) : [];
  const now = wantsOld ? await observer.list((await observer.snapshot(baseline.manifest)).manifest) : [];
  const { stood } = storedInputs(baseline.inputs);
  const problems: string[] = [];
  for (const condition of conditions) {
    const { path } = condition;
    const place = conditionPlace(path, files);
    if (place === null) {
      problems.push(`${path} is not in the workspace`);
      continue;
    }
    const stands = await observer.standing(place);
    const target = stands?.kind === "link" ? await observer.standing(place, true) : stands;
    const there = presence(condition, stands, target);
    if (there !== null) problems.push(there);
    if (condition.unchanged === true) {
      const isSame = await isUnchanged(place, before, now, stood, observer);
      if (isSame === null) problems.push(`${path} is not judged: how it was at the baseline, or how it is now, is not known`);
      else if (!isSame) problems.push(`${path} changed`);
    }
    if (there === null && target !== null) problems.push(...(await inContent(condition, place, target, observer, bounded)));
  }
  return finding(problems, `${conditions.length} ${conditions.length === 1 ? "file is" : "files are"} as wanted`);
};

/** Why what stands there is not what must, or must not, be there; null where it is. A link that leads nowhere is neither. */
function presence(condition: FileCondition, stands: Standing | null, target: Standing | null): string | null {
  const { path, exists } = condition;
  if (stands?.kind === "unknown" || target?.kind === "unknown") return `${path} is not judged: it can't be looked at`;
  if (exists === false) return stands === null ? null : `${path} is there`;
  if (exists !== true && !isAboutContent(condition)) return null;
  if (target === null) return `${path} ${stands === null ? "is not there" : "is a link that leads nowhere"}`;
  return path.endsWith("/") && target.kind !== "folder" ? `${path} is no folder` : null;
}

function isAboutContent({ contains, matches, sha256 }: FileCondition): boolean {
  return contains !== undefined || matches !== undefined || sha256 !== undefined;
}

async function inContent(
  condition: FileCondition,
  place: Place,
  target: Standing,
  observer: CheckFiles,
  bounded: Bounded | undefined,
): Promise<string[]> {
  const { path, contains, matches, sha256 } = condition;
  if (!isAboutContent(condition)) return [];
  if (target.kind !== "file" && target.kind !== "executable") return [`${path} is no file that can be read`];
  const problems: string[] = [];
  if (sha256 !== undefined && target.digest !== sha256.toLowerCase()) problems.push(`${path} has another content: sha256 ${target.digest}`);
  if (contains === undefined && matches === undefined) return problems;
  const bytes = await observer.read(place);
  if (bytes === null) return [...problems, `${path} is not judged: it has more than 16 MB, or can't be read`];
  const text = new TextDecoder().decode(bytes);
  if (contains !== undefined && !text.includes(contains)) problems.push(`${path} does not contain ${JSON.stringify(contains)}`);
  if (matches !== undefined) {
    const found = bounded?.(() => isMatch(matches, text));
    if (found == null)
      problems.push(`${path} is not judged: ${matches} ${bounded === undefined ? "can't be tried here" : "took too long"}`);
    else if (!found.value) problems.push(`${path} does not match ${matches}`);
  }
  return problems;
}

/** A pattern that is none matches nothing. */
function isMatch(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "m").test(text);
  } catch {
    return false;
  }
}
