import { dirname, join, resolve } from "node:path";
import { lookClosely } from "../files/missing.ts";
import type { Git } from "../observer/git.ts";
import { commonOf, gitFolderOf } from "./git-places.ts";
import { isWaitedFor } from "./git-waits.ts";

/** Lists what a root's git configuration, the user's too, names for git to run or to read as more of it: paths, wherever they lie. */
export type ListGitNamed = (root: string) => Promise<readonly string[]>;

/** Git is asked only when a file of the configuration has changed since. */
export function createGitNamed(git: Git, home: string): ListGitNamed {
  const known = new Map<string, { readonly files: readonly string[]; readonly mark: string; readonly paths: readonly string[] }>();
  return async (root) => {
    const last = known.get(root);
    const own = configsOf(root, home);
    const before = [...new Set([...own, ...(last?.files ?? [])])];
    if (last !== undefined && markOf(before) === last.mark) return last.paths;
    // Git would wait at a pipe for ever: what it named before is still kept.
    if (before.some(isWaitedFor)) return last?.paths ?? [];
    const found = await namedBy(git, root, home);
    // What a repository that is damaged for a while named before is still kept.
    if (found === null) return last?.paths ?? [];
    const files = [...new Set([...own, ...found.files])];
    known.set(root, { files, mark: markOf(files), paths: found.paths });
    return found.paths;
  };
}

/** Deeper than people include files in files. */
const deepest = 4;

interface Named {
  /** All that was read. */
  readonly files: readonly string[];
  readonly paths: readonly string[];
}

/** `file` alone; without it, all that git reads in a root. What is included on a condition that doesn't hold now is read as well. */
async function namedBy(git: Git, root: string, home: string, file: string | null = null, depth = deepest): Promise<Named | null> {
  const of = file === null ? [] : ["--file", file];
  const args = ["config", ...of, "--includes", "--null", "--show-origin", "--get-regexp", "^(core\\.hookspath|include.*\\.path)$"];
  const { code, stdout } = await git(root, args);
  // One: nothing is named.
  if (code > 1) return null;
  const entries = stdout.toString("utf8").split("\0");
  const files = new Set(file === null ? [] : [file]);
  const hooks: string[] = [];
  const included: string[] = [];
  for (let index = 0; index + 1 < entries.length; index += 2) {
    const [origin = "", entry = ""] = entries.slice(index, index + 2);
    // What we pass ourselves is of the command line.
    if (!origin.startsWith("file:")) continue;
    const from = resolve(root, origin.slice("file:".length));
    files.add(from);
    const end = entry.indexOf("\n");
    if (end < 0) continue;
    const value = entry.slice(end + 1).replace(/^~\//, `${home}/`);
    if (entry.startsWith("core.")) hooks.push(resolve(root, value));
    else included.push(resolve(dirname(from), value));
  }
  const unread = depth === 0 ? [] : included.filter((each) => !files.has(each));
  const deeper = (await Promise.all(unread.map((each) => namedBy(git, root, home, each, depth - 1)))).filter((each) => each !== null);
  return {
    files: [...files, ...included, ...deeper.flatMap((each) => each.files)],
    paths: [...new Set([...hooks, ...included, ...deeper.flatMap((each) => each.paths)])],
  };
}

/** Files that git reads in a root where they exist. */
function configsOf(root: string, home: string): string[] {
  const own = gitFolderOf(root);
  const ofRoot = own === null ? [] : [join(commonOf(own), "config"), join(own, "config.worktree")];
  const ofUser = process.env["XDG_CONFIG_HOME"] ?? join(home, ".config");
  return [...ofRoot, join(home, ".gitconfig"), join(ofUser, "git/config"), "/etc/gitconfig"];
}

function markOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stat = lookClosely(file, { throughLinks: true });
      return stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
    })
    .join();
}
