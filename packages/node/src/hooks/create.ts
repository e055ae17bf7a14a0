import type { HookEvent } from "@holdfast/protocol";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Confinement, HookAnswer, HookCall, Hooks, Ids, Processes } from "@holdfast/runtime";
import { createBounded } from "../host/bounded.ts";
import type { HookEnd } from "./answer.ts";
import { readAnswer } from "./answer.ts";
import { hookInput } from "./input.ts";
import { runOutside } from "./run.ts";

/** A hook as the user's or a trusted project's config sets it. */
export interface HookDefinition {
  readonly event: HookEvent;
  readonly command: string;
  /** A regular expression for the whole name of a tool; null: every one. */
  readonly matcher: string | null;
  readonly timeoutMs: number;
  readonly from: "user" | "project";
  /** Asked each time before a project's runs: a file that it names may have changed. */
  readonly isStillAccepted?: () => Promise<boolean>;
}

export interface HookOptions {
  readonly hooks: readonly HookDefinition[];
  readonly environment: Readonly<Record<string, string>>;
  readonly processes: Pick<Processes, "start" | "read" | "write" | "closeInput">;
  readonly ids: Ids;
  /** How far a project's hooks reach: what its commands may. */
  readonly confinement: Confinement;
}

/** Bytes of output after which a project's hook is ended. */
const outputCap = 256 * 1024;

interface Hook extends HookDefinition {
  readonly name: string;
  readonly pattern: RegExp | null;
}

/** The hooks of a session's host: the user's run as the user's programs do, a project's in the sandbox. Throws `config_invalid`. */
export function createHooks({ hooks: definitions, environment, processes, ids, confinement }: HookOptions): Hooks {
  const hooks = definitions.map((definition): Hook => ({ ...definition, name: nameOf(definition), pattern: patternOf(definition) }));
  const begun = new Set<string>();
  const bounded = createBounded();
  /** A matcher that takes too long on a name keeps no hook from running: it may be there to refuse. */
  const isMeant = ({ pattern }: Hook, tool: string | undefined): boolean =>
    pattern === null || tool === undefined || (bounded(() => pattern.test(tool))?.value ?? true);
  const matching = (event: HookEvent, tool: string | undefined): readonly Hook[] =>
    hooks.filter((hook) => hook.event === event && isMeant(hook, tool));

  async function runConfined(hook: Hook, call: HookCall, signal: AbortSignal): Promise<HookEnd> {
    const { session, cwd } = call;
    if ((await hook.isStillAccepted?.()) === false) {
      throw new HoldfastError("config_invalid", "a file that it names has changed since it was accepted: holdfast trust shows it");
    }
    const running = await processes.start({
      session,
      id: ids.next("hook"),
      attempt: 1,
      // Its two outputs are one in the sandbox, so what it complains of is shown only where it ends badly.
      command: `(${hook.command}\n) 2>"$TMPDIR/said"; ended=$?; [ $ended = 0 ] || cat "$TMPDIR/said"; exit $ended`,
      cwd,
      timeoutMs: hook.timeoutMs,
      outputCap,
      confinement: { ...confinement, purpose: "check" },
      env: {},
      input: "pipe",
    });
    const stop = (): void => void running.stop();
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const [{ end }] = await Promise.all([
      running.ended,
      feed(running.ref, hookInput(call)).catch(async (error: unknown) => {
        // It must not judge by a part.
        await running.stop();
        throw error;
      }),
    ]).finally(() => signal.removeEventListener("abort", stop));
    const { bytes } = await processes.read(running.ref, 0, outputCap);
    const text = new TextDecoder().decode(bytes);
    return { exitCode: end.type === "exited" ? end.exitCode : null, timedOut: end.type === "timed_out", stdout: text, stderr: text };
  }

  /** All of it, however long the hook takes to read; one that ends before needs no more. */
  async function feed(ref: string, text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length;) {
      const taken = await processes.write(ref, bytes.subarray(at));
      if (taken === null) return;
      at += taken;
    }
    await processes.closeInput(ref);
  }

  async function runOne(hook: Hook, call: HookCall, signal: AbortSignal): Promise<HookAnswer> {
    const started = performance.now();
    const env = { ...environment, HOLDFAST_SESSION: call.session, HOLDFAST_HOOK_EVENT: call.event };
    const end =
      hook.from === "user"
        ? await runOutside({ command: hook.command, cwd: call.cwd, env, input: hookInput(call), timeoutMs: hook.timeoutMs }, signal)
        : await runConfined(hook, call, signal).catch((error: unknown): HookEnd => ({
            exitCode: 1,
            timedOut: false,
            stdout: "",
            stderr: error instanceof Error ? error.message : String(error),
          }));
    const durationMs = Math.round(performance.now() - started);
    const said = readAnswer(call.event, end, hook.timeoutMs);
    return { hook: hook.name, trust: hook.from, durationMs, ...said };
  }

  return {
    has: (event, session, tool) => (event !== "session_start" || !begun.has(session)) && matching(event, tool).length > 0,
    run: async (call, signal) => {
      if (call.event === "session_start") begun.add(call.session);
      const answers: HookAnswer[] = [];
      let asked = call;
      for (const hook of matching(call.event, call.tool)) {
        const answer = await runOne(hook, asked, signal);
        answers.push(answer);
        if (answer.result === "denied" || answer.result === "failed") break;
        if (answer.input !== undefined) asked = { ...asked, data: { ...asked.data, tool_input: answer.input } };
      }
      return answers;
    },
  };
}

function nameOf({ from, command }: HookDefinition): string {
  const line = command.replaceAll(/\s+/g, " ").trim();
  return `${from}: ${line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line}`;
}

function patternOf({ matcher, event }: HookDefinition): RegExp | null {
  if (matcher === null || matcher === "*" || matcher === "") return null;
  try {
    return new RegExp(`^(?:${matcher})$`, "v");
  } catch (error) {
    throw new HoldfastError("config_invalid", `[[hooks.${event}]]: matcher ${JSON.stringify(matcher)} is no regular expression`, {
      hint: "write tool names, such as run_command|edit_file",
      cause: error,
    });
  }
}
