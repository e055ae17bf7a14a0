import { describe, expect, it } from "vitest";
import { collect, connect, errorOf, items, last, listen, sampleBytes, sse, streamed } from "./loopback.ts";

const usage = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 100 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 12 },
};
const reasoningItem = {
  id: "rs_1",
  type: "reasoning",
  encrypted_content: "ENC",
  summary: [
    { type: "summary_text", text: "First." },
    { type: "summary_text", text: "Then." },
  ],
};
const messageItem = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  phase: "commentary",
  content: [{ type: "output_text", text: "Hi 😀 there", annotations: [] }],
};
const callItem = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_9",
  name: "search",
  arguments: '{"pattern":"x"}',
  status: "completed",
};

const created = [
  { type: "response.created", response: { status: "in_progress" } },
  { type: "response.in_progress", response: { status: "in_progress" } },
];
const answer = [
  ...created,
  { type: "response.output_item.added", output_index: 0, item: { ...reasoningItem, summary: [] } },
  { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 0, part: { type: "summary_text", text: "" } },
  { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "First." },
  { type: "response.reasoning_summary_part.added", output_index: 0, summary_index: 1, part: { type: "summary_text", text: "" } },
  { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 1, delta: "Then." },
  { type: "response.output_item.done", output_index: 0, item: reasoningItem },
  { type: "response.output_item.added", output_index: 1, item: { ...messageItem, content: [] } },
  { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "Hi 😀" },
  { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: " there" },
  { type: "response.output_text.done", output_index: 1, content_index: 0, text: "Hi 😀 there" },
  { type: "response.output_item.done", output_index: 1, item: messageItem },
  { type: "response.output_item.added", output_index: 2, item: { ...callItem, arguments: "" } },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"pattern"' },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: ':"x"}' },
  { type: "response.output_item.done", output_index: 2, item: callItem },
];
const completed = { type: "response.completed", response: { status: "completed", output: [reasoningItem, messageItem, callItem], usage } };

const expectedItems = [
  {
    kind: "reasoning",
    text: "First.\n\nThen.",
    opaque: { provider: "openai", model: "gpt-5", payload: { encrypted_content: "ENC", summary: ["First.", "Then."] } },
  },
  { kind: "assistant_message", text: "Hi 😀 there", opaque: { provider: "openai", model: "gpt-5", payload: { phase: "commentary" } } },
  {
    kind: "tool_call",
    name: "search",
    input: '{"pattern":"x"}',
    opaque: { provider: "openai", model: "gpt-5", payload: { call_id: "call_9" } },
  },
];

describe("a streamed response", () => {
  it("becomes deltas, items and a finish, in order", async () => {
    const parts = await sampleBytes("responses", sse(...answer, completed));
    expect(parts[0]).toMatchObject({ type: "started" });
    expect(items(parts)).toEqual(expectedItems);
    expect(streamed(parts, "reasoning.delta")).toEqual(["First.\n\nThen."]);
    expect(streamed(parts, "text.delta")).toEqual(["Hi 😀 there"]);
    expect(streamed(parts, "call.delta")).toEqual(['{"pattern":"x"}']);
    expect(parts.flatMap((part) => (part.type === "item" ? [part.index] : []))).toEqual([0, 1, 2]);
    expect(last(parts)).toEqual({
      type: "finished",
      finish: "calls",
      usage: { inputTokens: 120, cachedInputTokens: 100, outputTokens: 30, reasoningTokens: 12 },
      cost: null,
    });
  });

  it("takes items that only the end names, and items of which only deltas came", async () => {
    const atEnd = await sampleBytes("responses", sse(...created, completed));
    expect(items(atEnd)).toEqual(expectedItems);
    const withoutDone = answer.filter((event) => event.type !== "response.output_item.done");
    const fromDeltas = items(
      await sampleBytes(
        "responses",
        sse(...withoutDone, { type: "response.completed", response: { status: "completed", output: [], usage } }),
      ),
    );
    expect(fromDeltas).toEqual([
      { kind: "reasoning", text: "First.\n\nThen." },
      { kind: "assistant_message", text: "Hi 😀 there" },
      { kind: "tool_call", name: "search", input: '{"pattern":"x"}' },
    ]);
  });

  it("keeps both calls of a gateway that numbers every item 0, once each", async () => {
    const call = (input: string) => ({ ...callItem, arguments: input });
    const events = ['{"a":1}', '{"b":2}'].flatMap((input) => [
      { type: "response.output_item.added", output_index: 0, item: call("") },
      { type: "response.function_call_arguments.delta", output_index: 0, delta: input },
      { type: "response.output_item.done", output_index: 0, item: call(input) },
    ]);
    const end = { type: "response.completed", response: { status: "completed", output: [call('{"a":1}'), call('{"b":2}')], usage } };
    const parts = await sampleBytes("responses", sse(...events, end));
    expect(items(parts).map((item) => (item.kind === "tool_call" ? item.input : ""))).toEqual(['{"a":1}', '{"b":2}']);
    expect(streamed(parts, "call.delta")).toEqual(['{"a":1}', '{"b":2}']);
  });

  it("ignores events of others, and items it doesn't know", async () => {
    const foreign =
      'event: vendor.progress\ndata: 12 %\n\nevent: ping\ndata: {}\n\n: comment\n\ndata: {"type":"keepalive"}\n\ndata: null\n\n';
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const events = [
      { type: "response.output_item.added", output_index: 0, item: search },
      { type: "response.output_item.done", output_index: 0, item: search },
      { type: "response.output_text.delta", output_index: 1, delta: "Hello", surprise: { deep: [1] } },
      { type: "response.output_item.done", output_index: 1, item: { type: "message", content: [{ type: "output_text", text: "Hello" }] } },
    ];
    const parts = await sampleBytes(
      "responses",
      foreign + sse(...events) + foreign + sse({ type: "response.completed", response: { usage } }),
    );
    expect(parts.filter((part) => part.type !== "started" && part.type !== "finished")).toEqual([
      { type: "text.delta", index: 0, text: "Hello" },
      { type: "item", index: 0, item: { kind: "assistant_message", text: "Hello" } },
    ]);
  });

  it("reads a refusal as what the model said", async () => {
    const refusal = { type: "message", content: [{ type: "refusal", refusal: "I can't help with that." }] };
    const events = [
      { type: "response.refusal.delta", output_index: 0, delta: "I can't help with that." },
      { type: "response.output_item.done", output_index: 0, item: refusal },
    ];
    const parts = await sampleBytes("responses", sse(...events, { type: "response.completed", response: { status: "completed", usage } }));
    expect(items(parts)).toEqual([{ kind: "assistant_message", text: "I can't help with that." }]);
  });

  it("ends with its length when the tokens ran out, and passes a cut call on as it is", async () => {
    const cutCall = { ...callItem, status: "incomplete", arguments: '{"path":"a.txt","content":"half' };
    const end = {
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, output: [cutCall], usage },
    };
    const parts = await sampleBytes("responses", sse(...created, end));
    expect(items(parts)).toMatchObject([{ kind: "tool_call", name: "search", input: '{"path":"a.txt","content":"half' }]);
    expect(last(parts)).toMatchObject({ type: "finished", finish: "length" });
  });

  it.each([
    [
      "a content filter",
      { type: "response.incomplete", response: { incomplete_details: { reason: "content_filter" } } },
      "refused",
      "content_filter",
    ],
    ["an unknown reason", { type: "response.incomplete", response: { incomplete_details: { reason: "steered" } } }, "cut", "steered"],
    [
      "a failed response",
      { type: "response.failed", response: { status: "failed", error: { code: "server_error", message: "Oops" } } },
      "overloaded",
      "server_error",
    ],
    [
      "a rate limit inside",
      { type: "response.failed", response: { error: { code: "rate_limit_exceeded", message: "Slow" } } },
      "rate_limited",
      "rate_limit_exceeded",
    ],
    [
      "an overflow inside",
      { type: "response.failed", response: { error: { code: "context_length_exceeded", message: "Long" } } },
      "context_overflow",
      "context_length_exceeded",
    ],
    ["a failed response without a reason", { type: "response.failed", response: { error: null } }, "cut", "failed"],
    ["a cancelled response", { type: "response.cancelled", response: {} }, "cut", "cancelled"],
    [
      "a completed event around a failed response",
      { type: "response.completed", response: { status: "failed", error: { code: "server_error" } } },
      "overloaded",
      "server_error",
    ],
    ["an error event", { type: "error", code: "insufficient_quota", message: "No credit", param: null }, "auth", "insufficient_quota"],
    ["a nested error event", { type: "error", error: { type: "overloaded_error", message: "Busy" } }, "overloaded", "overloaded_error"],
    ["an error without a type", { error: { code: 502, message: "Bad gateway" } }, "overloaded", "502"],
    ["an unknown error", { type: "error", code: "surprise", message: "?" }, "cut", "surprise"],
  ])("fails on %s", async (_, event, group, code) => {
    const parts = await sampleBytes("responses", sse(...answer, event));
    expect(errorOf(parts)).toMatchObject({ class: group, code, status: null });
  });

  it("is cut without its last event, and by an event that is no JSON", async () => {
    expect(errorOf(await sampleBytes("responses", sse(...answer)))).toMatchObject({ class: "cut", code: "no_end" });
    expect(errorOf(await sampleBytes("responses", sse(...answer, "[DONE]")))).toMatchObject({ class: "cut", code: "no_end" });
    expect(errorOf(await sampleBytes("responses", `${sse(...answer)}data: {"type":"response.compl\n\n`))).toMatchObject({
      class: "cut",
      code: "invalid_json",
    });
    expect(errorOf(await sampleBytes("responses", ""))).toMatchObject({ class: "cut" });
  });

  it("estimates usage that the provider left out, and says so", async () => {
    const parts = await sampleBytes("responses", sse(...answer, { type: "response.completed", response: { status: "completed" } }));
    const end = last(parts);
    expect(end).toMatchObject({ type: "finished", usage: { estimated: true } });
    expect(end.type === "finished" && end.usage.inputTokens > 10 && end.usage.outputTokens > 5).toBe(true);
  });

  it("takes a whole response where the server doesn't stream", async () => {
    const server = await listen((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ object: "response", ...completed.response }));
    });
    const parts = await collect(connect("responses", { baseUrl: server.baseUrl }));
    await server.close();
    expect(items(parts)).toEqual(expectedItems);
    expect(last(parts)).toMatchObject({ type: "finished", finish: "calls" });
  });

  it("is read to the end of the connection behind its last event, so that the connection can be used again", async () => {
    const pieces = [sse(...answer, completed), sse("[DONE]"), ": bye\n\n"].map((text) => new TextEncoder().encode(text));
    const end = new Promise<string>((resolve) => {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const piece = pieces.shift();
          if (piece !== undefined) return controller.enqueue(piece);
          controller.close();
          resolve("read to its end");
        },
        cancel: () => resolve("cancelled"),
      });
      void collect(connect("responses", { baseUrl: "http://127.0.0.1/v1", fetch: async () => new Response(body) }));
    });
    expect(await end).toBe("read to its end");
  });
});
