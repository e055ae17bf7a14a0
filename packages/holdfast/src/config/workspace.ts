import { realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";

/** The folder a person works in, and the project around it. Both are real paths. */
export interface Workspace {
  readonly cwd: string;
  readonly root: string;
}

/**
 * The project is the git work tree around the folder, else the folder itself. A work tree that is the whole home folder
 * or `/` (dotfiles kept in git) isn't meant when the work is in a folder below it. Throws `workspace_invalid`.
 */
export async function findWorkspace(folder: string, base: string, env: Readonly<Record<string, string | undefined>>): Promise<Workspace> {
  const given = resolve(base, folder);
  const found = await stat(given).catch(() => null);
  if (found === null) throw new HoldfastError("workspace_invalid", `there is no folder ${given}`);
  if (!found.isDirectory()) throw new HoldfastError("workspace_invalid", `${given} is not a folder`);
  const cwd = await realpath(given);
  const tooWide = new Set(["/", await realpath(env["HOME"] || homedir()).catch(() => "/")]);
  for (let at = cwd; ; at = dirname(at)) {
    if (await exists(join(at, ".git"))) return { cwd, root: at !== cwd && tooWide.has(at) ? cwd : at };
    if (at === dirname(at)) return { cwd, root: cwd };
  }
}

/** What the system shows as files there has no end, and reading some of it waits for ever. */
const unreal = ["/proc", "/sys", "/dev"];

/** Throws `workspace_invalid` for the whole machine, all of which every command could change, and for what isn't made of files. */
export function assertWorkable({ root }: Workspace): void {
  if (unreal.some((folder) => isWithin(folder, root)) && !isWithin("/dev/shm", root)) {
    throw new HoldfastError("workspace_invalid", `${root} can't be the workspace: what is there are no files`);
  }
  if (root !== "/") return;
  throw new HoldfastError("workspace_invalid", "the whole machine can't be the workspace: every command could change all of it", {
    hint: "go to the folder you want to work in, or name it with --cd",
  });
}

/**
 * The workspace's roots: the project, then the folders added to it as real paths; what lies inside another is part of it.
 * Throws `workspace_invalid` for what is no folder, and for one around the project: that one is what `--cd` names.
 */
export async function workspaceRoots(
  { root }: Workspace,
  added: readonly string[],
  base: string,
): Promise<{ readonly id: string; readonly path: string }[]> {
  const paths = [root];
  for (const folder of added) {
    const given = resolve(base, folder);
    const path = await realpath(given).catch(() => null);
    if (path === null || !(await stat(path)).isDirectory())
      throw new HoldfastError("workspace_invalid", `--add-dir: there is no folder ${given}`);
    if (path !== root && isWithin(path, root)) {
      throw new HoldfastError("workspace_invalid", `--add-dir: ${given} holds the project ${root}`, {
        hint: "name the outer folder with --cd",
      });
    }
    if (paths.some((other) => isWithin(other, path))) continue;
    paths.splice(1, paths.length, ...paths.slice(1).filter((other) => !isWithin(path, other)), path);
  }
  return paths.map((path, index) => ({ id: index === 0 ? "root" : `root${index + 1}`, path }));
}

/** Both are real paths. */
export function isWithin(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return below === "" || (below !== ".." && !below.startsWith("../"));
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
