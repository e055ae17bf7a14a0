import type { ProposedItem } from "@holdfast/runtime";
import { errorIn, type Failure } from "../failure.ts";
import { opaqueOf, type Identity } from "../identity.ts";
import { asList, asRecord, asText, parseJson, type Shape } from "../shape.ts";
import type { SseEvent } from "../sse.ts";
import { estimateUsage, readGeminiUsage } from "../usage.ts";
import type { Decoder, WirePart } from "../wire.ts";
import { signaturePayload } from "./encode.ts";

/** Text or thought as its pieces build it, or a call, which comes whole. */
interface Segment {
  readonly kind: "text" | "thought" | "call";
  readonly name: string;
  text: string;
  signature: string | null;
}

/** Decodes the chunks of a streamed answer (Gemini API reference, `GenerateContentResponse`). */
export function createGeminiDecoder(identity: Identity, requestSize: number): Decoder {
  const segments: Segment[] = [];
  let finish: string | null = null;
  let finishMessage: string | null = null;
  let blocked: Failure | null = null;
  let usage: Shape = {};

  function begin(kind: Segment["kind"], name = ""): Segment {
    const segment: Segment = { kind, name, text: "", signature: null };
    segments.push(segment);
    return segment;
  }

  function take(part: Shape): WirePart[] {
    const signature = asText(part["thoughtSignature"]);
    const call = asRecord(part["functionCall"]);
    if (call !== null) {
      const segment = begin("call", asText(call["name"]) ?? "");
      segment.text = JSON.stringify(asRecord(call["args"]) ?? {});
      segment.signature = signature;
      return [{ type: "call.delta", index: segments.length - 1, text: segment.text }];
    }
    const text = asText(part["text"]);
    if (text === null) return [];
    // A signature may come last and alone, with an empty text.
    if (text === "") {
      const latest = segments.at(-1);
      if (latest !== undefined && latest.kind !== "call") latest.signature = signature ?? latest.signature;
      return [];
    }
    const kind = part["thought"] === true ? "thought" : "text";
    const latest = segments.at(-1);
    const segment = latest?.kind === kind ? latest : begin(kind);
    segment.text += text;
    segment.signature = signature ?? segment.signature;
    return [{ type: kind === "text" ? "text.delta" : "reasoning.delta", index: segments.length - 1, text }];
  }

  function chunk(value: Shape): WirePart[] {
    usage = asRecord(value["usageMetadata"]) ?? usage;
    const feedback = asRecord(value["promptFeedback"]);
    const reason = asText(feedback?.["blockReason"]);
    if (reason !== null && reason !== "BLOCK_REASON_UNSPECIFIED") {
      const message = asText(feedback?.["blockReasonMessage"]) ?? "the prompt was blocked";
      blocked = { class: "refused", code: reason, message };
    }
    // One candidate was asked for.
    const candidate = asRecord(asList(value["candidates"])[0]);
    if (candidate === null) return [];
    const parts = asList(asRecord(candidate["content"])?.["parts"]).flatMap((part) => take(asRecord(part) ?? {}));
    finish = asText(candidate["finishReason"]) || finish;
    finishMessage = asText(candidate["finishMessage"]) ?? finishMessage;
    return parts;
  }

  function finished(isCut: boolean): WirePart[] {
    const items = segments.map((segment, index): WirePart => ({ type: "item", index, item: proposedItem(segment, identity) }));
    const length = segments.reduce((sum, segment) => sum + segment.name.length + segment.text.length, 0);
    const hasCalls = segments.some((segment) => segment.kind === "call");
    const counted = readGeminiUsage(usage) ?? estimateUsage(requestSize, length);
    return [...items, { type: "finished", finish: isCut ? "length" : hasCalls ? "calls" : "stop", usage: counted, cost: null }];
  }

  function ended(): WirePart[] {
    if (blocked !== null) return failed(blocked);
    if (finish === null) return failed({ class: "cut", code: "no_end", message: "the stream ended before the answer was complete" });
    if (finish === "STOP") return finished(false);
    if (finish === "MAX_TOKENS") return finished(true);
    const refusal = refusals.has(finish);
    const message = finishMessage ?? (refusal ? "a content filter ended the answer" : "the answer could not be completed");
    return failed({ class: refusal ? "refused" : isOurFault(finish) ? "invalid_request" : "cut", code: finish, message });
  }

  return {
    get isSettled() {
      return finish !== null;
    },
    event: (event) => {
      const value = parseJson(event.data);
      // Behind a complete answer there is only its usage to lose.
      if (value === undefined && finish === null && isOurs(event)) {
        const failure: Failure = { class: "cut", code: "invalid_json", message: "the stream has an event that is no JSON" };
        return { parts: failed(failure), isProgress: false };
      }
      const shape = asRecord(value) ?? {};
      if (event.name === "error" || shape["error"]) {
        return { parts: failed(errorIn(value) ?? { message: "the stream reports an error without saying which" }), isProgress: false };
      }
      const isChunk = Array.isArray(shape["candidates"]) || asRecord(shape["promptFeedback"]) !== null;
      if (!isChunk && asRecord(shape["usageMetadata"]) === null) return { parts: [], isProgress: false };
      const parts = chunk(shape);
      return { parts: blocked === null ? parts : failed(blocked), isProgress: true };
    },
    document: (value) => {
      // Without the query that asks for events, the chunks come as a list.
      const chunks = (Array.isArray(value) ? value : [value]).map((one) => asRecord(one) ?? {});
      const error = chunks.find((one) => one["error"]);
      if (error !== undefined) return failed(errorIn(error) ?? { message: "the answer reports an error without saying which" });
      if (!chunks.some((one) => Array.isArray(one["candidates"]) || asRecord(one["promptFeedback"]) !== null)) {
        return failed(errorIn(value) ?? { class: "cut", code: "not_a_stream", message: "it answered with JSON that is no answer" });
      }
      return [...chunks.flatMap(chunk), ...ended()];
    },
    end: ended,
  };
}

/** Reasons by which a filter of the provider's ended the answer. Any other (a malformed call, `OTHER`) is worth another attempt. */
const refusals: ReadonlySet<string> = new Set([
  "SAFETY",
  "RECITATION",
  "LANGUAGE",
  "BLOCKLIST",
  "PROHIBITED_CONTENT",
  "SPII",
  "MODEL_ARMOR",
  "IMAGE_SAFETY",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
]);

/** The request lacks what the model gave before: the same request would end the same way. */
function isOurFault(finish: string): boolean {
  return finish === "MISSING_THOUGHT_SIGNATURE";
}

function failed(failure: Failure): WirePart[] {
  return [{ type: "failed", failure }];
}

/** Events of a gateway's own have names, and needn't be JSON. */
function isOurs({ name, data }: SseEvent): boolean {
  return data !== "" && data !== "[DONE]" && (name === null || name === "message" || name === "error");
}

function proposedItem({ kind, name, text, signature }: Segment, identity: Identity): ProposedItem {
  const back = signature === null ? {} : opaqueOf(identity, signaturePayload(signature));
  switch (kind) {
    case "text":
      return { kind: "assistant_message", text, ...back };
    case "thought":
      return { kind: "reasoning", text, ...back };
    case "call":
      return { kind: "tool_call", name, input: text, ...back };
  }
}
