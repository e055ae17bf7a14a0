import type { Item, ModelError, ToolResult } from "@holdfast/protocol";
import type { Clock, Model, ProposedItem, SamplingRequest, StreamPart } from "@holdfast/runtime";
import { estimateUsage } from "../usage.ts";
import { countAnswers, stepAt } from "./position.ts";
import type { Script, ScriptAnswer, ScriptExpectation, ScriptFailure, ScriptFunction, ScriptStep } from "./script.ts";
import { createSnapshots, type RequestSnapshot } from "./snapshot.ts";
import { createTally } from "./tally.ts";

export interface ScriptModelOptions {
  /** Default `script/NAME` of a script, `script/function` of a function. */
  readonly id?: string;
  readonly contextWindow?: number | null;
  /** Whether `requests` is filled. Default true; a long-running program has no use for it. */
  readonly isRecording?: boolean;
  /** Waits for `delayMs`. Default: real time. */
  readonly clock?: Pick<Clock, "sleep">;
}

export interface ScriptModel extends Model {
  /** Every request so far, oldest first. */
  readonly requests: readonly RequestSnapshot[];
}

/**
 * A model whose answers are written down: a script (its steps in order), a bare list of steps, or a function. Where a
 * script stands is read from the request, not remembered, so a session can be resumed in another process; only failing
 * and empty steps, which leave nothing in a session, are counted in memory, and a new process takes them again.
 */
export function createScriptModel(source: Script | readonly ScriptStep[] | ScriptFunction, options: ScriptModelOptions = {}): ScriptModel {
  const script: Script | null = typeof source === "function" ? null : isList(source) ? { name: "script", steps: source } : source;
  const id = options.id ?? `script/${script?.name ?? "function"}`;
  const clock = options.clock ?? { sleep };
  const snapshot = createSnapshots();
  const requests: RequestSnapshot[] = [];
  const traceless = createTally();

  async function answerTo(request: SamplingRequest): Promise<ScriptAnswer> {
    const index = (request.answersBefore ?? 0) + countAnswers(request.items);
    if (typeof source === "function") return source({ request, index });
    if (script === null) return {};
    const position = stepAt(script, index, traceless.count(request.items, index));
    if (position === null)
      return failing(`${script.name} has ${script.steps.length} steps, and this request is past the last of them`, "past_end");
    const { step, at } = position;
    const where = `${script.name}, step ${at + 1}${script.lines?.[at] === undefined ? "" : ` (line ${script.lines[at]})`}`;
    const complaint = unmet(step.expect, request.items);
    if (complaint !== null) return failing(`${where} expects ${complaint}`, "expectation");
    if (step.fail !== undefined || isEmpty(step)) traceless.add(request.items, index);
    return step;
  }

  async function* sample(request: SamplingRequest, signal: AbortSignal): AsyncGenerator<StreamPart> {
    if (signal.aborted) return;
    if (options.isRecording !== false) requests.push(snapshot(request));
    let answer: ScriptAnswer;
    try {
      answer = await answerTo(request);
    } catch (error) {
      answer = failing(`the script's function threw: ${error instanceof Error ? error.message : String(error)}`, "function_threw");
    }
    if (answer.delayMs !== undefined && answer.delayMs > 0) await clock.sleep(answer.delayMs, signal);
    for (const part of play(answer, request)) {
      if (signal.aborted) return;
      yield part;
    }
  }
  return { id, contextWindow: options.contextWindow ?? null, isPlayed: true, requests, sample };
}

function* play(answer: ScriptAnswer, request: SamplingRequest): Generator<StreamPart> {
  const isStarted = answer.fail === undefined || !isEmpty(answer);
  if (isStarted) yield { type: "started" };
  let index = 0;
  let size = 0;
  for (const { item, type, text } of pieces(answer)) {
    for (const part of cut(text, answer.deltas ?? 4)) yield { type, index, text: part };
    // What a failing answer streamed never became an item: that is what makes it a cut.
    if (answer.fail === undefined) yield { type: "item", index, item };
    index += 1;
    size += text.length;
  }
  if (answer.fail !== undefined) {
    yield { type: "failed", error: failure(answer.fail) };
    return;
  }
  const finish = answer.isCutShort === true ? "length" : (answer.calls?.length ?? 0) > 0 ? "calls" : "stop";
  yield { type: "finished", finish, usage: answer.usage ?? estimateUsage(requestSize(request), size), cost: null };
}

interface PlayedPiece {
  readonly item: ProposedItem;
  readonly type: "text.delta" | "reasoning.delta" | "call.delta";
  readonly text: string;
}

function* pieces(answer: ScriptAnswer): Generator<PlayedPiece> {
  const { reasoning, text } = answer;
  if (reasoning !== undefined && reasoning !== "")
    yield { item: { kind: "reasoning", text: reasoning }, type: "reasoning.delta", text: reasoning };
  if (text !== undefined && text !== "") yield { item: { kind: "assistant_message", text }, type: "text.delta", text };
  for (const call of answer.calls ?? []) {
    const input = typeof call.input === "string" ? call.input : JSON.stringify(call.input);
    yield { item: { kind: "tool_call", name: call.name, input }, type: "call.delta", text: input };
  }
}

/** Pieces of about equal length, never cut inside a character. */
function cut(text: string, count: number): string[] {
  const characters = [...text];
  const pieces = Math.min(Math.max(1, count), characters.length);
  const start = (i: number): number => Math.floor((i * characters.length) / pieces);
  return Array.from({ length: pieces }, (_, i) => characters.slice(start(i), start(i + 1)).join(""));
}

function isEmpty(answer: ScriptAnswer): boolean {
  return pieces(answer).next().done === true;
}

/** What doesn't hold, in words; null where all does. */
function unmet(expect: ScriptExpectation | undefined, items: readonly Item[]): string | null {
  if (expect === undefined) return null;
  const result = items.findLast((item): item is ToolResult => item.kind === "tool_result");
  const { lastResultContains: wanted, lastStatus } = expect;
  if (result === undefined) return "a tool result, but there is none yet";
  if (lastStatus !== undefined && result.status !== lastStatus) {
    return `the last tool result to be ${lastStatus}, but it is ${result.status}: ${shorten(result.text)}`;
  }
  if (wanted !== undefined && !result.text.includes(wanted)) {
    return `the last tool result to contain ${JSON.stringify(wanted)}, but it is (${result.status}): ${shorten(result.text)}`;
  }
  return null;
}

function shorten(text: string): string {
  return JSON.stringify(text.length <= 200 ? text : `${text.slice(0, 100)} … ${text.slice(-100)}`);
}

function failing(message: string, code: string): ScriptAnswer {
  return { fail: { class: "script", message, code } };
}

function failure(fail: ScriptFailure): ModelError {
  return {
    class: fail.class,
    message: fail.message ?? `the script fails here, as ${fail.class}`,
    status: fail.status ?? null,
    code: fail.code ?? null,
    retryAfterMs: fail.retryAfterMs ?? null,
  };
}

/** Characters of the request, for the estimate of its tokens. */
function requestSize(request: SamplingRequest): number {
  let size = request.instructions.length;
  for (const item of request.items) size += "text" in item ? item.text.length : item.kind === "tool_call" ? item.input.length : 0;
  return size;
}

function isList(source: Script | readonly ScriptStep[]): source is readonly ScriptStep[] {
  return Array.isArray(source);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}
