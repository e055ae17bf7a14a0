import { errorIn, type Failure } from "../failure.ts";
import { opaqueOf, type Identity } from "../identity.ts";
import { asList, asRecord, asText, parseJson, type Shape } from "../shape.ts";
import type { SseEvent } from "../sse.ts";
import { estimateUsage, readCost, readUsage } from "../usage.ts";
import type { Decoder, WirePart } from "../wire.ts";
import { createCallDrafts } from "./calls.ts";
import { reasoningFields } from "./encode.ts";

/** Decodes the chunks of a streamed chat completion (OpenAI API reference, "The chat completion chunk object"). */
export function createChatDecoder(identity: Identity, requestSize: number): Decoder {
  const calls = createCallDrafts();
  /** Our index of each item, given when its first piece arrives. */
  const indexes = new Map<unknown, number>();
  let text = "";
  let reasoning = "";
  let reasoningField: string | null = null;
  let finish: string | null = null;
  let usage: unknown = null;

  function indexOf(key: unknown): number {
    const index = indexes.get(key) ?? indexes.size;
    indexes.set(key, index);
    return index;
  }

  function delta(message: Shape): WirePart[] {
    const parts: WirePart[] = [];
    const field = reasoningFields.find((name) => (asText(message[name]) ?? "") !== "");
    if (field !== undefined) {
      const more = asText(message[field]) ?? "";
      reasoningField ??= field;
      reasoning += more;
      parts.push({ type: "reasoning.delta", index: indexOf("reasoning"), text: more });
    }
    const more = contentText(message["content"]) + (asText(message["refusal"]) ?? "");
    if (more !== "") {
      text += more;
      parts.push({ type: "text.delta", index: indexOf("text"), text: more });
    }
    for (const fragment of asList(message["tool_calls"])) {
      const { draft, text: added } = calls.add(asRecord(fragment) ?? {});
      const index = indexOf(draft);
      if (added !== "") parts.push({ type: "call.delta", index, text: added });
    }
    return parts;
  }

  /** Reasoning, text, and the calls in the server's order, which needn't be that of their first fragments. */
  function items(): WirePart[] {
    const parts: WirePart[] = [];
    if (reasoning !== "") {
      const back = reasoningField === null ? {} : opaqueOf(identity, { field: reasoningField });
      parts.push({ type: "item", index: indexOf("reasoning"), item: { kind: "reasoning", text: reasoning, ...back } });
    }
    if (text !== "") parts.push({ type: "item", index: indexOf("text"), item: { kind: "assistant_message", text } });
    for (const draft of calls.drafts.toSorted((a, b) => a.order - b.order)) {
      parts.push({ type: "item", index: indexOf(draft), item: { kind: "tool_call", name: draft.name, input: draft.input } });
    }
    return parts;
  }

  function finished(): WirePart[] {
    const length = text.length + reasoning.length + calls.drafts.reduce((sum, draft) => sum + draft.name.length + draft.input.length, 0);
    const as = finish === "length" || finish === "max_tokens" ? "length" : calls.drafts.length > 0 ? "calls" : "stop";
    const counted = readUsage(usage) ?? estimateUsage(requestSize, length);
    return [...items(), { type: "finished", finish: as, usage: counted, cost: readCost(usage) }];
  }

  function ended(): WirePart[] {
    switch (finish) {
      case null:
        return failed({ class: "cut", code: "no_end", message: "the stream ended before the answer was complete" });
      case "content_filter":
        return failed({ class: "refused", code: finish, message: "a content filter ended the answer" });
      case "insufficient_system_resource":
        return failed({ class: "overloaded", code: finish, message: "the provider ran out of resources in the middle of the answer" });
      case "error":
        return failed({ class: "cut", code: finish, message: "the provider reports an error in the middle of the answer" });
      default:
        return finished();
    }
  }

  /** A chunk, or a whole completion: they differ in the name of the message alone. */
  function take(chunk: Shape): WirePart[] {
    usage = asRecord(chunk["usage"]) ?? asRecord(asRecord(chunk["x_groq"])?.["usage"]) ?? usage;
    // One choice was asked for.
    const choice = asRecord(asList(chunk["choices"])[0]);
    if (choice === null) return [];
    usage = asRecord(choice["usage"]) ?? usage;
    const parts = delta(asRecord(choice["delta"]) ?? asRecord(choice["message"]) ?? {});
    // Some servers send an empty reason with every chunk.
    finish = asText(choice["finish_reason"]) || finish;
    return parts;
  }

  return {
    get isSettled() {
      return finish !== null;
    },
    event: (event) => {
      if (event.data.trim() === "[DONE]") return { parts: ended(), isProgress: true };
      const value = parseJson(event.data);
      // Behind a complete answer there is only its usage to lose.
      if (value === undefined && finish === null && isOurs(event)) {
        return {
          parts: failed({ class: "cut", code: "invalid_json", message: "the stream has an event that is no JSON" }),
          isProgress: false,
        };
      }
      const chunk = asRecord(value) ?? {};
      const isError = event.name === "error" || Boolean(chunk["error"]) || chunk["object"] === "error";
      if (isError)
        return { parts: failed(errorIn(value) ?? { message: "the stream reports an error without saying which" }), isProgress: false };
      if (!Array.isArray(chunk["choices"]) && asRecord(chunk["usage"]) === null) return { parts: [], isProgress: false };
      return { parts: take(chunk), isProgress: true };
    },
    document: (value) => {
      const completion = asRecord(value);
      if (completion !== null && asList(completion["choices"]).length > 0 && !completion["error"]) return [...take(completion), ...ended()];
      return failed(errorIn(value) ?? { class: "cut", code: "not_a_stream", message: "it answered with JSON that is no completion" });
    },
    end: ended,
  };
}

function failed(failure: Failure): WirePart[] {
  return [{ type: "failed", failure }];
}

/** Events of a gateway's own have names, and needn't be JSON. */
function isOurs(event: SseEvent): boolean {
  return event.data !== "" && (event.name === null || event.name === "message" || event.name === "error");
}

/** Content is text; a few servers send it in parts. */
function contentText(value: unknown): string {
  return typeof value === "string"
    ? value
    : asList(value)
        .map((part) => asText(asRecord(part)?.["text"]) ?? "")
        .join("");
}
