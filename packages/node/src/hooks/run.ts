import { spawn } from "node:child_process";
import { join } from "node:path";
import { defaultScripts } from "../processes/launch.ts";
import type { HookEnd } from "./answer.ts";

/** Bytes kept of each of a hook's outputs; what it writes beyond is dropped. */
const keptBytes = 256 * 1024;
/** How long outputs may stay open after its end. */
const leftOverMs = 500;

export interface HookCommand {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** JSON text for its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
}

/** Runs a command of the user's own, outside the sandbox. Its whole group ends with it, at its time, with the signal, or with us. */
export function runOutside({ command, cwd, env, input, timeoutMs }: HookCommand, signal: AbortSignal): Promise<HookEnd> {
  return new Promise((resolve) => {
    // The pipe at 3 is ours alone: whatever ends us ends the hook.
    const child = spawn("/bin/sh", [join(defaultScripts, "serve.sh"), "/bin/sh", "-c", command], {
      cwd,
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    let timedOut = false;
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    const endGroup = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It is gone.
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup();
    }, timeoutMs);
    const keep = (into: Buffer[]) => {
      let size = 0;
      return (data: Buffer): void => {
        if (size < keptBytes) into.push(data.subarray(0, keptBytes - size));
        size += data.length;
      };
    };
    const done = (exitCode: number | null, stderr: string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", endGroup);
      resolve({ exitCode, timedOut, stdout: Buffer.concat(out).toString("utf8"), stderr });
    };
    signal.addEventListener("abort", endGroup);
    if (signal.aborted) endGroup();
    child.stdout.on("data", keep(out));
    child.stderr.on("data", keep(err));
    // One that doesn't read its input may close it.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    child.on("error", (error) => done(null, error.message));
    const end = (code: number | null): void => done(code, Buffer.concat(err).toString("utf8"));
    child.on("close", end);
    child.on("exit", (code) => {
      // What it left running would hold its outputs open; what left the group isn't waited for.
      endGroup();
      setTimeout(end, leftOverMs, code).unref();
    });
  });
}
