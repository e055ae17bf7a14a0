import type { CheckFiles, ManifestEntry } from "@holdfast/runtime";
import { matcher } from "../glob.ts";
import { keyOf } from "../inputs.ts";
import { folderOf, nameOf } from "../paths.ts";

/** Files of rules that tools heed beside git: prettier, ruff, ripgrep and more skip what is ignored. */
export function isIgnoreFile(path: string): boolean {
  return /^\.(?:git)?ignore$/.test(nameOf(path));
}

/** Whether the new rules take away from tools what was there at the baseline and still is. What is new and ignored hides nothing of it. */
export async function hidesFiles(
  files: CheckFiles,
  { before, after }: { readonly before: string; readonly after: string },
  { entry, was, is }: { readonly entry: ManifestEntry; readonly was: string | null; readonly is: string },
): Promise<boolean> {
  const known = new Set((await files.list(before)).map(keyOf));
  const kept = (await files.list(after)).filter((one) => one.root === entry.root && known.has(keyOf(one))).map(({ path }) => path);
  const [earlier, now] = [rulesIn(entry.path, was ?? ""), rulesIn(entry.path, is)];
  const mayHide = matcher(now.filter(({ isBack }) => !isBack).flatMap(({ globs }) => globs));
  const found = kept.filter(mayHide);
  if (found.length === 0) return false;
  const [wasHidden, isHidden] = [hidden(earlier), hidden(now)];
  return found.some((path) => isHidden(path) && !wasHidden(path));
}

interface Rule {
  readonly globs: readonly string[];
  /** It takes back what an earlier rule ignores. */
  readonly isBack: boolean;
}

/** The last rule that fits decides (gitignore(5)). */
function hidden(rules: readonly Rule[]): (path: string) => boolean {
  const tests = rules.map(({ globs, isBack }) => ({ fits: matcher(globs), isBack }));
  return (path) => tests.findLast(({ fits }) => fits(path))?.isBack === false;
}

function rulesIn(path: string, text: string): Rule[] {
  const folder = folderOf(path) === "" ? "" : `/${folderOf(path)}`;
  return text.split(/\r?\n/).flatMap((line) => {
    const isBack = line.startsWith("!");
    const rule = line.slice(isBack ? 1 : 0).trimEnd();
    if (rule === "" || rule === "/" || rule.startsWith("#")) return [];
    const isFolder = rule.endsWith("/");
    const body = rule.replace(/\/$/, "").replaceAll("\\", "").replace(/[{}]/g, "[$&]");
    const top = body.includes("/") ? `${folder}/${body.replace(/^\//, "")}` : `${folder}/**/${body}`;
    return [{ globs: [...(isFolder ? [] : [top]), `${top}/**`], isBack }];
  });
}
