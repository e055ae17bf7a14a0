import { type ChildProcessByStdio, spawn } from "node:child_process";
import { devNull } from "node:os";
import type { Readable, Writable } from "node:stream";
import { HoldfastError } from "@holdfast/protocol/error";
import { isMissing } from "../files/missing.ts";
import { outerPath } from "../sandbox/programs.ts";

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

/** Longer than git needs for any real work tree. Without an end it would wait for ever where an ignore file is a pipe. */
const mostMs = 180_000;

/** Its promises reject with `workspace_invalid` where git doesn't end in time. */
export function createGit(home: string, roots: readonly string[], timeoutMs: number = mostMs): Git {
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
      child.on("error", failed);
      child.stdout.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if (options.untilOutput) child.kill("SIGTERM");
      });
      // Git may end before it has read everything; that is its exit status to tell.
      child.stdin.on("error", () => {});
      child.stdin.end(options.input ?? "");
      child.on("close", (code, signal) => {
        if (signal !== "SIGKILL") resolve({ code: code ?? 128, stdout: Buffer.concat(chunks) });
        else {
          reject(
            new HoldfastError("workspace_invalid", `git did not come to an end in ${cwd}.`, {
              hint: "Look for a .gitignore there that is a pipe.",
            }),
          );
        }
      });
    });
}

/** One line of output, null where the command failed. */
export async function gitLine(git: Git, cwd: string, args: readonly string[]): Promise<string | null> {
  const { code, stdout } = await git(cwd, args);
  return code === 0 ? stdout.toString().replace(/\r?\n$/, "") : null;
}
