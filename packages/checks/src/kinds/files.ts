import type { FilesCheck } from "@holdfast/protocol";
import { sha256 as digestOf } from "@holdfast/runtime/hash";
import { keyOf, placeOf } from "../inputs.ts";
import { resolvePath } from "../paths.ts";
import { finding } from "./kind.ts";
import type { CheckKind } from "../verifier-input.ts";

/** Holds files against what a definition says of them. A file that can't be read is as one that isn't there. */
export const checkFiles: CheckKind<FilesCheck> = async ({ observer, files, bounded }, { files: conditions }, baseline) => {
  const home = placeOf(files, files.cwd);
  const before = new Map(baseline.manifest === null ? [] : (await observer.list(baseline.manifest)).map((entry) => [keyOf(entry), entry]));
  const problems: string[] = [];
  for (const { path, exists, unchanged, contains, matches, sha256 } of conditions) {
    const inside = home === null ? null : resolvePath(home.path, path);
    if (home === null || inside === null || path.startsWith("/")) {
      problems.push(`${path} is not in the workspace`);
      continue;
    }
    const bytes = await observer.read({ root: home.root, path: inside });
    const needed = exists === true || contains !== undefined || matches !== undefined || sha256 !== undefined;
    if (bytes === null && needed) problems.push(`${path} is not there`);
    if (bytes !== null && exists === false) problems.push(`${path} is there`);
    const digest = bytes === null ? null : digestOf(bytes);
    if (unchanged === true && digest !== (before.get(`${home.root}:${inside}`)?.digest ?? null)) problems.push(`${path} changed`);
    if (bytes === null) continue;
    const text = new TextDecoder().decode(bytes);
    if (contains !== undefined && !text.includes(contains)) problems.push(`${path} does not contain ${JSON.stringify(contains)}`);
    if (matches !== undefined) {
      const found = bounded?.(() => isMatch(matches, text));
      if (found == null)
        problems.push(`${path} is not judged: ${matches} ${bounded === undefined ? "can't be tried here" : "took too long"}`);
      else if (!found.value) problems.push(`${path} does not match ${matches}`);
    }
    if (sha256 !== undefined && digest !== sha256.toLowerCase()) problems.push(`${path} has another content: sha256 ${digest ?? ""}`);
  }
  return finding(problems, `${conditions.length} ${conditions.length === 1 ? "file is" : "files are"} as wanted`);
};

/** A pattern that is none matches nothing. */
function isMatch(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "m").test(text);
  } catch {
    return false;
  }
}
