import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Item } from "@holdfast/protocol";
import type { Model, SamplingRequest, StreamPart } from "@holdfast/runtime";
import { chatWire, createHttpModel, geminiWire, messagesWire, responsesWire, type HttpModelOptions, type WireName } from "../src/index.ts";

export interface Loopback {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** Bodies of the requests so far. */
  readonly bodies: string[];
  readonly requests: IncomingMessage[];
  close(): Promise<void>;
}

/** Answers the request with this number, from 0. */
export type Answer = (response: ServerResponse, index: number) => unknown;

/** A real server on the loopback interface. */
export async function listen(answer: Answer): Promise<Loopback> {
  const bodies: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push(request);
      bodies.push(Buffer.concat(chunks).toString("utf8"));
      void answer(response, bodies.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const identities = {
  responses: { provider: "openai", model: "gpt-5" },
  chat: { provider: "openai-compatible", model: "qwen" },
  messages: { provider: "anthropic", model: "claude-opus-5" },
  gemini: { provider: "google", model: "gemini-3-pro" },
} as const;

export function wireOf(name: WireName) {
  switch (name) {
    case "responses":
      return responsesWire(identities.responses);
    case "chat":
      return chatWire(identities.chat);
    case "messages":
      return messagesWire(identities.messages);
    case "gemini":
      return geminiWire(identities.gemini);
  }
}

export function connect(name: WireName, options: Partial<HttpModelOptions> & { readonly baseUrl: string }): Model {
  const { provider, model } = identities[name];
  return createHttpModel(wireOf(name), { id: `${provider}/${model}`, apiKey: async () => "sk-loopback-key", ...options });
}

export const hello: readonly Item[] = [{ kind: "user_message", id: "i1", trust: "user", parts: [{ type: "text", text: "Hello" }] }];

export function requestOf(items: readonly Item[] = hello, more: Partial<SamplingRequest> = {}): SamplingRequest {
  return {
    instructions: "Be brief.",
    tools: [],
    items,
    cacheKey: "session_1",
    effort: null,
    maxOutputTokens: null,
    image: async () => null,
    ...more,
  };
}

export async function collect(model: Model, request = requestOf(), signal = new AbortController().signal): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of model.sample(request, signal)) parts.push(part);
  return parts;
}

/** Samples once from a server that answers with these bytes as an event stream. */
export async function sampleBytes(wire: WireName, bytes: Uint8Array | string, more: Partial<HttpModelOptions> = {}): Promise<StreamPart[]> {
  const server = await listen((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(bytes);
  });
  try {
    return await collect(connect(wire, { baseUrl: server.baseUrl, ...more }));
  } finally {
    await server.close();
  }
}

export function sse(...events: readonly (object | string)[]): string {
  return events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
}

export function items(parts: readonly StreamPart[]) {
  return parts.flatMap((part) => (part.type === "item" ? [part.item] : []));
}

export function last(parts: readonly StreamPart[]): StreamPart {
  const part = parts.at(-1);
  if (part === undefined) throw new Error("no parts at all");
  return part;
}

/** The error a sampling ended with. */
export function errorOf(parts: readonly StreamPart[]) {
  const part = last(parts);
  if (part.type !== "failed") throw new Error(`ended as ${part.type}`);
  return part.error;
}

/** Streamed text by item, to hold against the items themselves. */
export function streamed(parts: readonly StreamPart[], type: "text.delta" | "reasoning.delta" | "call.delta"): string[] {
  const texts = new Map<number, string>();
  for (const part of parts) if (part.type === type) texts.set(part.index, (texts.get(part.index) ?? "") + part.text);
  return [...texts.values()];
}
