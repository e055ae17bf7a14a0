import type { EventPayload, ModelError, Notice, SentBody, SessionEvent, ToolCall, Usage } from "@holdfast/protocol";
import { isHoldfastError } from "@holdfast/protocol/error";
import type { Effect } from "../kernel/decide.ts";
import { exhausted } from "../kernel/advance.ts";
import { requestTokens } from "../kernel/compacted.ts";
import { reachedBudget, type CostOf } from "../kernel/limits.ts";
import { retryDelay } from "../kernel/retry.ts";
import type { ProposedItem, SamplingRequest, StreamPart } from "../ports/index.ts";
import { redactDeep } from "../redact.ts";
import { createStreamRedactor, type StreamRedactor } from "../redact-stream.ts";
import type { Driver } from "./driver.ts";
import { emitDelta, newId, settingsOf } from "./driver.ts";
import { gate } from "./gate.ts";
import { afterOverflow } from "./compact.ts";
import { buildRequest, recordOf } from "./request.ts";
import { askAfter, askBefore } from "./sample-hooks.ts";
import { budgetOf } from "./worst-input.ts";

type SampleEffect = Extract<Effect, { type: "sample" }>;

/** Longest piece of a cut answer that is kept in the log. */
const retractedChars = 4_000;

/** One request to the model, with what hooks say before it and to its answer. */
export async function sample(driver: Driver, effect: SampleEffect, signal: AbortSignal): Promise<SessionEvent[]> {
  const before = await askBefore(driver, signal);
  if (before.stop !== null) {
    const abandoned: SessionEvent = {
      type: "sampling.abandoned",
      payload: { samplingId: effect.samplingId, retracted: "", usage: null, cost: null },
    };
    return [...before.events, abandoned, before.stop];
  }
  return [...before.events, ...(await request(driver, effect, before.notices, signal))];
}

/** Ends as a settlement with its calls decided, as a failure with the time of its retry, or as abandoned. */
async function request(driver: Driver, effect: SampleEffect, notices: readonly Notice[], signal: AbortSignal): Promise<SessionEvent[]> {
  const settings = settingsOf(driver);
  const items = new Map<number, ProposedItem>();
  const streamed = new Map<number, string>();
  /** What of it was shown. What is held back, as a secret may begin there, comes with the item. */
  const shown = new Map<number, { readonly redactor: StreamRedactor; offset: number }>();
  const itemId = (index: number): string => `${effect.samplingId}.${effect.attempt}.${index}`;
  const retract = (): string => {
    for (const index of new Set([...streamed.keys(), ...items.keys()]))
      emitDelta(driver, { type: "item.retracted", itemId: itemId(index) });
    return [...streamed.values()].join("").slice(0, retractedChars);
  };
  let costOf: CostOf | null = null;
  /** What was said, or may have been, before nobody wanted it any more. */
  const lost = (): Loss => {
    const usage = estimate(driver, streamed);
    return { retracted: retract(), usage, cost: costOf?.(usage) ?? null };
  };
  const free = (): Loss => ({ retracted: retract(), usage: null, cost: null });
  const abandoned = (loss: Loss): SessionEvent => ({ type: "sampling.abandoned", payload: { samplingId: effect.samplingId, ...loss } });
  let last: StreamPart | null = null;
  let asked: SamplingRequest | null = null;
  let windowDigest: string | null = null;
  let sent: SentBody | null = null;
  try {
    const model = await driver.ports.model(settings.model);
    costOf = model.cost ?? null;
    // What a lost attempt has cost, or what hooks have said, may leave too little.
    const reached = effect.attempt === 1 && notices.length === 0 ? null : reachedBudget(budgetOf(driver, costOf, notices));
    if (reached !== null) return [abandoned(free()), ...exhausted(reached)];
    asked = buildRequest(driver, model, notices);
    // Of words that have no salt yet nothing is recorded.
    windowDigest = notices.length === 0 ? driver.window.digest() : null;
    for await (const part of model.sample(asked, signal)) {
      last = part;
      switch (part.type) {
        case "started":
          sent = part.sent ?? null;
          break;
        case "text.delta":
        case "reasoning.delta":
        case "call.delta": {
          streamed.set(part.index, (streamed.get(part.index) ?? "") + part.text);
          const live = shown.get(part.index) ?? { redactor: createStreamRedactor(() => driver.ports.secrets.values()), offset: 0 };
          shown.set(part.index, live);
          const text = live.redactor.push(part.text);
          if (text !== "") emitDelta(driver, { type: part.type, itemId: itemId(part.index), offset: live.offset, text });
          live.offset += text.length;
          break;
        }
        case "item":
          items.set(part.index, part.item);
          break;
        case "finished":
        case "failed":
          break;
      }
    }
  } catch (error) {
    if (signal.aborted) return [abandoned(lost())];
    return failed(driver, effect, asModelError(error), free());
  }
  if (last?.type === "finished") {
    const payload = settle(driver, itemId, items, { ...last, cost: last.cost ?? costOf?.(last.usage) ?? null });
    const after = await askAfter(driver, payload, signal);
    const record = asked === null ? {} : recordOf(driver, asked, windowDigest, sent);
    const derived = driver.window.untrusted.length === 0 ? {} : { trust: "untrusted" as const };
    return [
      { type: "sampling.settled", payload: { samplingId: effect.samplingId, ...payload, ...record, ...derived } },
      ...after.events,
      // Calls that are never decided are settled as the turn ends.
      ...(after.endsTurn ? [] : await gate(driver, callsOf(payload.items), signal)),
    ];
  }
  if (signal.aborted) return [abandoned(lost())];
  // A line that broke while the model answered: what was asked and said is charged all the same.
  const isCharged = (error: ModelError): boolean => error.class === "cut" || (error.class === "network" && streamed.size + items.size > 0);
  if (last?.type === "failed") return failed(driver, effect, last.error, isCharged(last.error) ? lost() : free());
  const cut: ModelError = {
    class: "cut",
    message: "the model's stream ended without an end",
    status: null,
    code: null,
    retryAfterMs: null,
  };
  return failed(driver, effect, cut, lost());
}

type Loss = Omit<EventPayload<"sampling.abandoned">, "samplingId">;

function settle(
  driver: Driver,
  itemId: (index: number) => string,
  items: ReadonlyMap<number, ProposedItem>,
  { finish, usage, cost }: Extract<StreamPart, { type: "finished" }>,
): Omit<EventPayload<"sampling.settled">, "samplingId"> {
  // Before anything reads it: a call that would hand a secret on gets a mark instead, which no write and no command takes.
  const clean = [...items].map(([index, item]) => [index, redactDeep(item, driver.ports.secrets.values())] as const);
  return {
    items: clean.flatMap(([index, item]): EventPayload<"sampling.settled">["items"] => {
      const id = itemId(index);
      if (item.kind === "tool_call") return [{ ...item, id, callId: newId(driver)("call") }];
      return item.text === "" && item.opaque === undefined ? [] : [{ ...item, id }];
    }),
    usage,
    cost,
    finish,
  };
}

function callsOf(items: EventPayload<"sampling.settled">["items"]): ToolCall[] {
  return items.filter((item) => item.kind === "tool_call");
}

function failed(driver: Driver, effect: SampleEffect, error: ModelError, loss: Loss): SessionEvent[] {
  const now = driver.ports.clock.now();
  const { turn } = driver.head;
  const since = turn?.sampling?.firstFailureAt ?? now;
  const leftMs = turn === null ? 0 : settingsOf(driver).limits.activeMsPerTurn - turn.activeMs - Math.max(0, now - turn.lastAt);
  const shorter = error.class === "context_overflow" ? afterOverflow(driver, effect.samplingId) : null;
  if (shorter !== null) return shorter;
  const delay = retryDelay(error, effect.attempt, now - since, driver.ports.ids.random(), leftMs, driver.options.retryForMs);
  const { samplingId, attempt } = effect;
  const failure: SessionEvent = {
    type: "sampling.failed",
    payload: { samplingId, attempt, error, ...loss, retryAt: delay === null ? null : now + delay },
  };
  if (delay !== null) return [failure];
  const code = error.class === "script" ? "model_script" : `model_${error.class}`;
  return [
    failure,
    { type: "turn.stopping", payload: { outcome: "failed", reason: error.message, error: { code, message: error.message } } },
  ];
}

/** The provider told no numbers: the request as the last one was counted, else about four characters a token. */
export function estimate(driver: Driver, streamed: ReadonlyMap<number, string> = new Map()): Usage {
  const outputChars = [...streamed.values()].reduce((sum, text) => sum + text.length, 0);
  return {
    inputTokens: requestTokens(driver.head),
    cachedInputTokens: 0,
    outputTokens: Math.ceil(outputChars / 4),
    reasoningTokens: 0,
    estimated: true,
  };
}

/** The price of the session's model; null where it isn't known, or there is no such model. */
export async function priceOf(driver: Driver): Promise<CostOf | null> {
  const model = await driver.ports.model(settingsOf(driver).model).catch(() => null);
  return model?.cost ?? null;
}

/** A model port must not throw; what comes before it (no such model, a broken configuration) can. */
function asModelError(error: unknown): ModelError {
  const message = error instanceof Error ? error.message : String(error);
  const isKnown = isHoldfastError(error, "no_model") || isHoldfastError(error, "config_invalid") || isHoldfastError(error, "model_script");
  return {
    class: isKnown ? "invalid_request" : "script",
    message,
    status: null,
    code: isHoldfastError(error) ? error.code : null,
    retryAfterMs: null,
  };
}
