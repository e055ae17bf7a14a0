import { readdirSync, readFileSync } from "node:fs";
import { devNull } from "node:os";
import { isAbsolute, join } from "node:path";
import type { GitState } from "@holdfast/runtime";
import { sha256 } from "@holdfast/runtime/hash";
import { lookThrough } from "../files/missing.ts";
import type { Git } from "./git.ts";
import type { FileRecord } from "./manifest.ts";

/** More paths than these are kept as one digest. */
const mostPaths = 20_000;
const mostRead = 1024 * 1024;

/** Settings that decide nothing of what git lists, compares or writes. */
const idle =
  /^(?:user|author|committer|branch|remote|gc|maintenance|init|push|pull|fetch|color|credential|commit|tag|advice|help|gui|browser|http|url|rerere|receive|transfer|safe|submodule|sendemail|format|protocol)\.|^core\.(?:editor|pager|fsmonitor|hookspath|repositoryformatversion)$/;
/** Files of a repository by which git leaves out, rewrites or replaces. */
const files = ["info/attributes", "info/exclude", "info/sparse-checkout", "info/grafts", "shallow"];

/** Git's own state of the repository at `root`, besides the files; null where there is none. Writes nothing. */
export async function readGitState(git: Git, root: string, home: string, records: readonly FileRecord[]): Promise<GitState | null> {
  const ask = async (...args: string[]): Promise<string | null> => {
    const { code, stdout } = await git(root, args);
    return code === 0 ? stdout.toString() : null;
  };
  const [head, branch, refs, index, flags, staged, config, ...paths] = await Promise.all([
    ask("rev-parse", "-q", "--verify", "HEAD"),
    ask("symbolic-ref", "-q", "HEAD"),
    ask("for-each-ref", "--format=%(refname) %(objectname)"),
    ask("ls-files", "-s", "-z"),
    ask("ls-files", "-v", "-z"),
    ask("diff-index", "--cached", "--name-only", "-z", "--no-ext-diff", "HEAD", "--"),
    ask("config", "--list", "-z"),
    ...files.map((file) => ask("rev-parse", "--git-path", file)),
    ask("rev-parse", "--git-common-dir"),
  ]);
  if (index === null || index === undefined || config === null || config === undefined) return null;
  const whole = (path: string): string => (isAbsolute(path) ? path : join(root, path));
  const lines = config.split("\0").filter((line) => line !== "");
  const set = lines.filter((line) => !idle.test(line.split("\n")[0] ?? ""));
  const given = (key: string): string | undefined =>
    lines.findLast((line) => line.startsWith(`${key}\n`) && line !== `${key}\n${devNull}`)?.slice(key.length + 1);
  const known: (readonly [string, string])[] = [[".git/config", set.join("\0")]];
  for (const [n, file] of files.entries()) known.push([`.git/${file}`, readText(whole(paths[n]?.trim() ?? ""))]);
  for (const [key, name] of [
    ["core.attributesfile", "attributes"],
    ["core.excludesfile", "ignore"],
  ] as const) {
    const path = given(key)?.replace(/^~(?=\/)/, home) ?? join(home, ".config/git", name);
    known.push([path, readText(whole(path))]);
  }
  const hooks = given("core.hookspath")?.replace(/^~(?=\/)/, home);
  const listed = index.split("\0").flatMap((line) => (line === "" ? [] : [line.slice(line.indexOf("\t") + 1)]));
  const tracked = new Set(listed);
  return {
    head: head?.trim() ?? "",
    branch: branch?.trim() ?? "",
    refs: Object.fromEntries((refs ?? "").split("\n").flatMap((line) => (line === "" ? [] : [line.split(" ") as [string, string]]))),
    index: sha256(index),
    paths: tracked.size > mostPaths ? null : [...tracked],
    flagged: (flags ?? "").split("\0").flatMap((line) => (/^[a-zS] /.test(line) ? [line.slice(2)] : [])),
    staged: (staged ?? "").split("\0").filter((path) => path !== ""),
    loose: records.flatMap(({ path, oid }) => (oid === null && tracked.has(path) ? [path] : [])).slice(0, mostPaths),
    settings: digests(known),
    hooks: digests(filesIn(whole(hooks ?? join(paths.at(-1)?.trim() ?? "", "hooks")), hooks ?? ".git/hooks")),
  };
}

function digests(known: readonly (readonly [string, string])[]): Record<string, string> {
  return Object.fromEntries(known.filter(([, text]) => text !== "").map(([name, text]) => [name, sha256(text)]));
}

function filesIn(folder: string, name: string): [string, string][] {
  if (lookThrough(folder)?.isDirectory() !== true) return [];
  return readdirSync(folder)
    .filter((one) => !one.endsWith(".sample"))
    .map((one) => [`${name}/${one}`, readText(join(folder, one))]);
}

function readText(path: string): string {
  const stat = lookThrough(path);
  return stat?.isFile() === true && stat.size <= mostRead ? readFileSync(path, "latin1") : "";
}
