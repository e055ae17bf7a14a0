import type { CommandEnd, Processes, RunningCommand } from "@holdfast/runtime/ports/processes";
import { outputDecoder } from "./decode.ts";

export type Followed =
  | { readonly type: "ended"; readonly end: CommandEnd; readonly durationMs: number }
  /** Still running when the time was up. */
  | { readonly type: "yielded" }
  /** The signal aborted first. */
  | { readonly type: "aborted" };

/** The output is looked at this often. */
const pollMs = 100;
const pieceBytes = 64 * 1024;
/** Nobody watches more than this go by; the whole is in the spool. */
const maxLiveBytes = 1024 * 1024;

/** Waits for the end of a command, at most `forMs`. */
export async function waitFor(running: RunningCommand, forMs: number, signal: AbortSignal): Promise<Followed> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race<Followed>([
      running.ended.then(({ end, durationMs }) => ({ type: "ended", end, durationMs })),
      new Promise((resolve) => (timer = setTimeout(() => resolve({ type: "yielded" }), forMs))),
      new Promise((resolve) => {
        onAbort = () => resolve({ type: "aborted" });
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort);
      }),
    ]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Hands over the output as it comes, from its beginning, until `until` settles; then what is there by then. The pieces
 * joined are the decoded whole, up to a megabyte.
 */
export async function streamOutput(
  processes: Processes,
  ref: string,
  emit: (text: string) => void,
  until: Promise<unknown>,
): Promise<void> {
  const decoder = outputDecoder();
  let isOver = false;
  const over = until.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  for (let offset = 0; ;) {
    await Promise.race([over, pause()]);
    const isLast = isOver;
    for (let more = true; more;) {
      const { bytes } = await processes.read(ref, offset, pieceBytes);
      offset += bytes.length;
      more = bytes.length > 0;
      const text = decoder.push(bytes);
      if (text !== "") emit(text);
      if (offset > maxLiveBytes) {
        emit("\n[live output ends here; the rest is kept]\n");
        return;
      }
    }
    if (!isLast) continue;
    const rest = decoder.end();
    if (rest !== "") emit(rest);
    return;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, pollMs));
}
