import { createHash } from "node:crypto";
import type { Processes } from "@holdfast/runtime";
import type { ReviewRange } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { ReadableChange } from "@holdfast/tools/read-change";
import { quotedPath } from "@holdfast/runtime/paths/quoted";
import { sanitizeLine } from "../render/sanitize.ts";

export interface Changes {
  /** In words. */
  readonly range: string;
  readonly files: readonly ReadableChange[];
  /** Folders of repositories of their own (new ones, changed submodules): nothing in them is part of the review. */
  readonly notInspected: readonly string[];
}

/** Bytes of all diffs together; more than this nobody reads in one review. */
const mostBytes = 8 * 1024 * 1024;
const timeoutMs = 120_000;
/** Characters of a part: about what a model reads well at once. */
const partChars = 24_000;

const diffFlags = "--no-color --no-ext-diff --no-textconv --no-relative -M -U8 --src-prefix=a/ --dst-prefix=b/";

interface Where {
  /** Names the records of the commands that are run; the caller has them forgotten. */
  readonly session: string;
  readonly processes: Pick<Processes, "start" | "read">;
  readonly root: string;
  readonly confinement: Parameters<Processes["start"]>[0]["confinement"];
}

/**
 * The changes of a range, file by file. Git runs in the sandbox and read-only: in a stranger's repository it runs what its
 * configuration names. Throws `workspace_invalid` outside a repository, `usage` for a reference that names no commit, for a
 * range without changes and for one that is too large.
 */
export async function readChanges(where: Where, range: ReviewRange): Promise<Changes> {
  if ((await git(where, "rev-parse --git-dir", 4096)) === null) {
    throw new HoldfastError("workspace_invalid", "a review needs a git repository", { hint: "run it inside one, or name it with --cd" });
  }
  const { words, diff, withUntracked } = await spell(where, range);
  const tracked = await git(where, `diff ${diffFlags} ${diff}`, mostBytes);
  if (tracked === null) throw unreadable(where, `git diff ${diff}`);
  const fresh = withUntracked ? await untracked(where) : "";
  const files = split(tracked + fresh);
  const submodules = files.filter(({ parts }) => isSubmodule(parts[0] ?? "")).map(({ path }) => path);
  const notInspected = [...new Set([...submodules, ...(withUntracked ? await untrackedRepositories(where) : [])])];
  if (files.length === 0) {
    throw new HoldfastError("usage", `there is nothing to review: no change in ${words}`, {
      ...(notInspected.length > 0 && {
        hint: `repositories of their own are reviewed with --cd: ${notInspected.map((path) => sanitizeLine(quotedPath(path))).join(", ")}`,
      }),
    });
  }
  return { range: words, files, notInspected };
}

async function spell(where: Where, range: ReviewRange): Promise<{ words: string; diff: string; withUntracked: boolean }> {
  const head = await commitOf(where, "HEAD").catch(() => null);
  switch (range.type) {
    case "uncommitted": {
      // Before the first commit everything is new.
      const from = head ?? ((await git(where, "hash-object -t tree /dev/null", 4096)) ?? "").trim();
      return { words: "the uncommitted changes", diff: `${from} --`, withUntracked: true };
    }
    case "base": {
      const base = await commitOf(where, range.ref);
      const from = (await git(where, `merge-base ${base} ${head ?? base}`, 4096))?.trim();
      if (!from) throw new HoldfastError("usage", `${range.ref} has no history in common with what is checked out`);
      return { words: `the changes since ${range.ref}`, diff: `${from} --`, withUntracked: true };
    }
    case "commit": {
      const commit = await commitOf(where, range.ref);
      const parent = (await git(where, `rev-parse --verify --quiet ${commit}^1`, 4096))?.trim();
      const from = parent || ((await git(where, "hash-object -t tree /dev/null", 4096)) ?? "").trim();
      return { words: `commit ${commit.slice(0, 12)}`, diff: `${from} ${commit} --`, withUntracked: false };
    }
  }
}

async function commitOf(where: Where, ref: string): Promise<string> {
  const found = (await git(where, `rev-parse --verify --quiet --end-of-options ${quote(`${ref}^{commit}`)}`, 4096))?.trim() ?? "";
  if (!/^[0-9a-f]{40,64}$/.test(found)) throw new HoldfastError("usage", `${JSON.stringify(ref)} names no commit here`);
  return found;
}

/** `git diff --no-index` follows a link to a folder and shows nothing of it, so its diff is made here. */
const linkToFolder = String.raw`if [ -L "$f" ] && [ -d "$f" ]; then
  case $f in *[[:cntrl:]\"\\]*) exit 2;; esac
  to=$(readlink -n -- "$f" | tr '\000-\037\177' ' ')
  printf 'diff --git a/%s b/%s\nnew file mode 120000\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+%s\n' "$f" "$f" "$f" "$to"
  continue
fi`;

/**
 * New files that git doesn't know yet, as diffs against nothing, for which git's exit status is 1. A folder among them is a
 * repository of its own.
 */
async function untracked(where: Where): Promise<string> {
  const each = `case $f in */) continue;; esac; ${linkToFolder}; git -c core.quotePath=false diff --no-index ${diffFlags} -- /dev/null "$f" || [ $? = 1 ] || exit 2`;
  const found = await git(where, `ls-files --others --exclude-standard -z | while IFS= read -r -d '' f; do ${each}; done`, mostBytes);
  if (found === null) throw unreadable(where, "git ls-files --others, git diff --no-index");
  return found;
}

/** Without the slash at their ends, by which git tells them from files. */
async function untrackedRepositories(where: Where): Promise<string[]> {
  const list = `ls-files --others --exclude-standard -z | while IFS= read -r -d '' f; do case $f in */) printf '%s\\0' "$f";; esac; done`;
  const found = await git(where, list, mostBytes);
  if (found === null) throw unreadable(where, "git ls-files --others");
  return found.split("\0").flatMap((path) => (path === "" ? [] : [path.slice(0, -1)]));
}

/** Of one file's diff: git shows of a submodule which commit it is at, and no file in it. */
function isSubmodule(section: string): boolean {
  const [head = ""] = section.split("\n@@", 1);
  return /^(?:new file mode|deleted file mode|index [0-9a-f]+\.\.[0-9a-f]+) 160000$/m.test(head);
}

function unreadable({ root }: Where, command: string): HoldfastError {
  return new HoldfastError("workspace_invalid", `git can't tell the changes in ${root}`, { hint: `see what it says to: ${command}` });
}

/** What a git command wrote; null where it failed. */
async function git({ processes, session, root, confinement }: Where, args: string, cap: number): Promise<string | null> {
  const running = await processes.start({
    session,
    id: `git-${crypto.randomUUID()}`,
    attempt: 1,
    command: `set -o pipefail; git --no-pager -c core.quotePath=false -c safe.directory='*' ${args} 2>/dev/null`,
    cwd: root,
    timeoutMs,
    outputCap: cap,
    confinement,
    env: { GIT_OPTIONAL_LOCKS: "0", GIT_LITERAL_PATHSPECS: "1" },
  });
  const { end } = await running.ended;
  if (end.type === "output_capped") {
    throw new HoldfastError("usage", `the changes are larger than ${mostBytes / 1024 / 1024} MB, too large for one review`, {
      hint: "review a smaller range, or commit by commit",
    });
  }
  if (end.type === "exited" && end.exitCode === 127)
    throw new HoldfastError("workspace_invalid", "a review needs git, which is not installed");
  if (end.type === "timed_out") throw new HoldfastError("workspace_invalid", `git took longer than ${timeoutMs / 1000} s`);
  const { bytes } = await processes.read(running.ref, 0, cap);
  // git diff --no-index says with 1 that there is a difference.
  return end.type === "exited" && end.exitCode <= 1 ? new TextDecoder().decode(bytes) : null;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A diff, file by file. Pure. */
export function split(diff: string): ReadableChange[] {
  const starts = [...diff.matchAll(/^diff --git .*$/gm)].map((match) => match.index);
  return starts.map((start, index) => {
    const text = diff.slice(start, starts[index + 1] ?? diff.length);
    return { path: pathOf(text), digest: createHash("sha256").update(text).digest("hex"), parts: cut(text) };
  });
}

/** The path after the change; of a deleted file, before it. */
function pathOf(section: string): string {
  const lines = section.split("\n");
  const hunk = lines.findIndex((line) => line.startsWith("@@"));
  const head = lines.slice(0, hunk < 0 ? lines.length : hunk);
  const valueOf = (prefix: string) => head.find((line) => line.startsWith(prefix))?.slice(prefix.length);
  const named = [valueOf("+++ "), valueOf("--- ")]
    .map((path) => unquote(path?.replace(/\t$/, "")))
    .find((path) => path && path !== "/dev/null");
  const moved = unquote(valueOf("rename to "));
  if (named !== undefined) return named.replace(/^[ab]\//, "");
  if (moved !== undefined) return moved;
  // Neither text nor a move: a mode, or a binary file. Both sides have the same name then.
  const both = unquote(lines[0]?.slice("diff --git ".length)) ?? "";
  const half = both.slice(0, (both.length - 1) / 2);
  return sanitizeLine(half.replace(/^a\//, "") || both);
}

const escapes: Readonly<Record<string, string>> = { a: "\u0007", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" };

/** Git writes names with special characters as C strings; its octal numbers are bytes of UTF-8. */
function unquote(path: string | undefined): string | undefined {
  if (path === undefined || !path.startsWith('"')) return path;
  return path
    .replace(/^"|"$/g, "")
    .replaceAll(/(?:\\[0-7]{3})+|\\(.)/g, (run: string, code: string | undefined) =>
      code === undefined
        ? new TextDecoder().decode(Uint8Array.from(run.slice(1).split("\\"), (octal) => Number.parseInt(octal, 8)))
        : (escapes[code] ?? code),
    );
}

function cut(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > partChars) {
    const line = rest.lastIndexOf("\n", partChars);
    const at = line > partChars / 2 ? line + 1 : partChars;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at);
  }
  return [...parts, rest];
}
