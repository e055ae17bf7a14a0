import type { Processes, RunningCommand } from "@holdfast/runtime/ports/processes";
import { outputDecoder } from "./decode.ts";

export type Followed =
  | ({ readonly type: "ended" } & Awaited<RunningCommand["ended"]>)
  /** Still running when the time was up. */
  | { readonly type: "yielded" }
  /** The signal aborted first. */
  | { readonly type: "aborted" };

/** The output is looked at this often. */
const pollMs = 100;
const pieceBytes = 64 * 1024;
/** Nobody watches more than this go by; the whole is in the spool. */
const maxLiveBytes = 1024 * 1024;

/** How long to wait for a command. */
export interface Patience {
  readonly forMs: number;
  /** Also until its output, once there is more than `quietFrom` bytes of it, has not grown for so long: it may wait for input. */
  readonly quietMs?: number;
  readonly quietFrom?: number;
}

/** Waits for the end of a command, as long as the patience lasts. */
export async function waitFor(processes: Processes, running: RunningCommand, patience: Patience, signal: AbortSignal): Promise<Followed> {
  const { forMs, quietMs, quietFrom = 0 } = patience;
  let isSettled = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: (() => void) | undefined;
  try {
    return await Promise.race<Followed>([
      running.ended.then((ended) => ({ type: "ended", ...ended })),
      new Promise((resolve) => (timer = setTimeout(() => resolve({ type: "yielded" }), forMs))),
      ...(quietMs === undefined
        ? []
        : [untilQuiet(processes, running.ref, quietMs, quietFrom, () => isSettled).then(() => ({ type: "yielded" }) as const)]),
      new Promise((resolve) => {
        onAbort = () => resolve({ type: "aborted" });
        if (signal.aborted) onAbort();
        else signal.addEventListener("abort", onAbort);
      }),
    ]);
  } finally {
    isSettled = true;
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}

async function untilQuiet(processes: Processes, ref: string, quietMs: number, from: number, isOver: () => boolean): Promise<void> {
  let size = from;
  for (let quiet = 0; quiet < quietMs && !isOver();) {
    await pause();
    const now = (await processes.read(ref, 0, 0)).size;
    quiet = now > from && now === size ? quiet + pollMs : 0;
    size = now;
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
