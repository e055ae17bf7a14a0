import { existsSync, lstatSync } from "node:fs";
import { relative } from "node:path";
import type { WorldSection } from "@holdfast/protocol";
import { readDigest } from "./digest.ts";
import { type Git, gitLine } from "./git.ts";
import { plain, projectInstructions } from "./instructions.ts";
import { decodeNames, fsPath } from "./names.ts";

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
    `Working folder: ${plain(cwd)}`,
    ...(roots.length > 1 ? [`Workspace roots: ${roots.map((root) => plain(root.path)).join(", ")}`] : []),
    `Platform: ${process.platform} ${process.arch}`,
    `Date: ${new Date(input.now).toISOString().slice(0, 10)}`,
    "Shell: bash",
    top === null ? "Version control: none" : await gitState(git, top),
  ];
  const start = top !== null && existsSync(top) ? top : (home?.path ?? cwd);
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
  const [staged, others, touched] = await Promise.all([
    git(top, ["diff-index", "--cached", "--quiet", "--no-ext-diff", "HEAD", "--"]),
    git(top, ["ls-files", "-o", "--exclude-standard", "--directory", "--no-empty-directory", "-z"], { untilOutput: true }),
    git(top, ["diff-files", "--no-ext-diff", "-z"]),
  ]);
  if (staged.code !== 0 || others.stdout.length > 0) return true;
  // Git compares stats alone here (comparing contents could run a filter of the repository); the content decides.
  const fields = decodeNames(touched.stdout);
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode, newMode, oid = ""] = (fields[i] ?? "").replace(/^:/, "").split(" ");
    if (oldMode !== newMode) return true;
    const path = fsPath(top, fields[i + 1] ?? "");
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return true;
    if (stat.isDirectory()) continue;
    if ((await readDigest(path, stat, oid.length))?.oid !== oid) return true;
  }
  return false;
}
