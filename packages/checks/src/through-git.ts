import type { Weakness } from "@holdfast/protocol";
import type { CheckFiles, GitState, Observer, Snapshot } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { matcher } from "./glob.ts";
import { type CheckInputs, placeOf, type Workplace } from "./inputs.ts";
import { nameOf } from "./paths.ts";
import { some } from "./subject.ts";
import { testFiles } from "./toolchains.ts";

const command = (names: string): RegExp => new RegExp(String.raw`\bgit\s+(?:-c\s+\S+\s+|-C\s+\S+\s+|-\S+\s+)*(?:${names})\b`);
const asksGit = command(String.raw`[a-z][\w-]*`);
/** Commands that look at no file. */
const tells =
  /\bgit\s+(?:-c\s+\S+\s+|-C\s+\S+\s+|-\S+\s+)*(?:rev-parse|describe|log|shortlog|rev-list|remote|branch|tag|config|version|symbolic-ref|for-each-ref|merge-base|init|fetch)\b/g;
const namesGit = /(?:^|[\s"'(=/])\.git\//;
const takesCommits = command("archive|clone|stash|worktree");
const asksForFiles = command("ls-files|grep");
const movesFiles = command("archive|grep|diff|checkout|checkout-index|worktree|clone|stash|status|show|cat-file");
const takesIndex = /\bgit\s[^|;&\n]*(?:\bcheckout-index\b|\b(?:show|cat-file)\b[^|;&\n]*\s:)/;
const takesHead = /\bgit\s[^|;&\n]*\b(?:show|cat-file)\b[^|;&\n]*\s(?:HEAD|@)\S*:/;
const runsHooks = command("hook|worktree|clone|commit|checkout|switch|merge|rebase|am|stash|push");
/** Which files are looked at follows from what differs. */
const selects = /\bgit\s[^|;&\n]*(?:--name-only|--name-status|\bdiff-(?:tree|index|files)\b)[^|;&\n]*/g;
/** Test files that are looked up in the index. */
const mostLookedUp = 200;

/** What a check's text says of git, however a program is given its words. */
function textOf({ named }: CheckInputs): string {
  return named.text.replaceAll(/["'`,[\]]/g, " ");
}

export function usesGit(check: CheckInputs): boolean {
  return asksGit.test(textOf(check)) || namesGit.test(check.named.text);
}

/** Git's state where one of these checks asks git; null where none does. */
export async function gitStateFor(
  checks: readonly CheckInputs[],
  manifest: string,
  files: CheckFiles,
  workplace: Workplace,
): Promise<GitState | null> {
  return checks.some(usesGit) ? files.gitState(manifest, placeOf(workplace, workplace.cwd)?.root ?? "") : null;
}

/** What of git's state decides the result beside the files: where it is another, a check may end otherwise on the same tree. */
export function gitDigest({ head, index }: GitState): string {
  return sha256(JSON.stringify([head, index]));
}

/**
 * A check that gets its files through git sees what is committed, or what the index lists, and not the tree that is here:
 * where the two differ, it has not tested this tree. Nor has it where what git selects by was changed in this session.
 */
export async function weighGit(
  observer: Observer & CheckFiles,
  workplace: Workplace,
  trees: { readonly before: string; readonly after: Snapshot },
  check: CheckInputs,
  states: { readonly before: GitState | null; readonly now: GitState | null },
  isAccepted: (path: string) => boolean,
): Promise<Weakness[]> {
  const text = textOf(check);
  if (takesCommits.test(text) && trees.after.gitTree === null)
    return [{ kind: "inputs_changed", detail: "it tests what is committed, and the files here are not as they were committed" }];
  if (states.before !== null && states.now !== null) {
    const there = new Set((await observer.list(trees.after.manifest)).map(({ path }) => path));
    const moved = [
      ...movedState(text, states.before, states.now, there),
      ...(movesFiles.test(text) ? await attributes(observer, trees) : []),
    ];
    const left = [...new Set(moved)].filter((path) => !isAccepted(path));
    if (left.length > 0)
      return [{ kind: "inputs_changed", detail: `it asks git, and what git goes by there changed in this session: ${some(left)}` }];
  }
  if (!asksForFiles.test(text)) return [];
  const isTest = matcher(testFiles);
  const tests = [...check.inputs.values()].filter(({ entry }) => isTest(entry.path)).slice(0, mostLookedUp);
  const unknown: string[] = [];
  for (const { entry } of tests) {
    const root = workplace.roots.find(({ id }) => id === entry.root)?.path;
    if (root !== undefined && !(await observer.isTracked(`${root}/${entry.path}`))) unknown.push(entry.path);
  }
  if (unknown.length === 0) return [];
  return [{ kind: "inputs_changed", detail: `it asks git which files to test, and git does not know ${some(unknown)}` }];
}

/** Paths of what differs and decides which files the commands in `text` list, compare or write. */
function movedState(text: string, before: GitState, now: GitState, there: ReadonlySet<string>): string[] {
  const looks = asksGit.test(text.replaceAll(tells, "")) || namesGit.test(text) || text.search(selects) >= 0;
  if (!looks) return [];
  const listed = new Set(now.paths);
  const flagged = new Set(before.flagged);
  const found = [
    ...differing(before.settings, now.settings),
    ...differing(replaced(before), replaced(now)),
    ...(runsHooks.test(text) || text.includes(".git/hooks") ? differing(before.hooks, now.hooks) : []),
    // Out of the index, or out of git's sight, a file that is there is not looked at any more.
    ...(now.paths === null ? [] : (before.paths ?? [])).filter((path) => there.has(path) && !listed.has(path)),
    ...now.flagged.filter((path) => !flagged.has(path)),
  ];
  if (takesIndex.test(text)) found.push(...now.loose.filter((path) => !before.loose.includes(path)));
  if (takesHead.test(text) && before.head !== now.head) found.push(...now.loose, ...now.staged);
  for (const [one] of text.matchAll(selects)) found.push(...movedBase(one, before, now));
  return found;
}

/** What a command that lists differences compares with: it must be as it was, or the list may be empty whatever was done. */
function movedBase(line: string, before: GitState, now: GitState): string[] {
  const refs = Object.keys(before.refs).filter((ref) => ref !== before.branch && before.refs[ref] !== now.refs[ref]);
  const short = (ref: string): string => ref.replace(/^refs\/(?:heads|tags|remotes)\//, "");
  const known = new Set(Object.keys(before.refs).map(short));
  const shadows = Object.keys(now.refs).filter((ref) => before.refs[ref] === undefined && known.has(short(ref)));
  const found = [...refs, ...shadows].filter((ref) => line.includes(short(ref))).map((ref) => `.git/${ref}`);
  const range = /([^\s.]\S*?)\.\.\.?(?:HEAD|@)?(?:\s|$)/.exec(line);
  if (range !== null) {
    const isOwn = range[1] === "HEAD" || range[1] === "@" || range[1] === short(before.branch);
    return isOwn && before.head !== now.head ? [...found, ".git/HEAD"] : found;
  }
  if (before.head !== now.head) return [...found, ".git/HEAD"];
  if (/--(?:cached|staged)\b/.test(line)) return [...found, ...before.staged.filter((path) => !now.staged.includes(path))];
  const hasBase = /\s(?:HEAD|@)\S*/.test(line) || [...known].some((ref) => line.includes(ref));
  return hasBase || before.index === now.index ? found : [...found, ".git/index"];
}

/** Objects that stand for others. */
function replaced({ refs }: GitState): Record<string, string> {
  return Object.fromEntries(Object.entries(refs).flatMap(([ref, oid]) => (ref.startsWith("refs/replace/") ? [[`.git/${ref}`, oid]] : [])));
}

function differing(before: Readonly<Record<string, string>>, now: Readonly<Record<string, string>>): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((key) => before[key] !== now[key]);
}

/** Attributes leave files out of archives and searches, and rewrite them. */
async function attributes(files: CheckFiles, { before, after }: { readonly before: string; readonly after: Snapshot }): Promise<string[]> {
  const of = async (manifest: string): Promise<Record<string, string>> => {
    const own = (await files.list(manifest)).filter(({ path }) => nameOf(path) === ".gitattributes");
    return Object.fromEntries(own.map(({ path, digest }) => [path, digest]));
  };
  return differing(await of(before), await of(after.manifest));
}
