import type { EventPayload, Notice, SessionEvent } from "@holdfast/protocol";
import type { Driver } from "./driver.ts";
import { newId, settingsOf } from "./driver.ts";
import { askHooks, noticesOf } from "./hooks.ts";

type Stopping = Extract<SessionEvent, { type: "turn.stopping" }>;

/** Asks before a request: what to tell the model with it, or why there is to be none. */
export async function askBefore(
  driver: Driver,
  signal: AbortSignal,
): Promise<{ readonly events: readonly SessionEvent[]; readonly notices: readonly Notice[]; readonly stop: Stopping | null }> {
  const asked = await askHooks(driver, {
    event: "before_model",
    signal,
    data: () => ({ model: settingsOf(driver).model, step: driver.head.turn?.step ?? 0 }),
  });
  if (asked.refusal !== null) return { events: asked.ran, notices: [], stop: blocked(`a hook refused the request: ${asked.refusal}`) };
  const told = lastNotices(driver);
  // A request that is made again brings its words along already.
  const added = noticesOf(driver, asked).filter(({ payload }) => !told.has(payload.notice.text));
  return { events: [...asked.ran, ...added], notices: added.map(({ payload }) => payload.notice), stop: null };
}

function lastNotices(driver: Driver): ReadonlySet<string> {
  const { items } = driver.window;
  const texts = new Set<string>();
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item?.kind !== "notice") break;
    texts.add(item.text);
  }
  return texts;
}

type Answer = Pick<EventPayload<"sampling.settled">, "items" | "finish">;

/** Asks about an answer, and, where it says that the turn is done, whether it is. */
export async function askAfter(
  driver: Driver,
  { items, finish }: Answer,
  signal: AbortSignal,
): Promise<{ readonly events: readonly SessionEvent[]; readonly endsTurn: boolean }> {
  const text = items.flatMap((item) => (item.kind === "assistant_message" ? [item.text] : [])).join("\n");
  const calls = items.flatMap((item) => (item.kind === "tool_call" ? [item.name] : []));
  const asked = await askHooks(driver, { event: "after_model", signal, data: () => ({ message: text, tool_calls: calls }) });
  if (asked.refusal !== null) {
    return { events: [...asked.ran, blocked(`a hook refused the model's answer: ${asked.refusal}`)], endsTurn: true };
  }
  if (calls.length > 0 || finish === "length" || text === "") return { events: asked.ran, endsTurn: false };
  const done = await askHooks(driver, { event: "before_done", signal, data: () => ({ message: text }) });
  const events = [...asked.ran, ...done.ran];
  if (done.refusal === null) return { events, endsTurn: false };
  if ((driver.head.turn?.refusals ?? 0) >= settingsOf(driver).limits.checkRounds) {
    return { events: [...events, blocked(`a hook goes on refusing that the turn is done: ${done.refusal}`)], endsTurn: true };
  }
  const notice: Notice = { kind: "notice", id: newId(driver)("itm"), trust: trustOf(done.answers), text: `Not done yet: ${done.refusal}` };
  return { events: [...events, { type: "notice.added", payload: { notice } }], endsTurn: false };
}

function trustOf(answers: readonly { readonly trust: "user" | "project" }[]): "user" | "project" {
  return answers.every(({ trust }) => trust === "user") ? "user" : "project";
}

function blocked(reason: string): Stopping {
  return { type: "turn.stopping", payload: { outcome: "blocked", reason, error: null } };
}
