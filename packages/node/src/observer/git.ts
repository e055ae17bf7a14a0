import { type ChildProcessByStdio, spawn } from "node:child_process";
import { devNull } from "node:os";
import type { Readable, Writable } from "node:stream";
import { HoldfastError } from "@holdfast/protocol/error";
import { isMissing } from "../files/missing.ts";
import { waitsAt } from "../sandbox/git-waits.ts";
import { outerPath } from "../sandbox/programs.ts";
import { endWhereStuck } from "./stuck.ts";

export interface GitResult {
  /** Exit status; 127 where there is no git, or no folder to run it in. */
  readonly code: number;
  readonly stdout: Buffer;
}

export type Git = (
  cwd: string,
  args: readonly string[],
  options?: { readonly input?: string; readonly untilOutput?: boolean },
) => Promise<GitResult>;

/**
 * Git that only reads: it takes no optional lock, and starts nothing that the repository's configuration or hooks name.
 * Commands that would run content filters (`status`, `diff` of the working tree) are not for use here.
 * A missing object is never fetched. The repository may belong to somebody else.
 */
const harmless = [
  "--no-pager",
  "--literal-pathspecs",
  "-c",
  "core.fsmonitor=false",
  "-c",
  `core.hooksPath=${devNull}`,
  "-c",
  "safe.directory=*",
  "-c",
  "core.quotePath=false",
  "-c",
  "protocol.allow=never",
];

/** Longer than git needs for any real work tree. */
const mostMs = 180_000;

/**
 * Where it would wait at a pipe of the repository it isn't started, and fails as in one that is damaged. Its promises
 * reject with `workspace_invalid` where git doesn't end in time, or stands still for longer than any disk takes.
 */
export function createGit(home: string, roots: readonly string[], timeoutMs: number = mostMs, { everyMs = 1_000 } = {}): Git {
  // A list of what it needs to find the user's settings: no child is given a key.
  const kept = ["XDG_CONFIG_HOME", "SystemRoot"].flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const env: Readonly<Record<string, string>> = {
    ...(Object.fromEntries(kept) as Record<string, string>),
    HOME: home,
    PATH: outerPath(process.env["PATH"], roots),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_TERMINAL_PROMPT: "0",
    GIT_PAGER: "cat",
  };
  return (cwd, args, options = {}) =>
    new Promise((resolve, reject) => {
      const failed = (error: unknown): void => {
        // No git, or no folder to run it in.
        if (isMissing(error)) resolve({ code: 127, stdout: Buffer.alloc(0) });
        else reject(error);
      };
      const waited = waitsAt(cwd);
      if (waited?.isOfTree === true) return reject(waits(cwd, `${waited.path} is a pipe or a device.`));
      if (waited !== null) return resolve({ code: 128, stdout: Buffer.alloc(0) });
      let child: ChildProcessByStdio<Writable, Readable, null>;
      try {
        child = spawn("git", [...harmless, ...args], {
          cwd,
          env,
          stdio: ["pipe", "pipe", "ignore"],
          timeout: timeoutMs,
          killSignal: "SIGKILL",
        });
      } catch (error) {
        // A file where the folder was is thrown; a folder that is not there is an event.
        failed(error);
        return;
      }
      const chunks: Buffer[] = [];
      const stop = endWhereStuck(child, everyMs, () => chunks.length);
      child.on("error", failed);
      child.stdout.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if (options.untilOutput) child.kill("SIGTERM");
      });
      // Git may end before it has read everything; that is its exit status to tell.
      child.stdin.on("error", () => {});
      child.stdin.end(options.input ?? "");
      child.on("close", (code, signal) => {
        stop();
        if (signal !== "SIGKILL") resolve({ code: code ?? 128, stdout: Buffer.concat(chunks) });
        else reject(waits(cwd, "Look for a .gitignore, a ref or another file of git there that is a pipe."));
      });
    });
}

function waits(cwd: string, hint: string): HoldfastError {
  return new HoldfastError("workspace_invalid", `git did not come to an end in ${cwd}.`, { hint });
}

/** One line of output, null where the command failed. */
export async function gitLine(git: Git, cwd: string, args: readonly string[]): Promise<string | null> {
  const { code, stdout } = await git(cwd, args);
  return code === 0 ? stdout.toString().replace(/\r?\n$/, "") : null;
}
