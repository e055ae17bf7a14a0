import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { HoldfastError } from "@holdfast/protocol/error";

const run = promisify(execFile);

/** What the demo brings along: the repository with the bug, and what the scripted model does about it. */
const assets = fileURLToPath(new URL("../../demo/", import.meta.url));
export const demoScript = join(assets, "login.yaml");

export interface DemoRepository {
  /** Real path of the work tree. */
  readonly path: string;
  /** A folder beside it for whatever the demo must keep out of the person's own. */
  readonly home: string;
  /** What changed since the one commit, as git shows it. */
  diff(): Promise<string>;
  remove(): Promise<void>;
}

/** A new git repository in the system's temporary folder, with one commit in it. Throws `workspace_invalid` without git. */
export async function createDemoRepository(): Promise<DemoRepository> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "holdfast-demo-")));
  const path = join(folder, "login");
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await cp(join(assets, "login"), path, { recursive: true });
    await git(path, "init", "--quiet", "--template=", "--initial-branch=main");
    await git(path, "add", "--all");
    await git(path, "commit", "--quiet", "--message=People log in with their e-mail address");
  } catch (error) {
    await remove();
    if ((error as NodeJS.ErrnoException).code === "ENOENT" && existsSync(assets)) {
      throw new HoldfastError("workspace_invalid", "the demo needs git, which is not on PATH", {
        hint: "install git (Debian: apt-get install git)",
      });
    }
    throw error;
  }
  return {
    path,
    home: join(folder, "home"),
    diff: () => git(path, "diff", "--no-color", "--no-ext-diff"),
    remove,
  };
}

/** Git without the person's settings, hooks or identity, so that the demo is the same everywhere. */
async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const identity = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map((name) => [name, "Holdfast demo"] as const);
  const addresses = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map((name) => [name, "demo@example.org"] as const);
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const env = Object.fromEntries([
    ...inherited,
    ...identity,
    ...addresses,
    ["GIT_CONFIG_GLOBAL", "/dev/null"],
    ["GIT_CONFIG_NOSYSTEM", "1"],
  ]);
  const { stdout } = await run("git", args, { cwd: folder, env });
  return stdout;
}
