import type { EventPayload, Notice, SentBody } from "@holdfast/protocol";
import { outputAllowance, outputRoom } from "../kernel/limits.ts";
import type { State } from "../kernel/state.ts";
import type { Director, Model, SamplingRequest, ToolSpec } from "../ports/index.ts";
import type { Driver } from "./driver.ts";
import { outputOf } from "./output.ts";
import { budgetOf } from "./worst-input.ts";

/** Taken for the longest answer where a model's isn't known: a cap is sent only where a limit of the session, or the end of the window, is nearer. */
const usualOutputTokens = 64_000;

/** What a request is made of besides the session's state. */
export interface RequestParts extends Pick<SamplingRequest, "items" | "maxOutputTokens" | "image"> {
  readonly session: string;
  readonly tools: readonly ToolSpec[];
}

/** The same state and parts give the same request. */
export function requestOf(
  state: State,
  director: Director,
  { session, tools, items, maxOutputTokens, image }: RequestParts,
): SamplingRequest {
  const directed = director.direct({ world: state.registers.entries("world").map(([, section]) => section), tools, items });
  return {
    instructions: directed.instructions,
    tools: directed.tools,
    items: directed.items,
    cacheKey: session,
    effort: state.registers.get("settings", "")?.effort ?? null,
    maxOutputTokens,
    ...(state.head.answersBefore === undefined ? {} : { answersBefore: state.head.answersBefore }),
    ...outputOf(state),
    image,
  };
}

/** `notices`: what hooks say to it, not committed yet. */
export function buildRequest(driver: Driver, model: Model, notices: readonly Notice[]): SamplingRequest {
  const { ports, session, head, window } = driver;
  const left = outputAllowance(budgetOf(driver, model.cost ?? null, notices));
  const allowance = Math.min(left, model.assumesWindow === true ? Infinity : outputRoom(head, model.contextWindow));
  return requestOf(driver, ports.director, {
    session,
    tools: ports.tools.specs,
    items: notices.length === 0 ? window.items : [...window.items, ...notices],
    maxOutputTokens: allowance < (model.maxOutput ?? usualOutputTokens) ? Math.max(1, allowance) : null,
    image: (blob) => ports.blobs.get(blob),
  });
}

/** What is recorded of a request beside its answer. `windowDigest` null: it held words that have no salt yet. */
export function recordOf(
  driver: Driver,
  request: SamplingRequest,
  windowDigest: string | null,
  sent: SentBody | null,
): Pick<EventPayload<"sampling.settled">, "request" | "tools"> {
  if (windowDigest === null) return {};
  const record = driver.digests.record(request, windowDigest, sent);
  const isKnown = driver.registers.get("tools", "")?.digest === record.tools;
  return { request: record, ...(isKnown ? {} : { tools: [...request.tools] }) };
}
