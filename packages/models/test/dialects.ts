import type { WireName } from "../src/index.ts";

/** A piece of an answer, in the fragments in which it is streamed. A call's are of its input's JSON text. */
export type Said =
  | { readonly text: readonly string[] }
  | { readonly thought: readonly string[]; readonly signature?: string }
  | { readonly call: string; readonly input: readonly string[] };
/** How an answer ends; null: not at all, as when something in between closes the connection. */
export type End = "stop" | "calls" | "length" | null;

export interface Frame {
  readonly name: string | null;
  readonly data: object | string;
}

/** What each of `wires` counts for `usage` frames of its own. */
export const counted = { inputTokens: 50, cachedInputTokens: 32, outputTokens: 9, reasoningTokens: 4 };

export const wires = ["responses", "chat", "messages", "gemini"] as const satisfies readonly WireName[];

/** The events by which each wire streams an answer. */
export const speak: Readonly<Record<WireName, (said: readonly Said[], end: End) => Frame[]>> = {
  responses: (said, end) => {
    const event = (type: string, more: object): Frame => ({ name: type, data: { type, ...more } });
    const frames = [event("response.created", { response: { status: "in_progress", output: [] } })];
    for (const [output_index, one] of said.entries()) {
      const [item, delta, pieces] = responsesItem(one);
      const start = { ...item, ...("arguments" in item ? { arguments: "" } : "content" in item ? { content: [] } : {}) };
      frames.push(event("response.output_item.added", { output_index, item: start }));
      for (const piece of pieces) frames.push(event(delta, { output_index, delta: piece }));
      if (end !== null) frames.push(event("response.output_item.done", { output_index, item }));
    }
    const usage = {
      input_tokens: 50,
      output_tokens: 9,
      input_tokens_details: { cached_tokens: 32 },
      output_tokens_details: { reasoning_tokens: 4 },
    };
    const status = end === "length" ? "incomplete" : "completed";
    const details = end === "length" ? { incomplete_details: { reason: "max_output_tokens" } } : {};
    if (end !== null) frames.push(event(`response.${status}`, { response: { status, usage, ...details } }));
    return frames;
  },
  chat: (said, end) => {
    const chunk = (delta: object, finish_reason: string | null = null): Frame => ({
      name: null,
      data: { object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] },
    });
    const frames = [chunk({ role: "assistant", content: "" })];
    let index = -1;
    for (const one of said) {
      if ("text" in one) frames.push(...one.text.map((content) => chunk({ content })));
      else if ("thought" in one) frames.push(...one.thought.map((reasoning_content) => chunk({ reasoning_content })));
      else {
        index += 1;
        const call = { index, id: `call_${index}`, type: "function", function: { name: one.call, arguments: "" } };
        frames.push(chunk({ tool_calls: [call] }));
        for (const piece of one.input) frames.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
      }
    }
    const usage = {
      prompt_tokens: 50,
      completion_tokens: 9,
      prompt_tokens_details: { cached_tokens: 32 },
      completion_tokens_details: { reasoning_tokens: 4 },
    };
    if (end !== null) {
      frames.push(
        chunk({}, end === "calls" ? "tool_calls" : end),
        { name: null, data: { choices: [], usage } },
        { name: null, data: "[DONE]" },
      );
    }
    return frames;
  },
  messages: (said, end) => {
    const event = (type: string, more: object = {}): Frame => ({ name: type, data: { type, ...more } });
    const usage = { input_tokens: 8, cache_creation_input_tokens: 10, cache_read_input_tokens: 32, output_tokens: 1 };
    const frames = [event("message_start", { message: { type: "message", role: "assistant", content: [], stop_reason: null, usage } })];
    for (const [index, one] of said.entries()) {
      const [content_block, deltas] = messagesBlock(one, index);
      frames.push(event("content_block_start", { index, content_block }));
      frames.push(...deltas.map((delta) => event("content_block_delta", { index, delta })));
      if (end !== null) frames.push(event("content_block_stop", { index }));
    }
    const stop_reason = { stop: "end_turn", calls: "tool_use", length: "max_tokens" }[end ?? "stop"];
    const output = { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } };
    if (end !== null)
      frames.push(event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: output }), event("message_stop"));
    return frames;
  },
  gemini: (said, end) => {
    const usageMetadata = {
      promptTokenCount: 50,
      cachedContentTokenCount: 32,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      totalTokenCount: 59,
    };
    const chunk = (parts: readonly object[], more: object = {}): Frame => ({
      name: null,
      data: { candidates: [{ index: 0, content: { role: "model", parts }, ...more }], usageMetadata },
    });
    const frames = said.flatMap((one): Frame[] => {
      if ("text" in one) return one.text.map((text) => chunk([{ text }]));
      if ("call" in one) return [chunk([{ functionCall: { name: one.call, args: JSON.parse(one.input.join("")) as object } }])];
      const signature = one.signature === undefined ? {} : { thoughtSignature: one.signature };
      return one.thought.map((text) => chunk([{ text, thought: true, ...signature }]));
    });
    if (end !== null) frames.push(chunk([], { finishReason: end === "length" ? "MAX_TOKENS" : "STOP" }));
    return frames;
  },
};

function responsesItem(one: Said): [object, string, readonly string[]] {
  if ("text" in one) {
    const content = [{ type: "output_text", text: one.text.join("") }];
    return [{ type: "message", role: "assistant", content }, "response.output_text.delta", one.text];
  }
  if ("call" in one) {
    const item = { type: "function_call", call_id: "c", name: one.call, arguments: one.input.join("") };
    return [item, "response.function_call_arguments.delta", one.input];
  }
  const summary = [{ type: "summary_text", text: one.thought.join("") }];
  const encrypted = one.signature === undefined ? {} : { encrypted_content: one.signature };
  return [{ type: "reasoning", summary, ...encrypted }, "response.reasoning_summary_text.delta", one.thought];
}

function messagesBlock(one: Said, index: number): [object, readonly object[]] {
  if ("text" in one) return [{ type: "text", text: "" }, one.text.map((text) => ({ type: "text_delta", text }))];
  if ("call" in one) {
    const deltas = one.input.map((partial_json) => ({ type: "input_json_delta", partial_json }));
    return [{ type: "tool_use", id: `toolu_${index}`, name: one.call, input: {} }, deltas];
  }
  const signature = { type: "signature_delta", signature: one.signature ?? "" };
  return [
    { type: "thinking", thinking: "", signature: "" },
    [...one.thought.map((thinking) => ({ type: "thinking_delta", thinking })), signature],
  ];
}

/** A frame as the event stream has it. */
export function framed({ name, data }: Frame): string {
  return `${name === null ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

/** A whole answer as bytes of an event stream. */
export function answerOf(wire: WireName, said: readonly Said[], end: End): string {
  return speak[wire](said, end).map(framed).join("");
}
