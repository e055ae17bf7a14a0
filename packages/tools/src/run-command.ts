import type { CallOutcome } from "@holdfast/protocol/call";
import { isHoldfastError } from "@holdfast/protocol/error";
import { identityOf } from "@holdfast/runtime/kernel/identity";
import type { CommandEnd, CommandLimit, CommandSpec, Confinement, Processes, RunningCommand } from "@holdfast/runtime/ports/processes";
import type { CallContext, CallIntent, CallRefusal, ProbeFinding } from "@holdfast/runtime/ports/tool-host";
import { z } from "zod";
import { defineTool, failed, interrupted, refuse, throwIfLetGo, type ToolPorts } from "./define.ts";
import { expectation, expectationOf } from "./expectation.ts";
import { flag, whole } from "./input.ts";
import { asked, beyond } from "./beyond.ts";
import { describeEnd } from "@holdfast/runtime/describe-end";
import { describeRefused } from "./output/describe-refused.ts";
import { streamOutput, waitFor } from "./output/follow.ts";
import { handleOf } from "./output/handle.ts";
import { decoderOf } from "./output/terminal.ts";
import { outputWindow } from "./output/window.ts";
import { isRefusal, placeOf, type Place } from "./place.ts";

const defaultTimeoutS = 600;
const maxTimeoutS = 24 * 60 * 60;
const defaultYieldS = 30;
const maxYieldS = 600;
/** A program that has said something and then nothing for so long may be waiting to be typed at. */
const quietBeforeTypingMs = 1000;
const outputCap = 256 * 1024 * 1024;

export const shownInput = z.strictObject({
  command: z.string().trim().min(1).describe("for bash"),
  cwd: z.string().optional(),
  timeout_s: whole(1, maxTimeoutS).optional().describe(`default ${defaultTimeoutS}`),
  tty: flag().optional().describe("a terminal to type at with write_input (see search_tools)"),
  stdin: flag().optional().describe("keep its input open for write_input"),
  yield_s: whole(0, maxYieldS).optional().describe(`return after this while it runs on; default ${defaultYieldS}`),
  expect: expectation(["exit_code", "output_contains", "output_matches", "file_changed", "file_unchanged", "file_exists", "tests_passed"]),
});
const input = shownInput.extend({ beyond: beyond.optional() });
type Input = z.infer<typeof input>;

/** Kept with the intent: the folder that was gone, where the command runs in the root instead, and the machine's boot. */
const prepared = z.object({ goneCwd: z.string().nullable(), bootId: z.string() });

export function runCommand(ports: ToolPorts, processes: Processes) {
  return defineTool({
    name: "run_command",
    description: "Run a shell command, by default without terminal or input. If it outlasts yield_s it goes on; read_output follows it.",
    input,
    shown: shownInput,
    async unwrap({ command, cwd }) {
      // Few lines do, and then the shell's parser is needed.
      if (!command.includes("apply_patch") && !command.includes("applypatch")) return null;
      const { fromFolder, patchInCommand } = await import("./patch/in-command.ts");
      const found = patchInCommand(command);
      if (found === null) return null;
      return { name: "apply_patch", input: { patch: fromFolder(fromFolder(found.patch, found.folder), cwd ?? null) } };
    },
    async plan({ command, cwd, timeout_s, expect, beyond: wished }, context) {
      const most = context.limits.commandMs / 1000;
      if (timeout_s !== undefined && timeout_s > most)
        return refuse(`timeout_s: a command may run for ${most} s here (limits.command_timeout in the user's config). Nothing was run.`);
      if (ports.isRedacted(command))
        return refuse("The command holds a mark that stands for a secret, and the secret itself is not yours to use. Nothing was run.");
      if (command.includes("\0")) return refuse("The command holds a NUL character, which no program can be given. Nothing was run.");
      const where = await whereToRun(ports, cwd, context);
      if (isRefusal(where)) return where;
      const asks = wished === undefined ? null : await asked(ports.files, wished, where.place.real, context);
      if (asks !== null && "type" in asks) return asks;
      return {
        summary: command,
        workspace: "exclusive",
        replay: "probe",
        changesWorkspace: true,
        command,
        cwd: where.place.real,
        // What it is attached to, and what is asked for it, doesn't make it another.
        identity: identityOf({ command, cwd: where.place.real }),
        ...(asks !== null && { asks }),
        ...expectationOf(expect),
      };
    },
    async prepare({ cwd }, plan, context) {
      const where = await whereToRun(ports, cwd, context);
      if (isRefusal(where)) return where;
      if (where.place.real !== plan.cwd)
        return refuse(`${where.place.shown} now leads elsewhere than when the call was decided. Propose it again.`);
      return { prepared: { goneCwd: where.goneCwd, bootId: processes.owner.bootId }, blobs: [] };
    },
    async run(wanted, intent, context, signal) {
      if (signal.aborted) return interrupted("Interrupted before the command was started.", signal);
      const confinement = { ...context.confinement, scope: intent.scope };
      const secrets = await secretsFor(ports, confinement);
      if (isRefusal(secrets)) return failed(secrets.text);
      let running: RunningCommand;
      try {
        running = await processes.start({
          session: context.session,
          id: intent.callId,
          attempt: intent.attempt,
          command: wanted.command,
          cwd: intent.plan.cwd ?? context.cwd,
          timeoutMs: Math.min((wanted.timeout_s ?? defaultTimeoutS) * 1000, context.limits.commandMs),
          outputCap,
          confinement,
          env: secrets,
          ...inputOf(wanted),
        });
      } catch (error) {
        if (!isHoldfastError(error) || error.code === "claim_lost") throw error;
        return failed(
          [`The command was not started: ${error.message} (${error.code})`, error.hint].filter((text) => text !== undefined).join("\n"),
        );
      }
      return follow(processes, running, wanted, intent, context, signal);
    },
    async probe(wanted, intent, context) {
      return probeCommand(processes, wanted, intent, context);
    },
    async attach(wanted, intent, context, signal) {
      const running = await processes.attach(context.session, intent.callId, intent.attempt);
      return follow(processes, running, wanted, intent, context, signal);
    },
  });
}

/** A folder that the model names must be there: elsewhere the command could do harm. The session's own may have been deleted. */
async function whereToRun(
  ports: ToolPorts,
  cwd: string | undefined,
  context: CallContext,
): Promise<{ place: Place; goneCwd: string | null } | CallRefusal> {
  const place = await placeOf(ports.files, context.cwd, cwd ?? ".");
  if (isRefusal(place) || place.identity.kind === "directory") return isRefusal(place) ? place : { place, goneCwd: null };
  if (cwd !== undefined) return refuse(`cwd: ${place.shown} is not a folder. Nothing was run.`);
  const root = ports.files.roots[0]?.path;
  const fallback = root === undefined ? null : await placeOf(ports.files, root, root);
  if (fallback === null || isRefusal(fallback) || fallback.identity.kind !== "directory") {
    return refuse(`The working folder ${context.cwd} no longer exists. Give a cwd that does.`);
  }
  return { place: fallback, goneCwd: context.cwd };
}

async function secretsFor(
  { commandSecrets }: ToolPorts,
  confinement: Confinement,
): Promise<Readonly<Record<string, string>> | CallRefusal> {
  const names = confinement.scope.secrets ?? [];
  if (names.length === 0) return {};
  return commandSecrets === undefined ? refuse("There are no secrets here. Nothing was run.") : commandSecrets(names, confinement);
}

function inputOf({ tty, stdin }: Input): Pick<CommandSpec, "input"> {
  return tty === true ? { input: "terminal" } : stdin === true ? { input: "pipe" } : {};
}

async function follow(
  processes: Processes,
  running: RunningCommand,
  wanted: Input,
  intent: CallIntent,
  context: CallContext,
  signal: AbortSignal,
): Promise<CallOutcome> {
  await context.handOver(running.owner);
  const patience = {
    forMs: (wanted.yield_s ?? defaultYieldS) * 1000,
    // Whoever may type wants to be told when it seems to be their turn.
    ...(running.input !== null && wanted.yield_s === undefined && { quietMs: quietBeforeTypingMs }),
  };
  const waiting = waitFor(processes, running, patience, signal).then(async (followed) => {
    if (followed.type !== "aborted") return followed;
    throwIfLetGo(signal);
    await running.stop();
    return { type: "ended", ...(await running.ended) } as const;
  });
  const [followed] = await Promise.all([waiting, streamOutput(processes, running.ref, context.emit, waiting)]);
  return outcomeOf(processes, running, followed.type === "ended" ? followed : null, wanted, intent);
}

/** `ended` null: it goes on running, and the outcome carries its task. */
async function outcomeOf(
  processes: Processes,
  { ref, input }: Pick<RunningCommand, "ref" | "input">,
  ended: (Awaited<RunningCommand["ended"]> & { readonly isOfEarlierBoot?: boolean }) | null,
  wanted: Input,
  intent: CallIntent,
): Promise<CallOutcome> {
  const handle = handleOf(intent.callId, intent.attempt);
  const window = await outputWindow((offset, length) => processes.read(ref, offset, length), `read_output ${handle}`, decoderOf(input));
  const refused = ended?.refused ?? [];
  const { goneCwd } = prepared.parse(intent.prepared);
  const lines = [
    ended === null
      ? `still running${input === null ? ` after ${wanted.yield_s ?? defaultYieldS} s` : `; type with write_input ${handle}`}; follow or stop it with read_output ${handle}`
      : describeEnd(ended.end),
    ...(goneCwd === null ? [] : [`The working folder ${goneCwd} no longer exists; this ran in ${intent.plan.cwd}.`]),
    ...(ended?.isOfEarlierBoot === true ? ["The machine has restarted since; the last of the output may be missing."] : []),
    ...(refused.length === 0 ? [] : [describeRefused(refused)]),
    window.size > 0 ? window.text : ended === null ? "no output yet" : "no output",
  ];
  const outcome: CallOutcome = {
    status: ended === null ? "completed" : statusOf(ended.end, expectationOf(wanted.expect).expect?.exitCode ?? 0),
    text: lines.join("\n"),
    trust: "tool",
    ...(ended !== null && window.isWhole ? {} : { output: handle }),
  };
  if (ended === null) {
    const typing = input === null ? {} : { command: wanted.command, shown: window.size };
    return { ...outcome, task: { id: handle, callId: intent.callId, kind: "command", title: titleOf(wanted.command), ref, ...typing } };
  }
  return {
    ...outcome,
    exitCode: ended.end.type === "exited" ? ended.end.exitCode : null,
    signal: ended.end.type === "signalled" ? ended.end.signal : null,
    timedOut: ended.end.type === "timed_out",
    ...(refused.length > 0 && { refused: [...refused] }),
    ...(ended.end.type === "limited" && { limited: limitOf(ended.end) }),
    durationMs: ended.durationMs,
  };
}

function limitOf({ limit, max, seen }: CommandLimit): CommandLimit {
  return { limit, max, seen };
}

function statusOf(end: CommandEnd, expected: number): CallOutcome["status"] {
  switch (end.type) {
    case "exited":
      return end.exitCode === expected ? "completed" : "failed";
    case "signalled":
    case "timed_out":
    case "output_capped":
    case "unspooled":
    case "limited":
      return "failed";
    case "ended":
      return "interrupted";
    case "lost":
      return "in_doubt";
  }
}

function titleOf(command: string): string {
  const line = command.split("\n", 1)[0]!;
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

/** KERNEL.md, "What an effect can end as": only its own records tell what became of a command. */
async function probeCommand(processes: Processes, wanted: Input, intent: CallIntent, context: CallContext): Promise<ProbeFinding> {
  const key = [context.session, intent.callId, intent.attempt] as const;
  const before = await processes.record(...key, prepared.parse(intent.prepared).bootId);
  // After a restart of the machine nothing is left that could start it, and a record may have been lost with the power.
  // It is not revoked then: a second look must find the same.
  if (before.type === "none" && !before.sameBoot) {
    return { type: "unknown", look: `${wanted.command}: the machine has restarted since, and there is no record of a start` };
  }
  const { taken } = await processes.revoke(...key);
  if (!taken.includes(intent.attempt)) return { type: "not_happened" };
  const record = await processes.record(...key);
  switch (record.type) {
    case "running":
      return { type: "running" };
    case "ended": {
      if (record.end.type === "lost")
        return { type: "unknown", look: `${wanted.command}: it was started, and its process is gone without an exit record` };
      return { type: "happened", outcome: await outcomeOf(processes, await processes.attach(...key), record, wanted, intent) };
    }
    case "none":
    case "revoked":
      return { type: "unknown", look: `${wanted.command}: its start record can't be read` };
  }
}
