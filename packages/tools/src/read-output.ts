import type { CallOutcome } from "@holdfast/protocol/call";
import type { CommandRecord, Processes } from "@holdfast/runtime/ports/processes";
import { z } from "zod";
import { defineTool, failed, refuse, throwIfLetGo, type ToolPorts } from "./define.ts";
import { flag, whole } from "./input.ts";
import { readBytes } from "./output/bytes.ts";
import { describeEnd } from "@holdfast/runtime/describe-end";
import { waitFor } from "./output/follow.ts";
import { parseHandle } from "./output/handle.ts";
import { decoderOf } from "./output/terminal.ts";
import { outputPart, searchOutput } from "./output/read.ts";

const maxWaitS = 600;

const input = z.strictObject({
  handle: z.string(),
  offset: whole(0).optional().describe("first byte; default: the end"),
  search: z.string().min(1).optional().describe("literal; shows lines with it"),
  wait_s: whole(0, maxWaitS).optional().describe("wait for its end first"),
  stop: flag().optional().describe("end the command"),
});

/** The run in the session, or else in one it was forked from. */
async function findRun(
  processes: Processes,
  [session = "", ...others]: readonly string[],
  callId: string,
  attempt: number,
): Promise<{ readonly key: readonly [string, string, number]; readonly before: CommandRecord }> {
  const key = [session, callId, attempt] as const;
  const before = await processes.record(...key);
  if (others.length === 0 || (before.type !== "none" && before.type !== "revoked")) return { key, before };
  return findRun(processes, others, callId, attempt);
}

export function readOutput({ processes, blobs }: ToolPorts) {
  return defineTool({
    name: "read_output",
    description: "Read, search, wait for or stop what a result gave a handle for.",
    input,
    async plan({ handle, stop }) {
      if (parseHandle(handle) === null) return refuse(`${handle} is not a handle. Use the one that a result names.`);
      const resource = [`output:${handle}`];
      return {
        summary: `${stop === true ? "Stop" : "Read the output of"} ${handle}`,
        reads: resource,
        writes: stop === true ? resource : [],
      };
    },
    async run({ handle, offset, search, wait_s, stop }, _, context, signal) {
      const whole = context.output(handle);
      if (whole !== null) return readBlob(await blobs.get(whole), { offset, search }, handle);
      const { callId, attempt } = parseHandle(handle)!;
      if (processes === null) return failed(`No result of this session has the handle ${handle}.`);
      const { key, before } = await findRun(processes, [context.session, ...context.ancestors], callId, attempt);
      if (before.type === "none" || before.type === "revoked") return failed(`No command of this session has the handle ${handle}.`);
      const running = await processes.attach(...key);
      if (stop === true && key[0] !== context.session)
        return failed(`${handle} is a command of the session that this one was forked from. It can't be stopped here.`);
      if (before.type === "running" && stop === true) await running.stop();
      else if (before.type === "running" && wait_s !== undefined) await waitFor(processes, running, { forMs: wait_s * 1000 }, signal);
      throwIfLetGo(signal);
      // Asked before reading: what is shown of a command that is said to have ended is then its whole output.
      const record = await processes.record(...key);
      const read = (from: number, length: number) => processes.read(running.ref, from, length);
      const decode = decoderOf(running.input);
      const text =
        search === undefined ? await outputPart(read, offset ?? null, decode) : await searchOutput(read, search, offset ?? 0, decode);
      const hasEnded = record.type === "ended";
      return {
        status: signal.aborted && !hasEnded ? "interrupted" : "completed",
        text: `${statusLine(record)}\n${text}`,
        trust: "tool",
        output: handle,
        ...exitOf(record),
        ...(hasEnded && context.task(handle) !== null ? { endedTask: handle } : {}),
      };
    },
  });
}

/** The whole of a result that the model saw a part of: it is what it was, and comes from where it came from. */
async function readBlob(
  bytes: Uint8Array | null,
  { offset, search }: { readonly offset: number | undefined; readonly search: string | undefined },
  handle: string,
): Promise<CallOutcome> {
  if (bytes === null) return failed(`What ${handle} names is not kept any more.`);
  const read = readBytes(bytes);
  const text = search === undefined ? await outputPart(read, offset ?? null) : await searchOutput(read, search, offset ?? 0);
  return { status: "completed", text, trust: "untrusted", output: handle };
}

export function statusLine(record: CommandRecord): string {
  return record.type === "ended" ? describeEnd(record.end) : "still running";
}

export function exitOf(record: CommandRecord): Pick<CallOutcome, "exitCode" | "signal"> {
  if (record.type !== "ended") return {};
  return {
    exitCode: record.end.type === "exited" ? record.end.exitCode : null,
    signal: record.end.type === "signalled" ? record.end.signal : null,
  };
}
