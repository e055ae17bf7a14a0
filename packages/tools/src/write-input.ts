import type { CallOutcome } from "@holdfast/protocol/call";
import type { Processes, RunningCommand } from "@holdfast/runtime/ports/processes";
import type { CallContext } from "@holdfast/runtime/ports/tool-host";
import { z } from "zod";
import { defineTool, failed, interrupted, refuse, throwIfLetGo } from "./define.ts";
import { flag, whole } from "./input.ts";
import { waitFor } from "./output/follow.ts";
import { parseHandle } from "./output/handle.ts";
import { decoderOf } from "./output/terminal.ts";
import { outputWindow } from "./output/window.ts";
import { exitOf, statusLine } from "./read-output.ts";

const maxYieldS = 600;
const defaultYieldS = 10;
/** Without `yield_s`: what comes back within this moment of quiet is the answer. */
const quietMs = 700;
const maxInput = 20_000;

const input = z.strictObject({
  handle: z.string(),
  input: z.string().max(maxInput).optional().describe("as typed: \\n is Enter, \\u0003 Ctrl-C"),
  close: flag().optional().describe("end its input"),
  yield_s: whole(0, maxYieldS).optional().describe("wait so long for output; default: until it is quiet"),
});
type Input = z.infer<typeof input>;

/** Ctrl-D, with which the end of input is typed at a terminal. */
const endOfInput = "\u0004";

export function writeInput(processes: Processes) {
  return defineTool({
    name: "write_input",
    description: "Type to a running command that was started with tty or stdin; shows its new output.",
    input,
    async plan({ handle, input: text = "", close }, context) {
      if (parseHandle(handle) === null) return refuse(`${handle} is not a handle. Use the one that the result of run_command names.`);
      const resource = [`output:${handle}`];
      const task = context.task(handle);
      const typed = text !== "" || close === true;
      // Typed twice is not the same as typed once.
      if (!typed) return { summary: `Look at ${handle}`, reads: resource };
      if (task === null) return refuse(`No command of this session runs under the handle ${handle}: it has ended, or never was.`);
      if (task.command === undefined) return refuse(`${handle} was started without an input. Start it again with tty or stdin.`);
      return {
        summary: `${text === "" ? "End the input of" : `Type ${JSON.stringify(brief(text))} to`} ${brief(task.title)}`,
        reads: resource,
        writes: resource,
        workspace: "shared",
        replay: "never",
        changesWorkspace: true,
        typed: { command: task.command, text },
      };
    },
    async run(wanted, intent, context, signal) {
      const { callId, attempt } = parseHandle(wanted.handle)!;
      const key = [context.session, callId, attempt] as const;
      if (signal.aborted) return interrupted("Interrupted before anything was typed.", signal);
      const before = await processes.record(...key);
      if (before.type === "none" || before.type === "revoked") return failed(`No command of this session has the handle ${wanted.handle}.`);
      const running = await processes.attach(...key);
      const { size } = await processes.read(running.ref, 0, 0);
      const problem = intent.plan.typed === undefined ? null : await type(processes, running, wanted);
      await waitFor(processes, running, patienceOf(wanted, size), signal);
      throwIfLetGo(signal);
      return resultOf(processes, running, wanted, problem, context, signal);
    },
  });
}

/** Null where everything was taken; else what to tell. */
async function type(processes: Processes, running: RunningCommand, { input: text = "", close }: Input): Promise<string | null> {
  const isTerminal = running.input === "terminal";
  // Enter sends a carriage return; a terminal turns it into a newline for who reads lines.
  const typed = isTerminal ? text.replace(/\r?\n/g, "\r") + (close === true ? endOfInput : "") : text;
  const bytes = new TextEncoder().encode(typed);
  const taken = bytes.length === 0 ? 0 : await processes.write(running.ref, bytes);
  if (taken === null) return "Nothing was typed: the command has ended, or its input is closed.";
  if (taken < bytes.length) return `It doesn't read: ${taken} of ${bytes.length} bytes were taken, the rest was not typed.`;
  if (close === true && !isTerminal) await processes.closeInput(running.ref);
  return null;
}

function patienceOf({ yield_s, input: text, close }: Input, size: number) {
  if (yield_s !== undefined) return { forMs: yield_s * 1000 };
  const isTyped = text !== undefined || close === true;
  return { forMs: isTyped ? defaultYieldS * 1000 : 0, quietMs, quietFrom: size };
}

async function resultOf(
  processes: Processes,
  running: RunningCommand,
  { handle }: Input,
  problem: string | null,
  context: CallContext,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const { callId, attempt } = parseHandle(handle)!;
  // Asked before reading: what is shown of a command that is said to have ended is then its whole output.
  const record = await processes.record(context.session, callId, attempt);
  const task = context.task(handle);
  const from = task?.shown ?? 0;
  const read = async (offset: number, length: number) => {
    const { bytes, size } = await processes.read(running.ref, from + offset, length);
    return { bytes, size: Math.max(0, size - from) };
  };
  const window = await outputWindow(read, `read_output ${handle}`, decoderOf(running.input));
  const hasEnded = record.type === "ended";
  return {
    status: signal.aborted && !hasEnded ? "interrupted" : problem === null ? "completed" : "failed",
    text: [...(problem === null ? [] : [problem]), statusLine(record), window.size === 0 ? "no new output" : window.text].join("\n"),
    trust: "tool",
    output: handle,
    ...exitOf(record),
    ...(hasEnded && task !== null ? { endedTask: handle } : { shown: { taskId: handle, bytes: from + window.size } }),
  };
}

function brief(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
