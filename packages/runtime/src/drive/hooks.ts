import type { HookEvent, Json, SessionEvent } from "@holdfast/protocol";
import type { HookAnswer } from "../ports/index.ts";
import { parseOp } from "./op.ts";
import { redact, redactDeep } from "../redact.ts";
import type { Driver } from "./driver.ts";
import { newId } from "./driver.ts";

/** Where a hook that can't be run to its end counts as a refusal: it may have been there to prevent something. */
const guards: readonly HookEvent[] = ["prompt_submitted", "before_model", "before_tool", "before_done"];

/** What hooks of one moment had to say. */
export interface Asked {
  /** Why it is not to be; null where none refused. */
  readonly refusal: string | null;
  /** Somebody interrupted them, or the driver is let go of: what they refuse then isn't their judgement. */
  readonly isInterrupted: boolean;
  /** The call's input as they want it, where they changed it. */
  readonly input: Json | undefined;
  readonly answers: readonly HookAnswer[];
  /** What each did, for the record. */
  readonly ran: readonly SessionEvent[];
}

export const nobodyAsked: Asked = { refusal: null, isInterrupted: false, input: undefined, answers: [], ran: [] };

export interface Moment {
  readonly event: HookEvent;
  readonly data: () => { readonly [key: string]: Json };
  readonly callId?: string;
  readonly tool?: string;
  /** That of the effect it belongs to. Between effects, where nothing else is looked at, it ends by a waiting interrupt, too. */
  readonly signal?: AbortSignal;
}

/** Asks the hooks of a moment, where there are any. They can refuse, add words and change an input; never allow. */
export async function askHooks(driver: Driver, { event, data, callId, tool, signal }: Moment): Promise<Asked> {
  const { hooks, secrets } = driver.ports;
  if (hooks === undefined || !hooks.has(event, driver.session, tool)) return nobodyAsked;
  const { cwd, roots } = driver.registers.get("session", "") ?? { cwd: null, roots: [] };
  const shown = redactDeep(data(), secrets.values());
  const call = { event, session: driver.session, cwd: cwd ?? roots[0]?.path ?? "/", data: shown, ...(tool === undefined ? {} : { tool }) };
  const run = async (own: AbortSignal) => ({ said: await hooks.run(call, own), isInterrupted: own.aborted });
  const { said, isInterrupted } = signal === undefined ? await untilInterrupted(driver, run) : await run(signal);
  driver.ports.checkpoints?.changed(driver.session, []);
  const answers = said.map((answer) => ({
    ...answer,
    reason: redact(answer.reason, secrets.values()),
    context: redact(answer.context, secrets.values()),
  }));
  const refused = answers.find(({ result }) => result === "denied" || (result === "failed" && guards.includes(event)));
  return {
    refusal: refused === undefined ? null : refused.result === "failed" ? `its hook failed: ${refused.reason}` : refused.reason,
    isInterrupted,
    input: answers.findLast(({ input }) => input !== undefined)?.input,
    answers,
    ran: answers.map(({ hook, result, reason, durationMs }) => ({
      type: "hook.ran",
      payload: { hook, event, callId: callId ?? null, result, reason, durationMs },
    })),
  };
}

/** Runs what holds up the driver itself. Its signal aborts when an interrupt waits in the inbox, or the driver is let go of. */
async function untilInterrupted<T>(driver: Driver, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { ports, session, options } = driver;
  const [stop, over] = [new AbortController(), new AbortController()];
  const letGo = (): void => stop.abort();
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted && !stop.signal.aborted) {
      await ports.wakeups.listen(session, over.signal);
      if (over.signal.aborted) return;
      if ((await ports.log.inbox(session)).some((row) => parseOp(row).type === "interrupt")) letGo();
    }
  };
  if (options.signal?.aborted === true) letGo();
  options.signal?.addEventListener("abort", letGo);
  // An inbox that can't be read is told by the driver, when it looks next.
  void watch().catch(() => undefined);
  try {
    return await run(stop.signal);
  } finally {
    over.abort();
    options.signal?.removeEventListener("abort", letGo);
  }
}

/** The words of hooks to the model, as notices. They come before a sampling, never between the results of calls. */
export function noticesOf(driver: Driver, { answers }: Asked): Extract<SessionEvent, { type: "notice.added" }>[] {
  return answers.flatMap(({ context, trust }) =>
    context === ""
      ? []
      : [
          {
            type: "notice.added" as const,
            payload: { notice: { kind: "notice" as const, id: newId(driver)("itm"), trust, text: context } },
          },
        ],
  );
}

/** The words of hooks to the model, where they stand in a call's result. */
export function contextOf({ answers }: Asked): string {
  return answers
    .map(({ context }) => context)
    .filter((context) => context !== "")
    .join("\n");
}
