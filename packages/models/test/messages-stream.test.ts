import { describe, expect, it } from "vitest";
import { createHttpModel, messagesWire } from "../src/index.ts";
import { collect, connect, errorOf, identities, items, last, listen, sampleBytes, sse, streamed } from "./loopback.ts";

const usage = { input_tokens: 8, cache_creation_input_tokens: 10, cache_read_input_tokens: 32, output_tokens: 1 };
const start = { type: "message_start", message: { type: "message", role: "assistant", content: [], stop_reason: null, usage } };
const begin = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
const delta = (index: number, type: string, more: object) => ({ type: "content_block_delta", index, delta: { type, ...more } });
const text = (index: number, value: string) => delta(index, "text_delta", { text: value });
const json = (index: number, partial_json: string) => delta(index, "input_json_delta", { partial_json });
const stop = (index: number) => ({ type: "content_block_stop", index });
const end = (stop_reason: string, more: object = {}) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null, ...more }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];
const hello = [start, begin(0, { type: "text", text: "" }), text(0, "Hel"), text(0, "lo"), stop(0)];
const opaque = (payload: object) => ({ opaque: { ...identities.messages, payload } });

describe("a streamed message", () => {
  it("becomes deltas, items and a finish, in order", async () => {
    const parts = await sampleBytes(
      "messages",
      sse(
        start,
        begin(0, { type: "thinking", thinking: "", signature: "" }),
        delta(0, "thinking_delta", { thinking: "Let me " }),
        delta(0, "thinking_delta", { thinking: "see." }),
        delta(0, "signature_delta", { signature: "SIG" }),
        stop(0),
        { type: "ping" },
        begin(1, { type: "redacted_thinking", data: "XYZ" }),
        stop(1),
        begin(2, { type: "text", text: "" }),
        text(2, "Hi 😀"),
        text(2, " there"),
        stop(2),
        begin(3, { type: "tool_use", id: "toolu_1", name: "search", input: {} }),
        json(3, ""),
        json(3, '{"pattern"'),
        json(3, ':"x"}'),
        stop(3),
        ...end("tool_use"),
      ),
    );
    expect(parts[0]).toMatchObject({ type: "started" });
    expect(items(parts)).toEqual([
      { kind: "reasoning", text: "Let me see.", ...opaque({ thinking: "Let me see.", signature: "SIG" }) },
      { kind: "reasoning", text: "", ...opaque({ data: "XYZ" }) },
      { kind: "assistant_message", text: "Hi 😀 there" },
      { kind: "tool_call", name: "search", input: '{"pattern":"x"}' },
    ]);
    expect(streamed(parts, "reasoning.delta")).toEqual(["Let me see."]);
    expect(streamed(parts, "text.delta")).toEqual(["Hi 😀 there"]);
    expect(streamed(parts, "call.delta")).toEqual(['{"pattern":"x"}']);
    expect(last(parts)).toEqual({
      type: "finished",
      finish: "calls",
      usage: { inputTokens: 50, cachedInputTokens: 32, outputTokens: 9, reasoningTokens: 0, cacheWriteTokens: 10 },
      cost: null,
    });
  });

  it("keeps thoughts whose text isn't shown: their signature goes back", async () => {
    const block = [begin(0, { type: "thinking", thinking: "", signature: "" }), delta(0, "signature_delta", { signature: "S" }), stop(0)];
    const parts = await sampleBytes("messages", sse(start, ...block, begin(1, { type: "text", text: "Yes." }), ...end("end_turn")));
    expect(items(parts)).toEqual([
      { kind: "reasoning", text: "", ...opaque({ thinking: "", signature: "S" }) },
      { kind: "assistant_message", text: "Yes." },
    ]);
  });

  it("takes the counts that come last, and estimates where none come", async () => {
    const late = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { ...usage, input_tokens: 20, output_tokens: 5 } };
    expect(last(await sampleBytes("messages", sse(...hello, late)))).toMatchObject({
      usage: { inputTokens: 62, outputTokens: 5, cachedInputTokens: 32 },
    });
    const none = [
      { type: "message_start", message: {} },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
    ];
    expect(last(await sampleBytes("messages", sse(...none)))).toMatchObject({ usage: { estimated: true } });
  });

  it.each([
    ["end_turn", { type: "finished", finish: "stop" }],
    ["stop_sequence", { type: "finished", finish: "stop" }],
    ["a_new_reason", { type: "finished", finish: "stop" }],
    ["max_tokens", { type: "finished", finish: "length" }],
    ["model_context_window_exceeded", { type: "finished", finish: "length" }],
    ["pause_turn", { type: "finished", finish: "length" }],
    ["refusal", { type: "failed", error: { class: "refused", code: "refusal" } }],
  ])("that stops with %s ends accordingly", async (reason, expected) => {
    expect(last(await sampleBytes("messages", sse(...hello, ...end(reason))))).toMatchObject(expected);
  });

  it("that is refused says why", async () => {
    const details = { stop_details: { type: "refusal", category: "cyber", explanation: "Not with this." } };
    const error = errorOf(await sampleBytes("messages", sse(...hello, ...end("refusal", details))));
    expect(error).toMatchObject({ class: "refused", code: "cyber" });
    expect(error.message).toContain("Not with this.");
  });

  it.each([
    ["overloaded_error", "overloaded"],
    ["api_error", "overloaded"],
    ["rate_limit_error", "rate_limited"],
    ["authentication_error", "auth"],
    ["billing_error", "auth"],
    ["invalid_request_error", "invalid_request"],
    ["never_heard_of", "cut"],
  ])("fails on the event %s inside", async (type, group) => {
    const event = `event: error\ndata: ${JSON.stringify({ type: "error", error: { type, message: "Oops" } })}\n\n`;
    expect(errorOf(await sampleBytes("messages", sse(...hello) + event))).toMatchObject({ class: group, code: type });
  });

  it("is complete with a stop reason and no end mark, and cut without one", async () => {
    const [reason] = end("end_turn");
    expect(last(await sampleBytes("messages", sse(...hello, reason as object)))).toMatchObject({ type: "finished", finish: "stop" });
    for (const events of [hello, [...hello, { type: "message_stop" }]]) {
      expect(errorOf(await sampleBytes("messages", sse(...events)))).toMatchObject({ class: "cut", code: "no_end" });
    }
    expect(errorOf(await sampleBytes("messages", `${sse(...hello)}data: {"type":"content_bl\n\n`))).toMatchObject({ code: "invalid_json" });
  });

  it("leaves out blocks of the provider's own tools", async () => {
    const foreign = [begin(1, { type: "server_tool_use", id: "s", name: "web_search", input: {} }), json(1, "{}"), stop(1)];
    expect(items(await sampleBytes("messages", sse(...hello, ...foreign, ...end("end_turn"))))).toEqual([
      { kind: "assistant_message", text: "Hello" },
    ]);
  });

  it("takes a whole message where the server doesn't stream", async () => {
    const server = await listen((response) => {
      const content = [
        { type: "text", text: "Hello" },
        { type: "tool_use", id: "t", name: "t", input: { deep: { a: 1 } } },
      ];
      response.end(JSON.stringify({ type: "message", content, stop_reason: "tool_use", usage }));
    });
    const parts = await collect(connect("messages", { baseUrl: server.baseUrl }));
    await server.close();
    expect(items(parts)).toEqual([
      { kind: "assistant_message", text: "Hello" },
      { kind: "tool_call", name: "t", input: '{"deep":{"a":1}}' },
    ]);
    expect(last(parts)).toMatchObject({ type: "finished", finish: "calls", usage: { inputTokens: 50 } });
  });
});

describe("a request to the Messages API", () => {
  it("carries the key in the header it wants, to the same place with and without the version in the base URL", async () => {
    const server = await listen((response) => response.end(sse(start, ...end("end_turn"))));
    const bare = server.baseUrl.slice(0, -"/v1".length);
    for (const baseUrl of [server.baseUrl, bare, `${bare}/`, `${bare}/anthropic`]) await collect(connect("messages", { baseUrl }));
    await collect(connect("messages", { baseUrl: bare, apiKey: async () => null, headers: { authorization: "Bearer token-of-mine" } }));
    expect(server.requests.map((request) => request.url)).toEqual([
      "/v1/messages",
      "/v1/messages",
      "/v1/messages",
      "/anthropic/v1/messages",
      "/v1/messages",
    ]);
    expect(server.requests[0]?.headers).toMatchObject({ "x-api-key": "sk-loopback-key", "anthropic-version": "2023-06-01" });
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(server.requests[4]?.headers).toMatchObject({ authorization: "Bearer token-of-mine" });
    expect(server.requests[4]?.headers).not.toHaveProperty("x-api-key");
    expect(server.requests[0]?.headers).not.toHaveProperty("anthropic-beta");
    const binding = messagesWire({ provider: "anthropic", model: "claude-fable-5-1" });
    await collect(createHttpModel(binding, { id: "anthropic/claude-fable-5-1", baseUrl: bare, apiKey: async () => null }));
    expect(server.requests[5]?.headers).toMatchObject({ "anthropic-beta": "thinking-binding-controls-2026-08-01" });
    await server.close();
  });
});
