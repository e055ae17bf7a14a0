import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { rgPath } from "@vscode/ripgrep";
import { HoldfastError } from "@holdfast/protocol/error";
import { spawnRipgrep } from "./limited.ts";
import type { SearchStart } from "./search-start.ts";

export const ripgrepFolder = dirname(rgPath);

/**
 * What every search starts with: nobody's configuration, ignore files outside git too, hidden files but not `.git`.
 * Names that a glob asks for are filtered by us: ripgrep's own `--glob` would bring ignored files back.
 */
const always = ["--no-config", "--no-require-git", "--hidden", "--glob", "!.git", "--no-messages", "--color", "never", "--null"];

/** Longer than any real search of a workspace; a result cut by it counts as truncated. */
const maxMs = 30_000;

/** A record longer than this is dropped: ripgrep cuts lines itself, so only a hostile name gets here. */
const maxRecord = 1_000_000;

/**
 * Runs ripgrep and hands over each record (bytes up to `ends`, or up to one and then the other: a name may hold line breaks,
 * what follows it may not) until `take` returns false, the signal aborts or time is up; then ripgrep is killed. Resolves to whether all of its output was taken. Throws `tool_input_invalid` with ripgrep's
 * words for a pattern it can't read, `file_unreadable` where it ran into its limits, `internal` where it can't be started.
 */
export async function ripgrep(
  args: readonly string[],
  from: Pick<SearchStart, "folder" | "input">,
  ends: "\0" | "\0\n",
  take: (record: string) => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const child = spawnRipgrep([...always, ...args], {
    cwd: from.folder,
    stdio: [from.input ?? "ignore", "pipe", "pipe"],
    windowsHide: true,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", (error) => reject(new HoldfastError("internal", "The search program could not be started.", { cause: error })));
    child.on("close", (code) => resolve(code));
  });
  // The streams may end before the process: whoever waits below must find the failure, and nobody else.
  ended.catch(() => undefined);
  let problem = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (problem = (problem + text).slice(0, 2000)));

  let isWhole = true;
  const stop = () => {
    isWhole = false;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(stop, maxMs);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const record of records(child.stdout as Readable, ends)) {
      if (take(record)) continue;
      stop();
      break;
    }
    const code = await ended;
    if (isWhole && code === null) {
      throw new HoldfastError("file_unreadable", `The search of ${from.folder} needed too much memory or time and was ended.`, {
        hint: "Look for an ignore file (.ignore, .gitignore) there that is a link to a device.",
      });
    }
    // With `--no-messages` only a pattern or an argument it can't read is written there.
    if (isWhole && code === 2 && problem !== "") throw new HoldfastError("tool_input_invalid", problem.trim());
    return isWhole;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    child.kill("SIGKILL");
  }
}

async function* records(chunks: AsyncIterable<Buffer>, ends: string): AsyncGenerator<string> {
  let pending: Buffer = Buffer.alloc(0);
  let reached = 0;
  for await (const chunk of chunks) {
    let from = 0;
    const next = (start: number): number => chunk.indexOf(ends.charCodeAt(reached), start);
    for (let at = next(0); at !== -1; at = next(at + 1)) {
      reached = (reached + 1) % ends.length;
      if (reached !== 0) continue;
      const piece = chunk.subarray(from, at);
      yield (pending.length === 0 ? piece : Buffer.concat([pending, piece])).toString("utf8");
      pending = Buffer.alloc(0);
      from = at + 1;
    }
    if (pending.length + chunk.length - from <= maxRecord) pending = Buffer.concat([pending, chunk.subarray(from)]);
  }
  if (pending.length > 0) yield pending.toString("utf8");
}
