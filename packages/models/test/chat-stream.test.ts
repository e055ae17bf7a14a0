import { describe, expect, it } from "vitest";
import { collect, connect, errorOf, items, last, listen, sampleBytes, sse, streamed } from "./loopback.ts";

const usage = {
  prompt_tokens: 50,
  completion_tokens: 9,
  prompt_tokens_details: { cached_tokens: 32 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

function chunk(delta: object, finish: string | null = null, more: object = {}) {
  return { id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }], ...more };
}
const usageChunk = { id: "c1", object: "chat.completion.chunk", choices: [], usage };
const fragment = (index: number | null, id: string | null, name: string | null, args?: unknown) => ({
  tool_calls: [
    {
      ...(index === null ? {} : { index }),
      ...(id === null ? {} : { id }),
      type: "function",
      function: { ...(name === null ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
    },
  ],
});

async function callsOf(...deltas: readonly object[]) {
  const parts = await sampleBytes("chat", sse(...deltas.map((delta) => chunk(delta)), chunk({}, "tool_calls"), usageChunk, "[DONE]"));
  expect(last(parts)).toMatchObject({ type: "finished", finish: "calls" });
  const calls = items(parts).flatMap((item) => (item.kind === "tool_call" ? [`${item.name} ${item.input}`] : []));
  return calls;
}

describe("a streamed chat completion", () => {
  it("becomes deltas, items and a finish, in order", async () => {
    const parts = await sampleBytes(
      "chat",
      sse(
        chunk({ role: "assistant", content: "" }),
        chunk({ reasoning_content: "Let me " }),
        chunk({ reasoning_content: "see." }),
        chunk({ content: "Hi 😀" }),
        chunk({ content: " there" }),
        chunk(fragment(0, "call_1", "search", "")),
        chunk(fragment(0, null, null, '{"pattern"')),
        chunk(fragment(0, null, null, ':"x"}')),
        chunk({}, "tool_calls"),
        usageChunk,
        "[DONE]",
      ),
    );
    expect(parts[0]).toMatchObject({ type: "started" });
    expect(items(parts)).toEqual([
      {
        kind: "reasoning",
        text: "Let me see.",
        opaque: { provider: "openai-compatible", model: "qwen", payload: { field: "reasoning_content" } },
      },
      { kind: "assistant_message", text: "Hi 😀 there" },
      { kind: "tool_call", name: "search", input: '{"pattern":"x"}' },
    ]);
    expect(streamed(parts, "reasoning.delta")).toEqual(["Let me see."]);
    expect(streamed(parts, "text.delta")).toEqual(["Hi 😀 there"]);
    expect(streamed(parts, "call.delta")).toEqual(['{"pattern":"x"}']);
    expect(last(parts)).toEqual({
      type: "finished",
      finish: "calls",
      usage: { inputTokens: 50, cachedInputTokens: 32, outputTokens: 9, reasoningTokens: 4 },
      cost: null,
    });
  });

  it("reads the other name of reasoning, and a cost where the provider says one", async () => {
    const parts = await sampleBytes(
      "chat",
      sse(chunk({ reasoning: "Hm." }), chunk({ content: "Yes." }), chunk({}, "stop"), { ...usageChunk, usage: { ...usage, cost: 0.0021 } }),
    );
    expect(items(parts)[0]).toMatchObject({ kind: "reasoning", text: "Hm.", opaque: { payload: { field: "reasoning" } } });
    expect(last(parts)).toMatchObject({ type: "finished", finish: "stop", cost: 0.0021 });
  });

  it("is complete with a finish reason and no end mark, and cut without one", async () => {
    const text = [chunk({ content: "Hello" })];
    expect(last(await sampleBytes("chat", sse(...text, chunk({}, "stop"))))).toMatchObject({
      type: "finished",
      finish: "stop",
      usage: { estimated: true },
    });
    expect(last(await sampleBytes("chat", sse(...text, chunk({}, "stop"), usageChunk)))).toMatchObject({
      type: "finished",
      usage: { inputTokens: 50 },
    });
    expect(errorOf(await sampleBytes("chat", sse(...text)))).toMatchObject({ class: "cut", code: "no_end" });
    expect(errorOf(await sampleBytes("chat", sse(...text, "[DONE]")))).toMatchObject({ class: "cut", code: "no_end" });
    expect(errorOf(await sampleBytes("chat", sse(chunk({ content: "Hello" }, ""), chunk({ content: " you" }, ""))))).toMatchObject({
      class: "cut",
    });
    expect(errorOf(await sampleBytes("chat", `${sse(...text)}data: {"choices":[{"del\n\n`))).toMatchObject({
      class: "cut",
      code: "invalid_json",
    });
  });

  it.each([
    ["length", { type: "finished", finish: "length" }],
    ["eos", { type: "finished", finish: "stop" }],
    ["content_filter", { type: "failed", error: { class: "refused", code: "content_filter" } }],
    ["insufficient_system_resource", { type: "failed", error: { class: "overloaded" } }],
    ["error", { type: "failed", error: { class: "cut" } }],
  ])("that finishes with %s ends accordingly", async (reason, end) => {
    expect(last(await sampleBytes("chat", sse(chunk({ content: "Hel" }), chunk({}, reason), "[DONE]")))).toMatchObject(end);
  });

  it.each([
    ["an error chunk", { error: { code: 429, message: "Slow down" } }, "rate_limited"],
    ["an error with a type", { error: { type: "server_error", message: "Oops" } }, "overloaded"],
    ["a flat error object", { object: "error", message: "Too long", type: "exceed_context_size_error", code: 400 }, "context_overflow"],
    ["an error as text", { error: "model runner has stopped" }, "cut"],
  ])("fails on %s inside", async (_, event, group) => {
    expect(errorOf(await sampleBytes("chat", sse(chunk({ content: "Hel" }), event))).class).toBe(group);
  });

  it("fails on a named error event", async () => {
    const parts = await sampleBytes(
      "chat",
      `${sse(chunk({ content: "Hel" }))}event: error\ndata: {"code":"overloaded","message":"busy"}\n\n`,
    );
    expect(errorOf(parts)).toMatchObject({ class: "overloaded", code: "overloaded" });
  });

  it("ignores events of others between its chunks", async () => {
    const foreign =
      'event: vendor.progress\ndata: 12 %\n\nevent: ping\ndata: {"a":1}\n\n: OPENROUTER PROCESSING\n\ndata: {"prompt_filter_results":[]}\n\n';
    const parts = await sampleBytes(
      "chat",
      foreign + sse(chunk({ content: "Hel", odd: true })) + foreign + sse(chunk({ content: "lo" }), chunk({}, "stop")) + foreign,
    );
    expect(items(parts)).toEqual([{ kind: "assistant_message", text: "Hello" }]);
  });

  it("takes a whole completion where the server doesn't stream", async () => {
    const server = await listen((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const message = { role: "assistant", content: "Hello", ...fragment(null, "call_1", "t", { deep: { a: 1 } }) };
      response.end(JSON.stringify({ object: "chat.completion", choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage }));
    });
    const parts = await collect(connect("chat", { baseUrl: server.baseUrl }));
    await server.close();
    expect(items(parts)).toEqual([
      { kind: "assistant_message", text: "Hello" },
      { kind: "tool_call", name: "t", input: '{"deep":{"a":1}}' },
    ]);
  });
});

describe("fragments of calls", () => {
  it("go to the call of their index, and calls come in that order", async () => {
    const interleaved = [
      fragment(0, "A", "f", '{"x":'),
      fragment(1, "B", "g", ""),
      fragment(1, null, null, '{"y":'),
      fragment(0, null, null, "1}"),
      fragment(1, null, null, "2}"),
    ];
    expect(await callsOf(...interleaved)).toEqual(['f {"x":1}', 'g {"y":2}']);
    const late = [
      fragment(1, "B", "g", '{"y":'),
      fragment(0, null, "f", '{"x":'),
      fragment(0, "A", null, "1}"),
      fragment(1, null, null, "2}"),
    ];
    expect(await callsOf(...late)).toEqual(['f {"x":1}', 'g {"y":2}']);
  });

  it("make two calls of two whole ones at index 0, whatever their ids", async () => {
    const two = ['f {"x":1}', 'g {"y":2}'];
    expect(await callsOf(fragment(0, "A", "f", '{"x":1}'), fragment(0, "B", "g", '{"y":2}'))).toEqual(two);
    expect(await callsOf(fragment(0, null, "f", '{"x":1}'), fragment(0, null, "g", '{"y":2}'))).toEqual(two);
    expect(await callsOf(fragment(0, "", "f", '{"x":1}'), fragment(0, "", "g", '{"y":2}'))).toEqual(two);
    expect(await callsOf(fragment(0, "A", "f", '{"x":1}'), fragment(0, "A", "f", '{"x":2}'))).toEqual(['f {"x":1}', 'f {"x":2}']);
    expect(await callsOf(fragment(null, null, "f", '{"x":1}'), fragment(null, null, "g", '{"y":2}'))).toEqual(two);
    expect(
      await callsOf({ tool_calls: [...fragment(null, null, "f", "").tool_calls, ...fragment(null, null, "g", "").tool_calls] }),
    ).toEqual(["f ", "g "]);
    expect(
      await callsOf({ tool_calls: [...fragment(0, "A", "f", '{"x":1}').tool_calls, ...fragment(1, "B", "g", '{"y":2}').tool_calls] }),
    ).toEqual(two);
  });

  it("make one call where the name or the id is repeated in each", async () => {
    expect(
      await callsOf(fragment(0, "A", "f", '{"x":'), fragment(0, "A", "f", '"}{"'), fragment(0, "A", "f", "}"), fragment(0, "A", "f", "")),
    ).toEqual(['f {"x":"}{"}']);
    expect(await callsOf(fragment(0, "A", "f", ""), fragment(0, null, "", '{"x":1}'), fragment(0, null, "", ""))).toEqual(['f {"x":1}']);
    expect(await callsOf(fragment(null, null, "f", '{"x":'), fragment(null, null, null, "1}"))).toEqual(['f {"x":1}']);
  });

  it("that are cut are passed on as they are, with any finish reason", async () => {
    const parts = await sampleBytes("chat", sse(chunk(fragment(0, "A", "write", '{"content":"first ha')), chunk({}, "stop"), "[DONE]"));
    expect(items(parts)).toEqual([{ kind: "tool_call", name: "write", input: '{"content":"first ha' }]);
    expect(last(parts)).toMatchObject({ type: "finished", finish: "calls" });
  });
});
