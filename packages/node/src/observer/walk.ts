import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import { spawnRipgrep } from "../files/limited.ts";
import { isWaitedFor } from "../sandbox/git-waits.ts";
import { decodeNames } from "./names.ts";
import { endWhereStuck } from "./stuck.ts";

/** Never in scope where there is no version control to say what belongs to the project. */
export const neverInScope = [".git", "node_modules"];

/** Longer than any real tree takes. */
const mostMs = 180_000;

/**
 * Files below `root` by its .gitignore files, or by `ruleFile` alone; links among them, not followed. For folders
 * without git. `repositories` gets the folders of files that are a repository.
 */
export async function walkFiles(root: string, ruleFile: string | null, repositories?: Set<string>): Promise<string[]> {
  const args = [
    "--no-config",
    "--files",
    "--null",
    "--hidden",
    "--no-messages",
    "--no-ignore-dot",
    "--no-ignore-global",
    "--no-ignore-parent",
  ];
  for (const name of neverInScope) args.push("--glob", `!${name}`);
  const exclude = join(root, ".git/info/exclude");
  if (ruleFile === null) args.push("--no-require-git", ...(isWaitedFor(exclude) ? ["--no-ignore-exclude"] : []));
  else args.push("--no-ignore-vcs", "--no-ignore-exclude", "--ignore-file", ruleFile);
  const files = decodeNames(await run(args, root));
  return [...files, ...(await linksBeside(root, files, repositories))];
}

/** ripgrep leaves links out: they are looked for in every folder that has a file in scope. */
async function linksBeside(root: string, files: readonly string[], repositories?: Set<string>): Promise<string[]> {
  const folders = new Set([""]);
  for (const file of files) {
    for (let at = file.lastIndexOf("/"); at > 0; at = file.lastIndexOf("/", at - 1)) {
      const folder = file.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  const links: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name === ".git") repositories?.add(folder);
      if (entry.isSymbolicLink() && !neverInScope.includes(entry.name)) links.push(folder === "" ? entry.name : `${folder}/${entry.name}`);
    }
  }
  return links;
}

function run(args: readonly string[], cwd: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawnRipgrep(args, { cwd, stdio: ["ignore", "pipe", "ignore"], timeout: mostMs, killSignal: "SIGKILL" });
    const chunks: Buffer[] = [];
    // An ignore file that is a pipe would be waited for.
    const stop = endWhereStuck(child, 1_000, () => chunks.length);
    child.on("error", (cause) => reject(new HoldfastError("workspace_invalid", `The files of ${cwd} could not be listed.`, { cause })));
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("close", (code) => {
      stop();
      // 1: no files. 2: some folder could not be read; the rest was listed.
      if (code === 0 || code === 1 || (code === 2 && chunks.length > 0)) resolve(Buffer.concat(chunks));
      else reject(new HoldfastError("workspace_invalid", `The files of ${cwd} could not be listed (ripgrep ended with ${code}).`));
    });
  });
}
