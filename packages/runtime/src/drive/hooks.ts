import type { HookEvent, Json, SessionEvent } from "@holdfast/protocol";
import type { HookAnswer } from "../ports/index.ts";
import { redact } from "../redact.ts";
import type { Driver } from "./driver.ts";
import { newId } from "./driver.ts";

/** Where a hook that can't be run to its end counts as a refusal: it may have been there to prevent something. */
const guards: readonly HookEvent[] = ["prompt_submitted", "before_model", "before_tool", "before_done"];

/** What hooks of one moment had to say. */
export interface Asked {
  /** Why it is not to be; null where none refused. */
  readonly refusal: string | null;
  /** The call's input as they want it, where they changed it. */
  readonly input: Json | undefined;
  readonly answers: readonly HookAnswer[];
  /** What each did, for the record. */
  readonly ran: readonly SessionEvent[];
}

export const nobodyAsked: Asked = { refusal: null, input: undefined, answers: [], ran: [] };

export interface Moment {
  readonly event: HookEvent;
  readonly data: () => { readonly [key: string]: Json };
  readonly callId?: string;
  readonly tool?: string;
  readonly signal?: AbortSignal;
}

/** Asks the hooks of a moment, where there are any. They can refuse, add words and change an input; never allow. */
export async function askHooks(driver: Driver, { event, data, callId, tool, signal }: Moment): Promise<Asked> {
  const { hooks, secrets } = driver.ports;
  if (hooks === undefined || !hooks.has(event, driver.session, tool)) return nobodyAsked;
  const { cwd, roots } = driver.registers.get("session", "") ?? { cwd: null, roots: [] };
  const call = { event, session: driver.session, cwd: cwd ?? roots[0]?.path ?? "/", data: data(), ...(tool === undefined ? {} : { tool }) };
  const answers = (await hooks.run(call, signal ?? new AbortController().signal)).map((answer) => ({
    ...answer,
    reason: redact(answer.reason, secrets.values()),
    context: redact(answer.context, secrets.values()),
  }));
  const refused = answers.find(({ result }) => result === "denied" || (result === "failed" && guards.includes(event)));
  return {
    refusal: refused === undefined ? null : refused.result === "failed" ? `its hook failed: ${refused.reason}` : refused.reason,
    input: answers.findLast(({ input }) => input !== undefined)?.input,
    answers,
    ran: answers.map(({ hook, result, reason, durationMs }) => ({
      type: "hook.ran",
      payload: { hook, event, callId: callId ?? null, result, reason, durationMs },
    })),
  };
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
