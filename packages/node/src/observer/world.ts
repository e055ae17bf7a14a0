import { lstatSync } from "node:fs";
import { relative } from "node:path";
import type { WorldSection } from "@holdfast/protocol";
import { gitMode, readDigest } from "./digest.ts";
import { type Git, gitLine } from "./git.ts";
import { plain, plainLine, projectInstructions } from "./instructions.ts";
import { decodeName, fsPath } from "./names.ts";

export interface WorldInput {
  readonly git: Git;
  readonly roots: readonly { readonly id: string; readonly path: string }[];
  readonly cwd: string;
  readonly isTrusted: boolean;
  readonly now: number;
}

/** What the model is told at the start of a turn. Short, and the same for the same state of the world and day. */
export async function worldSections(input: WorldInput): Promise<WorldSection[]> {
  const { git, roots, cwd, isTrusted } = input;
  const top = await gitLine(git, cwd, ["rev-parse", "--show-toplevel"]);
  const home = roots.find((root) => !relative(root.path, cwd).startsWith(".."));
  const lines = [
    `Working folder: ${plainLine(cwd)}`,
    ...(roots.length > 1 ? [`Workspace roots: ${roots.map((root) => plainLine(root.path)).join(", ")}`] : []),
    `Platform: ${process.platform} ${process.arch}`,
    `Date: ${new Date(input.now).toISOString().slice(0, 10)}`,
    "Shell: bash",
    top === null ? "Version control: none" : await gitState(git, top),
  ];
  // Trust is of the workspace's root: git may take another folder for the top (`core.worktree`, a repository around it).
  const start = home?.path ?? cwd;
  return [{ id: "environment", trust: "tool", text: lines.join("\n") }, ...projectInstructions(start, cwd, isTrusted)];
}

async function gitState(git: Git, top: string): Promise<string> {
  const [branch, head, isDirty] = await Promise.all([
    gitLine(git, top, ["symbolic-ref", "--short", "-q", "HEAD"]),
    gitLine(git, top, ["rev-parse", "--short", "-q", "--verify", "HEAD"]),
    hasUncommitted(git, top),
  ]);
  const where = branch === null ? `detached at ${head ?? "nothing"}` : `branch ${plain(branch)}${head === null ? " (no commit yet)" : ""}`;
  return `Version control: git, ${where}, ${isDirty ? "with uncommitted changes" : "clean"}`;
}

async function hasUncommitted(git: Git, top: string): Promise<boolean> {
  const [staged, others, index] = await Promise.all([
    git(top, ["diff-index", "--cached", "--quiet", "--no-ext-diff", "HEAD", "--"]),
    git(top, ["ls-files", "-o", "--exclude-standard", "--directory", "--no-empty-directory", "-z"], { untilOutput: true }),
    git(top, ["ls-files", "-s", "--debug", "-z"]),
  ]);
  if (staged.code !== 0 || others.stdout.length > 0) return true;
  return isTouched(top, index.stdout.toString("latin1"));
}

const indexEntry =
  /(\d{6}) ([0-9a-f]+) \d\t([^\0]*)\0 {2}ctime: \d+:\d+\n {2}mtime: (\d+):(\d+)\n {2}dev:.*\n {2}uid:.*\n {2}size: (\d+)\tflags: .*\n/g;

/**
 * Whether some tracked file isn't as the index has it. Git's own comparison would run the filters that a repository
 * names, so its record of size and mtime is read, and where they differ the content decides.
 */
async function isTouched(top: string, index: string): Promise<boolean> {
  for (const [, mode, oid = "", name = "", seconds, nanoseconds, size] of index.matchAll(indexEntry)) {
    if (mode === "160000") continue;
    const path = fsPath(top, decodeName(Buffer.from(name, "latin1")));
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return true;
    // The same arithmetic as in `fs`, so that equal times are equal doubles.
    if (stat.size === Number(size) && stat.mtimeMs === Number(seconds) * 1000 + Number(nanoseconds) / 1e6) continue;
    const read = await readDigest(path, stat, oid.length);
    if (read?.oid !== oid || gitMode(read.kind) !== mode) return true;
  }
  return false;
}
