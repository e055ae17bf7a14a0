import { existsSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { WorldSection } from "@holdfast/protocol";
import { gitMode, readDigest } from "./digest.ts";
import { type Git, gitLine } from "./git.ts";
import { type InstructionRules, instructionPlaces, plain, plainLine, projectInstructions } from "./instructions.ts";
import { decodeName, fsPath } from "./names.ts";
import { isMissing, lookAt, lookThrough } from "../files/missing.ts";
import { regularText } from "../files/regular.ts";

export interface WorldInput {
  readonly git: Git;
  readonly roots: readonly { readonly id: string; readonly path: string }[];
  readonly cwd: string;
  readonly isTrusted: boolean;
  readonly now: number;
  readonly instructions: InstructionRules;
}

/** What the model is told at the start of a turn. Short, and the same for the same state of the world and day. */
export async function worldSections(input: WorldInput): Promise<WorldSection[]> {
  const { git, roots, cwd, isTrusted, instructions } = input;
  const control = await versionControl(git, cwd);
  const lines = [
    `Working folder: ${plainLine(cwd)}`,
    ...(roots.length > 1 ? [`Workspace roots: ${roots.map((root) => plainLine(root.path)).join(", ")}`] : []),
    `Platform: ${process.platform} ${process.arch}`,
    "Shell: bash",
    control,
  ];
  const date = dayOf(input.now);
  return [
    {
      id: "environment",
      trust: "tool",
      text: lines.join("\n"),
      snapshot: { cwd, platform: `${process.platform} ${process.arch}`, versionControl: control },
      context: { kind: "world", source: "the workspace", reason: "where the work happens" },
    },
    {
      id: "time",
      trust: "system",
      text: `Date: ${date}`,
      snapshot: { date },
      context: { kind: "world", source: "the clock", reason: "what is new and what is old" },
    },
    ...projectInstructions(topOf(input), cwd, isTrusted, instructions),
  ];
}

/** Trust is of the workspace's root: git may take another folder for the top (`core.worktree`, a repository around it). */
function topOf({ roots, cwd }: Pick<WorldInput, "roots" | "cwd">): string {
  return roots.find((root) => !relative(root.path, cwd).startsWith(".."))?.path ?? cwd;
}

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/**
 * What tells at the cost of a few stats whether the world may be other than it was: the day, where git's HEAD points to, and
 * the files of the project's instructions.
 */
export function worldMark(input: Pick<WorldInput, "roots" | "cwd" | "now" | "instructions">): string {
  const files = instructionPlaces(topOf(input), input.cwd, input.instructions).flat().map(statMark);
  return [dayOf(input.now), gitHead(input.cwd), ...files].join("\n");
}

function statMark(path: string): string {
  const stat = lookThrough(path);
  return stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}

function gitHead(cwd: string): string {
  const top = likelyTop(cwd);
  try {
    return top === null ? "" : headOf(top);
  } catch (error) {
    // What is called .git is no repository.
    if (isMissing(error)) return "";
    throw error;
  }
}

function headOf(top: string): string {
  const own = join(top, ".git");
  // A second work tree has a file there that says where its part of the repository is.
  const folder = statSync(own).isFile()
    ? resolve(
        top,
        textOf(own)
          .replace(/^gitdir: /, "")
          .trim(),
      )
    : own;
  return textOf(join(folder, "HEAD"));
}

function textOf(path: string): string {
  return regularText(path, { followsLink: true }) ?? "";
}

/** All is asked at once, of where git most likely finds its work tree: to start a program takes longer than its answer. */
async function versionControl(git: Git, cwd: string): Promise<string> {
  const likely = likelyTop(cwd);
  if (likely === null) return "Version control: none";
  const asked = hasUncommitted(git, likely);
  // Git may find another top; then nobody awaits this.
  asked.catch(() => undefined);
  const { code, stdout } = await git(cwd, ["rev-parse", "--show-toplevel", "HEAD", "--abbrev-ref", "HEAD", "--"]);
  const lines = stdout
    .toString()
    .replace(/\r?\n$/, "")
    .split(/\r?\n/);
  // Its answer ends with the commit, the branch and `--`; without a commit it is the top alone, which may hold a line break.
  const [head = "", name = ""] = code === 0 ? lines.splice(-3) : [];
  const top = lines.join("\n");
  if (top === "") return "Version control: none";
  const where = code === 0 ? place(head, name) : await unborn(git, cwd);
  const isDirty = await (resolve(top) === likely ? asked : hasUncommitted(git, top));
  return `Version control: git, ${where}, ${isDirty ? "with uncommitted changes" : "clean"}`;
}

function place(head: string, name: string): string {
  return name === "HEAD" ? `detached at ${head.slice(0, 10)}` : `branch ${plain(name)}`;
}

async function unborn(git: Git, cwd: string): Promise<string> {
  const branch = await gitLine(git, cwd, ["symbolic-ref", "--short", "-q", "HEAD"]);
  return branch === null ? "detached at nothing" : `branch ${plain(branch)} (no commit yet)`;
}

/** The nearest folder that holds a `.git`, null where none does. Git may see it otherwise: a `core.worktree` leads elsewhere. */
function likelyTop(cwd: string): string | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return null;
  }
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
    const stat = lookAt(path);
    if (stat === undefined) return true;
    // The same arithmetic as in `fs`, so that equal times are equal doubles.
    if (stat.size === Number(size) && stat.mtimeMs === Number(seconds) * 1000 + Number(nanoseconds) / 1e6) continue;
    const read = await readDigest(path, stat, oid.length);
    if (read?.oid !== oid || gitMode(read.kind) !== mode) return true;
  }
  return false;
}
