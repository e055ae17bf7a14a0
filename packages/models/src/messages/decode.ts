import type { ProposedItem } from "@holdfast/runtime";
import { errorIn, type Failure } from "../failure.ts";
import { opaqueOf, type Identity } from "../identity.ts";
import { asList, asRecord, asText, parseJson, type Shape } from "../shape.ts";
import type { SseEvent } from "../sse.ts";
import { estimateUsage, readMessagesUsage } from "../usage.ts";
import type { Decoder, WirePart } from "../wire.ts";
import { thinkingPayload } from "./encode.ts";

/** A content block as its deltas build it. Blocks of other types (the provider's own tools) are not kept. */
interface Block {
  readonly kind: "text" | "thinking" | "tool_use";
  /** Its place by the server's count. */
  readonly order: number;
  readonly name: string;
  text: string;
  signature: string;
  /** Encrypted thinking that came without a text; null for any other block. */
  readonly data: string | null;
  /** Ours, given when there is something to show. */
  index: number | null;
}

/** Decodes the events of a streamed message (Anthropic's documentation, "Streaming messages"). */
export function createMessagesDecoder(identity: Identity, requestSize: number): Decoder {
  const blocks: Block[] = [];
  const byOrder = new Map<number, Block>();
  let indexes = 0;
  let stop: { readonly reason: string; readonly details: Shape | null } | null = null;
  let usage: Shape = {};

  function indexOf(block: Block): number {
    block.index ??= indexes++;
    return block.index;
  }

  /** A block announced at a place that has one already is another: some gateways number every block 0. */
  function announce(order: number, content: Shape): WirePart[] {
    byOrder.delete(order);
    const block = blockOf(order, content);
    if (block === null) return [];
    blocks.push(block);
    byOrder.set(order, block);
    return block.text === "" ? [] : [{ type: deltaOf(block), index: indexOf(block), text: block.text }];
  }

  function grow(order: number, delta: Shape): WirePart[] {
    const block = byOrder.get(order);
    if (block === undefined) return [];
    block.signature += asText(delta["signature"]) ?? "";
    const text = asText(delta["text"]) ?? asText(delta["thinking"]) ?? asText(delta["partial_json"]) ?? "";
    if (text === "") return [];
    block.text += text;
    return [{ type: deltaOf(block), index: indexOf(block), text }];
  }

  /** Later counts replace earlier ones: those of `message_delta` are of the whole message. */
  function count(more: unknown): void {
    const known = Object.entries(asRecord(more) ?? {}).filter(([, value]) => value !== null);
    usage = { ...usage, ...Object.fromEntries(known) };
  }

  function halt(delta: Shape): void {
    const reason = asText(delta["stop_reason"]);
    if (reason !== null) stop = { reason, details: asRecord(delta["stop_details"]) };
  }

  function finished(isCut: boolean): WirePart[] {
    const said = blocks.toSorted((a, b) => a.order - b.order);
    const items = said.flatMap((block): WirePart[] => {
      const item = proposedItem(block, identity);
      return item === null ? [] : [{ type: "item", index: indexOf(block), item }];
    });
    const length = blocks.reduce((sum, block) => sum + block.name.length + block.text.length, 0);
    const hasCalls = blocks.some((block) => block.kind === "tool_use");
    const counted = readMessagesUsage(usage) ?? estimateUsage(requestSize, length);
    return [...items, { type: "finished", finish: isCut ? "length" : hasCalls ? "calls" : "stop", usage: counted, cost: null }];
  }

  function ended(): WirePart[] {
    switch (stop?.reason) {
      case undefined:
        return failed({ class: "cut", code: "no_end", message: "the stream ended before the answer was complete" });
      case "refusal": {
        const message = asText(stop?.details?.["explanation"]) ?? "the model declined to answer";
        return failed({ class: "refused", code: asText(stop?.details?.["category"]) ?? "refusal", message });
      }
      case "max_tokens":
      case "model_context_window_exceeded":
        return finished(true);
      case "pause_turn":
        // The provider stopped for its own sake; the answer goes on when it is asked to.
        return finished(!blocks.some((block) => block.kind === "tool_use"));
      default:
        return finished(false);
    }
  }

  function parts(type: string | null, event: Shape): WirePart[] | null {
    const order = typeof event["index"] === "number" ? event["index"] : blocks.length;
    switch (type) {
      case "message_start":
        count(asRecord(event["message"])?.["usage"]);
        return [];
      case "content_block_start":
        return announce(order, asRecord(event["content_block"]) ?? {});
      case "content_block_delta":
        return grow(order, asRecord(event["delta"]) ?? {});
      case "content_block_stop":
        return [];
      case "message_delta":
        count(event["usage"]);
        halt(asRecord(event["delta"]) ?? {});
        return [];
      case "message_stop":
        return ended();
      case "error":
        return failed(errorIn(event) ?? { code: null, message: "the stream reports an error without saying which" });
      default:
        return null;
    }
  }

  return {
    get isSettled() {
      return stop !== null;
    },
    event: (event) => {
      const value = parseJson(event.data);
      // Behind a complete answer there is only its end mark to lose.
      if (value === undefined && stop === null && isOurs(event)) {
        const failure: Failure = { class: "cut", code: "invalid_json", message: "the stream has an event that is no JSON" };
        return { parts: failed(failure), isProgress: false };
      }
      const shape = asRecord(value) ?? {};
      const type = event.name === "error" ? "error" : (asText(shape["type"]) ?? event.name);
      const found = parts(type, shape) ?? (shape["error"] ? failed(errorIn(shape)) : null);
      return { parts: found ?? [], isProgress: found !== null };
    },
    document: (value) => {
      const message = asRecord(value);
      if (message?.["type"] !== "message") {
        return failed(errorIn(value) ?? { class: "cut", code: "not_a_stream", message: "it answered with JSON that is no message" });
      }
      const shown = asList(message["content"]).flatMap((content, order) => announce(order, asRecord(content) ?? {}));
      count(message["usage"]);
      halt(message);
      return [...shown, ...ended()];
    },
    end: ended,
  };
}

function failed(failure: Failure | null): WirePart[] {
  return failure === null ? [] : [{ type: "failed", failure }];
}

/** Events of a gateway's own have other names and needn't be JSON. */
function isOurs({ name, data }: SseEvent): boolean {
  if (data === "" || data === "[DONE]") return false;
  return name === null || name === "error" || name.startsWith("message") || name.startsWith("content_block_");
}

function deltaOf(block: Block): "text.delta" | "reasoning.delta" | "call.delta" {
  return block.kind === "text" ? "text.delta" : block.kind === "thinking" ? "reasoning.delta" : "call.delta";
}

function blockOf(order: number, content: Shape): Block | null {
  const block = { order, name: "", text: "", signature: "", data: null, index: null };
  switch (content["type"]) {
    case "text":
      return { ...block, kind: "text", text: asText(content["text"]) ?? "" };
    case "thinking":
      return { ...block, kind: "thinking", text: asText(content["thinking"]) ?? "", signature: asText(content["signature"]) ?? "" };
    case "redacted_thinking":
      return { ...block, kind: "thinking", data: asText(content["data"]) ?? "" };
    case "tool_use": {
      // Empty where the input is streamed; a few servers send all of it at once.
      const input = asRecord(content["input"]) ?? {};
      const text = Object.keys(input).length === 0 ? "" : JSON.stringify(input);
      return { ...block, kind: "tool_use", name: asText(content["name"]) ?? "", text };
    }
    default:
      return null;
  }
}

function proposedItem(block: Block, identity: Identity): ProposedItem | null {
  switch (block.kind) {
    case "text":
      return block.text === "" ? null : { kind: "assistant_message", text: block.text };
    case "thinking":
      return { kind: "reasoning", text: block.text, ...opaqueOf(identity, thinkingPayload(block)) };
    case "tool_use":
      return { kind: "tool_call", name: block.name, input: block.text };
  }
}
