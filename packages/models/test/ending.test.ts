import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { StreamPart } from "@holdfast/runtime";
import { collect, connect, errorOf, items, last, listen, requestOf, sse, type Answer, type Loopback } from "./loopback.ts";

let server: Loopback | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const delta = { type: "response.output_text.delta", output_index: 0, delta: "Hel" };

/** A server that notes when the client's connection closes. */
async function watched(answer: Answer) {
  let onClose: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (onClose = resolve));
  server = await listen((response, index) => {
    response.on("close", onClose);
    return answer(response, index);
  });
  return { server, closed };
}

function begin(response: ServerResponse, ...events: readonly object[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  if (events.length > 0) response.write(sse(...events));
}

describe("an abort", () => {
  it.each([
    ["before headers", () => undefined],
    ["before the first event", (response: ServerResponse) => begin(response)],
    ["inside the stream", (response: ServerResponse) => begin(response, delta)],
  ])("%s ends the stream quietly and closes the connection", async (_, answer) => {
    const { server, closed } = await watched(answer);
    const abort = new AbortController();
    const parts: StreamPart[] = [];
    setTimeout(() => abort.abort(), 50);
    for await (const part of connect("responses", { baseUrl: server.baseUrl }).sample(requestOf(), abort.signal)) parts.push(part);
    expect(parts.filter((part) => part.type === "failed" || part.type === "finished")).toEqual([]);
    await closed;
  });

  it("drops what had arrived already", async () => {
    const { server } = await watched((response) => {
      begin(response, delta, delta, { type: "response.completed", response: {} });
      response.end();
    });
    const abort = new AbortController();
    const types: string[] = [];
    for await (const part of connect("responses", { baseUrl: server.baseUrl }).sample(requestOf(), abort.signal)) {
      types.push(part.type);
      if (part.type === "text.delta") abort.abort();
    }
    expect(types).toEqual(["started", "text.delta"]);
  });

  it("that came before sends nothing", async () => {
    const { server } = await watched((response) => response.end());
    expect(await collect(connect("chat", { baseUrl: server.baseUrl }), requestOf(), AbortSignal.abort())).toEqual([]);
    expect(server.bodies).toEqual([]);
  });

  it("works where the host's fetch and the key's source take no notice of it", async () => {
    const never = new Promise<never>(() => undefined);
    const abort = () => AbortSignal.timeout(20);
    expect(await collect(connect("chat", { baseUrl: "http://127.0.0.1", fetch: () => never }), requestOf(), abort())).toEqual([]);
    expect(await collect(connect("chat", { baseUrl: "http://127.0.0.1", apiKey: () => never }), requestOf(), abort())).toEqual([]);
    const silent = async () => new Response(new ReadableStream({ pull: () => never }));
    expect(await collect(connect("chat", { baseUrl: "http://127.0.0.1", fetch: silent }), requestOf(), abort())).toEqual([]);
  });

  it("by a consumer that stops reading closes the connection", async () => {
    const { server, closed } = await watched((response) => begin(response, delta));
    for await (const part of connect("responses", { baseUrl: server.baseUrl }).sample(requestOf(), new AbortController().signal)) {
      if (part.type === "text.delta") break;
    }
    expect(await closed).toBeUndefined();
  });
});

describe("a silent stream", () => {
  it.each([
    ["without headers", () => undefined],
    ["without events", (response: ServerResponse) => begin(response)],
    ["after some events", (response: ServerResponse) => begin(response, delta)],
    ["inside a JSON document", (response: ServerResponse) => response.write('{"object":"resp')],
  ])("%s is given up", async (_, answer) => {
    const { server, closed } = await watched(answer);
    const parts = await collect(connect("responses", { baseUrl: server.baseUrl, idleTimeoutMs: 80 }));
    expect(errorOf(parts)).toMatchObject({ class: "network", code: "idle_timeout" });
    await closed;
  });

  it("inside an error's body leaves the error what it is", async () => {
    const { server } = await watched((response) => response.writeHead(503).write('{"error":'));
    const parts = await collect(connect("responses", { baseUrl: server.baseUrl, idleTimeoutMs: 80 }));
    expect(errorOf(parts)).toMatchObject({ class: "overloaded", status: 503 });
  });

  it("that only pings is given up too, later", async () => {
    const timers: NodeJS.Timeout[] = [];
    const { server } = await watched((response) => {
      begin(response, delta);
      timers.push(setInterval(() => response.write(': ping\n\nevent: ping\ndata: {}\n\ndata: {"type":"keepalive"}\n\n'), 10));
    });
    const error = errorOf(await collect(connect("responses", { baseUrl: server.baseUrl, idleTimeoutMs: 100 })));
    for (const timer of timers) clearInterval(timer);
    expect(error).toMatchObject({ class: "network", code: "idle_timeout" });
  });

  it("is kept while slow pieces of it arrive", async () => {
    const bytes = new TextEncoder().encode(sse(delta, { type: "response.completed", response: {} }));
    const { server } = await watched(async (response) => {
      begin(response);
      for (let at = 0; at < bytes.length; at += 16) {
        response.write(bytes.subarray(at, at + 16));
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
      response.end();
    });
    // Slower as a whole than silence may be.
    const parts = await collect(connect("responses", { baseUrl: server.baseUrl, idleTimeoutMs: 1000 }));
    expect(last(parts).type).toBe("finished");
    expect(items(parts)).toEqual([{ kind: "assistant_message", text: "Hel" }]);
  });

  it("is complete where only the end mark never comes", async () => {
    const { server } = await watched((response) => begin(response, { choices: [{ delta: { content: "Hello" }, finish_reason: "stop" }] }));
    const parts = await collect(connect("chat", { baseUrl: server.baseUrl, idleTimeoutMs: 80 }));
    expect(items(parts)).toEqual([{ kind: "assistant_message", text: "Hello" }]);
    expect(last(parts)).toMatchObject({ type: "finished", finish: "stop" });
  });
});
