import type { CheckRun } from "@holdfast/protocol";
import type { BlobStore, Clock, CommandEnd, Confinement, Processes, VerifierContext } from "@holdfast/runtime";
import { describeEnd } from "@holdfast/runtime/describe-end";
import { parseCounts, stripControls } from "./counts.ts";

export interface RunInput {
  readonly session: string;
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly confinement: Confinement;
  readonly env: Readonly<Record<string, string>>;
  readonly handOver: VerifierContext["handOver"];
  readonly onOutput: (text: string) => void;
}

export interface Runner {
  readonly processes: Processes;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/** A check that prints more is ended and fails: nobody can read it, and it is kept whole. */
const outputCap = 32 * 1024 * 1024;
const tailBytes = 4 * 1024;
const readBytes = 256 * 1024;
const pollMs = 100;

/** Runs a check's command once. Throws the signal's reason when it is aborted, after nothing of the run is left. */
export async function runOnce({ processes, blobs, clock }: Runner, input: RunInput, signal: AbortSignal): Promise<CheckRun> {
  signal.throwIfAborted();
  const { session, id, command, cwd, timeoutMs, confinement, env } = input;
  const running = await processes.start({ session, id, attempt: 1, command, cwd, timeoutMs, outputCap, confinement, env });
  await input.handOver(running.owner);
  const decoder = new TextDecoder();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const drain = async (): Promise<void> => {
    for (;;) {
      const { bytes } = await processes.read(running.ref, size, readBytes);
      if (bytes.length === 0) return;
      chunks.push(Uint8Array.from(bytes));
      size += bytes.length;
      input.onOutput(decoder.decode(bytes, { stream: true }));
    }
  };

  let hasEnded = false;
  const ended = running.ended.finally(() => (hasEnded = true));
  while (!hasEnded && !signal.aborted) {
    await Promise.race([ended, clock.sleep(pollMs, signal)]);
    await drain();
  }
  if (signal.aborted) {
    await running.stop();
    await ended;
    throw signal.reason;
  }
  const { end, durationMs } = await ended;
  await drain();
  const output = joined(chunks, size);
  const text = new TextDecoder().decode(output);
  return {
    exitCode: end.type === "exited" ? end.exitCode : null,
    signal: end.type === "signalled" ? end.signal : null,
    timedOut: end.type === "timed_out",
    ...whyEnded(end),
    durationMs,
    passed: end.type === "exited" && end.exitCode === 0,
    counts: parseCounts(text),
    tail: stripControls(text).slice(-tailBytes),
    output: await blobs.put(output),
  };
}

/** What stands in the place of an exit status where the command was ended, or is gone. */
function whyEnded(end: CommandEnd): Pick<CheckRun, "ended"> {
  switch (end.type) {
    case "exited":
    case "signalled":
    case "timed_out":
      return {};
    case "lost":
      return { ended: "its process is gone and left no exit record" };
    default:
      return { ended: describeEnd(end) };
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
