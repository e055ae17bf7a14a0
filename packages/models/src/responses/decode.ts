import type { Json } from "@holdfast/protocol";
import type { ProposedItem } from "@holdfast/runtime";
import { errorIn, type Failure } from "../failure.ts";
import { opaqueOf, type Identity } from "../identity.ts";
import { asList, asRecord, asText, parseJson, type Shape } from "../shape.ts";
import type { SseEvent } from "../sse.ts";
import { estimateUsage, readCost, readUsage } from "../usage.ts";
import { isWireCallId } from "../wire-forms.ts";
import type { Decoder, WirePart } from "../wire.ts";
import { keptPayload, reasoningPayload } from "./encode.ts";
import { searchInput, searchName } from "./tool-search.ts";

type OutputKind = "message" | "reasoning" | "function_call" | "tool_search_call";

/** What has been seen of one output item. */
interface Output {
  /** Ours, given when there is something to show: items that stay empty or unknown leave no gap. */
  index: number | null;
  kind: OutputKind | null;
  name: string;
  text: string;
  isDone: boolean;
}

/** Decodes the events of a streamed response (OpenAI API reference, "Streaming events" of Responses). */
export function createResponsesDecoder(identity: Identity, requestSize: number, window?: string): Decoder {
  /** By the provider's `output_index`. */
  const outputs = new Map<number, Output>();
  /** Finished items with their place; they are passed on in its order once all are there. */
  const settled: { readonly at: number; readonly part: WirePart }[] = [];
  let indexes = 0;
  let hasCalls = false;
  let answerSize = 0;

  function outputAt(at: number): Output {
    const known = outputs.get(at);
    if (known !== undefined) return known;
    const output: Output = { index: null, kind: null, name: "", text: "", isDone: false };
    outputs.set(at, output);
    return output;
  }
  function indexOf(output: Output): number {
    output.index ??= indexes++;
    return output.index;
  }

  /** Some gateways number every item 0: an item announced at a place that is done is another one. */
  function announce(at: number, item: Shape): void {
    const kind = outputKind(item);
    if (kind === null) return;
    if (outputs.get(at)?.isDone === true) outputs.delete(at);
    const output = outputAt(at);
    output.kind = kind;
    output.name = asText(item["name"]) ?? "";
  }

  function delta(event: Shape, kind: OutputKind, type: "text.delta" | "reasoning.delta" | "call.delta"): WirePart[] {
    const text = asText(event["delta"]);
    const at = event["output_index"];
    if (text === null || text === "" || typeof at !== "number") return [];
    const output = outputAt(at);
    output.kind = kind;
    output.text += text;
    return [{ type, index: indexOf(output), text }];
  }

  /** A new part of a summary is a new paragraph; the first one follows nothing. */
  function summaryPart(event: Shape): WirePart[] {
    const at = event["output_index"];
    if (typeof at !== "number" || (outputs.get(at)?.text ?? "") === "") return [];
    return delta({ ...event, delta: "\n\n" }, "reasoning", "reasoning.delta");
  }

  function settle(at: number, item: Shape): void {
    const known = outputs.get(at);
    if (known?.isDone === true) return;
    const proposed = proposedItem(item, known, identity);
    if (proposed === null) return;
    const output = outputAt(at);
    output.isDone = true;
    if (proposed.kind === "tool_call") hasCalls = true;
    answerSize += proposed.kind === "tool_call" ? proposed.name.length + proposed.input.length : proposed.text.length;
    settled.push({ at, part: { type: "item", index: indexOf(output), item: proposed } });
  }

  /** Items that the end names and the stream didn't, then items of which only deltas came. */
  function settleRest(response: Shape): void {
    const named = asList(response["output"]).map((item) => asRecord(item) ?? {});
    const isMissing = named.filter((item) => proposedItem(item, undefined, identity) !== null).length > settled.length;
    if (isMissing) for (const [at, item] of named.entries()) settle(at, item);
    for (const [at, output] of outputs) if (output.kind !== null && !output.isDone) settle(at, { type: output.kind });
  }

  function finished(response: Shape, isCut: boolean): WirePart[] {
    settleRest(response);
    const inOrder = settled.toSorted((a, b) => a.at - b.at).map(({ part }) => part);
    // One that was cut is no answer to follow on.
    const parts = withKept(inOrder, isCut ? null : asText(response["id"]));
    const usage = readUsage(response["usage"]) ?? estimateUsage(requestSize, answerSize);
    parts.push({ type: "finished", finish: isCut ? "length" : hasCalls ? "calls" : "stop", usage, cost: readCost(response["usage"]) });
    return parts;
  }

  /** Where the provider keeps the answer, its last item says by which id, and what it was an answer to. */
  function withKept(parts: readonly WirePart[], id: string | null): WirePart[] {
    const last = parts.at(-1);
    if (id === null || window === undefined || last?.type !== "item") return [...parts];
    const { opaque } = last.item;
    const payload = { ...(opaque === undefined ? {} : asRecord(opaque.payload)), ...keptPayload(id, window) } as Record<string, Json>;
    return [...parts.slice(0, -1), { ...last, item: { ...last.item, ...opaqueOf(identity, payload) } }];
  }

  /** A response at its end. An event that says `completed` still yields to a worse status in the response itself. */
  function ended(response: Shape, as: string): WirePart[] {
    const own = asText(response["status"]) ?? as;
    const status = as === "completed" && worse.has(own) ? own : as;
    switch (status) {
      case "completed":
        return finished(response, false);
      case "incomplete": {
        const reason = asText(asRecord(response["incomplete_details"])?.["reason"]);
        if (reason === "max_output_tokens") return finished(response, true);
        if (reason === "content_filter") return failed({ class: "refused", code: reason, message: "a content filter ended the answer" });
        return failed({ class: "cut", code: reason ?? "incomplete", message: "the answer is incomplete" });
      }
      case "failed":
        return failed(errorIn(response) ?? { code: "failed", message: "the response failed without a reason" });
      default:
        return failed({ class: "cut", code: status, message: "the response ended without being completed" });
    }
  }

  function parts(type: string | null, event: Shape): WirePart[] | null {
    const at = event["output_index"];
    const item = asRecord(event["item"]) ?? {};
    const response = asRecord(event["response"]) ?? {};
    switch (type) {
      case "response.output_item.added":
        if (typeof at === "number") announce(at, item);
        return [];
      case "response.output_item.done":
        if (typeof at === "number") settle(at, item);
        return [];
      case "response.output_text.delta":
      case "response.refusal.delta":
        return delta(event, "message", "text.delta");
      case "response.reasoning_summary_part.added":
        return summaryPart(event);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return delta(event, "reasoning", "reasoning.delta");
      case "response.function_call_arguments.delta":
        return delta(event, "function_call", "call.delta");
      case "response.completed":
      case "response.done":
        return ended(response, "completed");
      case "response.incomplete":
        return ended(response, "incomplete");
      case "response.failed":
        return ended(response, "failed");
      case "response.cancelled":
        return ended(response, "cancelled");
      case "error":
        return failed(errorIn(event) ?? { code: null, message: "the stream reports an error without saying which" });
      default:
        // Other events of the protocol (parts and texts that are done, tools of the provider's own) show progress.
        return type !== null && type.startsWith("response.") ? [] : null;
    }
  }

  return {
    isSettled: false,
    event: (event) => {
      const value = parseJson(event.data);
      if (value === undefined && isOurs(event)) {
        return {
          parts: failed({ class: "cut", code: "invalid_json", message: "the stream has an event that is no JSON" }),
          isProgress: false,
        };
      }
      const shape = asRecord(value) ?? {};
      const type = event.name === "error" ? "error" : (asText(shape["type"]) ?? event.name);
      const found = parts(type, shape) ?? (shape["error"] ? failed(errorIn(shape)) : null);
      return { parts: found ?? [], isProgress: found !== null };
    },
    document: (value) => {
      const response = asRecord(value);
      const error = errorIn(value);
      if (response?.["object"] === "response") return ended(response, asText(response["status"]) ?? "unknown");
      return failed(error ?? { class: "cut", code: "not_a_stream", message: "it answered with JSON that is no response" });
    },
    end: () => failed({ class: "cut", code: "no_end", message: "the stream ended before the answer was complete" }),
  };
}

function failed(failure: Failure | null): WirePart[] {
  return failure === null ? [] : [{ type: "failed", failure }];
}

/** Events of a gateway's own have other names and needn't be JSON. */
function isOurs(event: SseEvent): boolean {
  if (event.data === "[DONE]" || event.data === "") return false;
  return event.name === null || event.name === "message" || event.name === "error" || event.name.startsWith("response.");
}

const worse: ReadonlySet<string> = new Set(["incomplete", "failed", "cancelled"]);

function outputKind(item: Shape): OutputKind | null {
  const type = item["type"];
  if (type === "tool_search_call") return item["execution"] === "server" ? null : type;
  return type === "message" || type === "reasoning" || type === "function_call" ? type : null;
}

/** The finished item. What it leaves out (some servers send bare items at the end) is taken from its deltas. */
function proposedItem(item: Shape, seen: Output | undefined, identity: Identity): ProposedItem | null {
  switch (outputKind(item)) {
    case "message": {
      const said = asList(item["content"])
        .map((part) => asText(asRecord(part)?.["text"]) ?? asText(asRecord(part)?.["refusal"]) ?? "")
        .join("");
      const text = said === "" ? (seen?.text ?? "") : said;
      const phase = asText(item["phase"]);
      return text === "" ? null : { kind: "assistant_message", text, ...(phase === null ? {} : opaqueOf(identity, { phase })) };
    }
    case "reasoning": {
      const payload = reasoningPayload(item);
      const said = [...asList(item["summary"]), ...asList(item["content"])]
        .map((part) => asText(asRecord(part)?.["text"]) ?? "")
        .join("\n\n");
      const text = said === "" ? (seen?.text ?? "") : said;
      return text === "" && payload === null ? null : { kind: "reasoning", text, ...(payload === null ? {} : opaqueOf(identity, payload)) };
    }
    case "function_call": {
      const callId = asText(item["call_id"]);
      const own = callId !== null && isWireCallId(callId) ? opaqueOf(identity, { call_id: callId }) : {};
      return {
        kind: "tool_call",
        ...own,
        name: asText(item["name"]) ?? seen?.name ?? "",
        input: asText(item["arguments"]) ?? seen?.text ?? "",
      };
    }
    case "tool_search_call": {
      const callId = asText(item["call_id"]);
      const own = callId !== null && isWireCallId(callId) ? opaqueOf(identity, { call_id: callId }) : {};
      return { kind: "tool_call", ...own, name: searchName, input: searchInput(item) };
    }
    case null:
      return null;
  }
}
