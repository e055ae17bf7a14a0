import type { CompactedEntry, Judging } from "@holdfast/protocol";
import { noUsage } from "@holdfast/protocol/usage";
import { charsOf } from "../kernel/compacted.ts";
import { spentTokens } from "../kernel/limits.ts";
import { bytesOf } from "../kernel/worst-input.ts";
import type { CompactionInput, JudgementRequest, Model, SamplingRequest } from "../ports/index.ts";
import type { Driver } from "./driver.ts";
import { messageOf, newId, settingsOf } from "./driver.ts";

/** What a model said of a window that ends; `text` null: nothing, and `flags` says why where one was asked. */
interface Judged {
  readonly text: string | null;
  readonly flags: readonly string[];
  readonly judging: Judging | null;
}

/** Longest request and answer, characters and tokens, and how long it may take. It is only an addition. */
const longestRequest = 60_000;
const longestOutput = 4_000;
const longestAnswer = 40_000;
const longestMs = 120_000;
/** The part of the model's window that the request may take; a character is a token at worst. */
const windowPart = 0.5;

const none: Judged = { text: null, flags: [], judging: null };

/**
 * Asks a model, once, for what only it can say of the window that ends. Whatever comes of it, the window ends without it as
 * well. Nobody is asked where the director has no words for it, the session wants none, or too little is left of its limits.
 */
export async function askJudgement(
  driver: Driver,
  input: CompactionInput,
  entries: readonly CompactedEntry[],
  signal: AbortSignal,
): Promise<Judged> {
  const { compactModel, model: own } = settingsOf(driver);
  const { director } = driver.ports;
  if (director.askJudgement === undefined || compactModel === null || input.strategy === "fresh") return none;
  try {
    const model = await driver.ports.model(compactModel ?? own);
    if (compactModel === undefined && model.isPlayed === true) return none;
    const requestRoom = Math.min(longestRequest, Math.floor((model.contextWindow ?? Infinity) * windowPart));
    const asked = await director.askJudgement({ ...input, entries, requestRoom });
    if (!isAffordable(driver, model, asked)) return none;
    return await sampleOnce(driver, model, requestOf(driver, asked), signal);
  } catch (error) {
    return failed(messageOf(error));
  }
}

function requestOf(driver: Driver, { instructions, text, schema }: JudgementRequest): SamplingRequest {
  return {
    instructions,
    tools: [],
    items: [{ kind: "user_message", id: newId(driver)("itm"), trust: "user", parts: [{ type: "text", text }] }],
    cacheKey: `${driver.session}.judgement`,
    effort: null,
    maxOutputTokens: longestOutput,
    output: { schema, isRepair: false },
    image: async () => null,
  };
}

/** Its worst case, a token a byte, passes neither of the session's caps. */
function isAffordable(driver: Driver, model: Model, { instructions, text, schema }: JudgementRequest): boolean {
  const { head } = driver;
  const { limits } = settingsOf(driver);
  const usage = {
    ...noUsage,
    inputTokens: bytesOf(instructions) + bytesOf(text) + bytesOf(JSON.stringify(schema)),
    outputTokens: longestOutput,
  };
  if (spentTokens(head) + usage.inputTokens + usage.outputTokens > limits.tokensPerSession) return false;
  if (limits.costPerSession === null) return true;
  return model.cost == null ? limits.allowsUnknownCost === true : (head.cost ?? 0) + model.cost(usage) <= limits.costPerSession;
}

async function sampleOnce(driver: Driver, model: Model, request: SamplingRequest, signal: AbortSignal): Promise<Judged> {
  const late = new AbortController();
  const over = new AbortController();
  void driver.ports.clock.sleep(longestMs, over.signal).then(() => late.abort());
  const texts = new Map<number, string>();
  let hasCalls = false;
  let hasStarted = false;
  /** What may have been paid for although nothing came of it. */
  const lost = (why: string): Judged => {
    const usage = { ...noUsage, inputTokens: Math.ceil(charsOf(request.items) / 4), estimated: true };
    return { ...failed(why), judging: hasStarted ? { model: model.id, usage, cost: model.cost?.(usage) ?? null } : null };
  };
  try {
    for await (const part of model.sample(request, AbortSignal.any([signal, late.signal]))) {
      if (part.type === "item" && part.item.kind === "assistant_message") texts.set(part.index, part.item.text);
      hasCalls ||= part.type === "item" && part.item.kind === "tool_call";
      hasStarted ||= part.type === "started";
      if (part.type === "failed") return lost(part.error.message);
      if (part.type !== "finished") continue;
      const judging = { model: model.id, usage: part.usage, cost: part.cost ?? model.cost?.(part.usage) ?? null };
      const text = [...texts.values()].join("").trim();
      if (text === "" || hasCalls || text.length > longestAnswer)
        return { text: null, flags: [hasCalls ? "it proposed calls" : text === "" ? "it was empty" : "it was far too long"], judging };
      return { text, flags: [], judging };
    }
    return signal.aborted ? none : lost(late.signal.aborted ? `no answer in ${longestMs / 1_000} s` : "its stream ended without an end");
  } finally {
    over.abort();
  }
}

function failed(why: string): Judged {
  return { text: null, flags: [`no judgement could be had: ${why}`], judging: null };
}
