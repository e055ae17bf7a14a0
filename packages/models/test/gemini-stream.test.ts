import { describe, expect, it } from "vitest";
import { createHttpModel, geminiWire } from "../src/index.ts";
import { collect, connect, errorOf, identities, items, last, listen, sampleBytes, sse, streamed } from "./loopback.ts";

const usageMetadata = { promptTokenCount: 50, cachedContentTokenCount: 32, candidatesTokenCount: 5, thoughtsTokenCount: 4 };
const chunk = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
  usageMetadata,
});
const end = (finishReason: string, more: object = {}) => chunk([], { finishReason, ...more });
const signed = (signature: string) => ({ opaque: { ...identities.gemini, payload: { thought_signature: signature } } });

describe("a streamed answer of Gemini", () => {
  it("becomes deltas, items and a finish, in order", async () => {
    const parts = await sampleBytes(
      "gemini",
      sse(
        chunk([{ text: "Let me ", thought: true }]),
        chunk([{ text: "see.", thought: true }]),
        chunk([{ text: "Hi 😀" }]),
        chunk([{ text: " there", thoughtSignature: "SIG1" }]),
        chunk([
          { functionCall: { id: "x", name: "search", args: { pattern: "x" } }, thoughtSignature: "SIG2" },
          { functionCall: { name: "list" } },
        ]),
        chunk([{ text: "" }], { finishReason: "STOP" }),
      ),
    );
    expect(parts[0]).toMatchObject({ type: "started" });
    expect(items(parts)).toEqual([
      { kind: "reasoning", text: "Let me see." },
      { kind: "assistant_message", text: "Hi 😀 there", ...signed("SIG1") },
      { kind: "tool_call", name: "search", input: '{"pattern":"x"}', ...signed("SIG2") },
      { kind: "tool_call", name: "list", input: "{}" },
    ]);
    expect(streamed(parts, "reasoning.delta")).toEqual(["Let me see."]);
    expect(streamed(parts, "text.delta")).toEqual(["Hi 😀 there"]);
    expect(streamed(parts, "call.delta")).toEqual(['{"pattern":"x"}', "{}"]);
    expect(last(parts)).toEqual({
      type: "finished",
      finish: "calls",
      usage: { inputTokens: 50, cachedInputTokens: 32, outputTokens: 9, reasoningTokens: 4 },
      cost: null,
    });
  });

  it("keeps a signature that comes last and alone with the text before it", async () => {
    const parts = await sampleBytes(
      "gemini",
      sse(chunk([{ text: "Yes." }]), chunk([{ text: "", thoughtSignature: "LATE" }], { finishReason: "STOP" })),
    );
    expect(items(parts)).toEqual([{ kind: "assistant_message", text: "Yes.", ...signed("LATE") }]);
  });

  it.each([
    ["STOP", { type: "finished", finish: "stop" }],
    ["MAX_TOKENS", { type: "finished", finish: "length" }],
    ...["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"].map(
      (code) => [code, { type: "failed", error: { class: "refused", code } }] as const,
    ),
    ...["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER", "A_NEW_REASON"].map(
      (code) => [code, { type: "failed", error: { class: "cut", code } }] as const,
    ),
    ["MISSING_THOUGHT_SIGNATURE", { type: "failed", error: { class: "invalid_request" } }],
  ] as const)("that finishes with %s ends accordingly", async (reason, expected) => {
    expect(last(await sampleBytes("gemini", sse(chunk([{ text: "Hel" }]), end(reason))))).toMatchObject(expected);
  });

  it("says with the provider's words why it could not be completed", async () => {
    const said = { finishMessage: "Malformed function call: print(search())" };
    expect(errorOf(await sampleBytes("gemini", sse(end("MALFORMED_FUNCTION_CALL", said)))).message).toContain("print(search())");
  });

  it("of a prompt that was blocked is refused at once", async () => {
    const blocked = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata };
    expect(errorOf(await sampleBytes("gemini", sse(blocked)))).toMatchObject({ class: "refused", code: "PROHIBITED_CONTENT" });
  });

  it.each([
    ["RESOURCE_EXHAUSTED", 429, "rate_limited"],
    ["UNAVAILABLE", 503, "overloaded"],
    ["INTERNAL", 500, "overloaded"],
    ["PERMISSION_DENIED", 403, "auth"],
    ["INVALID_ARGUMENT", 400, "invalid_request"],
  ])("fails on the error %s inside", async (status, code, group) => {
    const error = { error: { code, status, message: "Oops" } };
    expect(errorOf(await sampleBytes("gemini", sse(chunk([{ text: "Hel" }]), error)))).toMatchObject({ class: group, code: status });
  });

  it("is complete with a finish reason, and cut without one", async () => {
    expect(
      last(await sampleBytes("gemini", sse({ candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] }))),
    ).toMatchObject({
      type: "finished",
      usage: { estimated: true },
    });
    expect(errorOf(await sampleBytes("gemini", sse(chunk([{ text: "Hel" }]))))).toMatchObject({ class: "cut", code: "no_end" });
    expect(errorOf(await sampleBytes("gemini", `${sse(chunk([{ text: "Hel" }]))}data: {"cand\n\n`))).toMatchObject({
      code: "invalid_json",
    });
  });

  it("takes a whole answer, and a list of chunks, where the server doesn't stream", async () => {
    for (const body of [
      chunk([{ text: "Hello" }], { finishReason: "STOP" }),
      [chunk([{ text: "Hel" }]), chunk([{ text: "lo" }], { finishReason: "STOP" })],
    ]) {
      const server = await listen((response) => response.end(JSON.stringify(body)));
      const parts = await collect(connect("gemini", { baseUrl: server.baseUrl }));
      await server.close();
      expect(items(parts)).toEqual([{ kind: "assistant_message", text: "Hello" }]);
      expect(last(parts)).toMatchObject({ type: "finished", finish: "stop" });
    }
  });
});

describe("a request to the Gemini API", () => {
  it("carries the key in the header it wants, to the same place with and without the version in the base URL", async () => {
    const server = await listen((response) => response.end(sse(end("STOP"))));
    const bare = server.baseUrl.slice(0, -"/v1".length);
    for (const baseUrl of [bare, `${bare}/v1beta/`, `${bare}/v1?x=1`]) await collect(connect("gemini", { baseUrl }));
    const tuned = geminiWire({ provider: "google", model: "models/a b/c" });
    await collect(createHttpModel(tuned, { id: "google/models/a b/c", baseUrl: bare, apiKey: async () => null }));
    expect(server.requests.map((request) => request.url)).toEqual([
      "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
      "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
      "/v1/models/gemini-3-pro:streamGenerateContent?x=1&alt=sse",
      "/v1beta/models/a%20b/c:streamGenerateContent?alt=sse",
    ]);
    expect(server.requests[0]?.headers).toMatchObject({ "x-goog-api-key": "sk-loopback-key" });
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(server.requests[3]?.headers).not.toHaveProperty("x-goog-api-key");
    await server.close();
  });

  it("that is refused is told apart by what the details say, and waits as long as they do", async () => {
    const failWith = async (code: number, status: string, details: readonly object[]) => {
      const server = await listen((response) =>
        response.writeHead(code).end(JSON.stringify({ error: { code, status, message: "Oops", details } })),
      );
      const parts = await collect(connect("gemini", { baseUrl: server.baseUrl }));
      await server.close();
      return errorOf(parts);
    };
    expect(await failWith(400, "INVALID_ARGUMENT", [{ reason: "API_KEY_INVALID" }])).toMatchObject({ class: "auth", status: 400 });
    expect(await failWith(400, "INVALID_ARGUMENT", [])).toMatchObject({ class: "invalid_request", code: "INVALID_ARGUMENT" });
    const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.074824224s" };
    expect(await failWith(429, "RESOURCE_EXHAUSTED", [{ violations: [] }, retry])).toMatchObject({
      class: "rate_limited",
      retryAfterMs: 34_075,
    });
  });
});
