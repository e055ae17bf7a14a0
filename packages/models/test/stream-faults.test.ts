import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { StreamPart } from "@holdfast/runtime";
import type { WireName } from "../src/index.ts";
import { answerOf, counted, framed, speak, wires, type Frame, type Said } from "./dialects.ts";
import { collect, connect, errorOf, items, last, listen, requestOf, sampleBytes, sse, type Answer, type Loopback } from "./loopback.ts";

/** Faults that other programs had with model streams, each by its kind, on every wire it can occur on. */

let server: Loopback | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const answer: readonly Said[] = [{ text: ["Hel", "lo"] }, { call: "write", input: ['{"path":', '"a.txt"}'] }];
const whole = [
  { kind: "assistant_message", text: "Hello" },
  { kind: "tool_call", name: "write", input: '{"path":"a.txt"}' },
];

function expectWhole(parts: readonly StreamPart[]): void {
  expect(items(parts)).toMatchObject(whole);
  expect(items(parts)).toHaveLength(whole.length);
  expect(last(parts)).toMatchObject({ type: "finished", finish: "calls", usage: counted });
}
function calls(parts: readonly StreamPart[]): string[] {
  expect(last(parts)).toMatchObject({ type: "finished", finish: "calls" });
  return items(parts).flatMap((item) => (item.kind === "tool_call" ? [`${item.name} ${item.input}`] : []));
}
const two = ['f {"x":1}', 'g {"y":2}'];

/** The frames of an answer as one text, each written its own way. */
function written(wire: WireName, write: (frame: Frame, index: number) => string): string {
  return speak[wire](answer, "calls").map(write).join("");
}
const named = ({ name }: Frame): string => (name === null ? "" : `event: ${name}\n`);
const dataOf = ({ data }: Frame): string => (typeof data === "string" ? data : JSON.stringify(data));

const framings: readonly (readonly [string, (wire: WireName) => string])[] = [
  ["two data lines", (wire) => written(wire, (frame) => `${named(frame)}data: ${dataOf(frame).replace(",", ",\ndata: ")}\n\n`)],
  ["CRLF", (wire) => written(wire, (frame) => framed(frame).replaceAll("\n", "\r\n"))],
  ["CR alone", (wire) => written(wire, (frame) => framed(frame).replaceAll("\n", "\r"))],
  ["comments", (wire) => written(wire, (frame) => `: keep-alive\n\n: more\n${framed(frame)}`)],
  ["no space behind the colon", (wire) => written(wire, (frame) => framed(frame).replaceAll(": ", ":"))],
  ["a byte order mark", (wire) => `\ufeff${written(wire, framed)}`],
  ["no blank line at the end", (wire) => written(wire, framed).trimEnd()],
  ["empty events", (wire) => written(wire, (frame) => `data:\n\nevent: message\n\n${framed(frame)}`)],
];

describe.each(wires)("%s", (wire) => {
  it("T01 utf8-split-in-SSE: an answer that comes byte by byte is the same to the character", async () => {
    const text = "你—😀";
    const said: readonly Said[] = [{ text: [text] }, { call: "write", input: ['{"content":"你—\\ud83d', '\\ude00"}'] }];
    const bytes = new TextEncoder().encode(answerOf(wire, said, "calls"));
    server = await listen(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const byte of bytes) await new Promise((resolve) => response.write(Uint8Array.of(byte), resolve));
      response.end();
    });
    const [message, call] = items(await collect(connect(wire, { baseUrl: server.baseUrl })));
    expect(message).toEqual({ kind: "assistant_message", text });
    expect(JSON.parse(call?.kind === "tool_call" ? call.input : "")).toEqual({ content: text });
  });

  it.each(framings)("T02 SSE framing: %s", async (_, stream) => {
    expectWhole(await sampleBytes(wire, stream(wire)));
  });

  it("T02 SSE framing: an event of 8 MB", async () => {
    const long = "x".repeat(8_000_000);
    const parts = await sampleBytes(wire, answerOf(wire, [{ text: [long] }], "stop"));
    expect(items(parts)).toEqual([{ kind: "assistant_message", text: long }]);
  });

  it("T03 unknown event type: events of others and fields nobody knows are passed over", async () => {
    const foreign = 'event: vendor.progress\ndata: 12 %\n\nevent: ping\ndata: {"a":1}\n\ndata: {"type":"ping"}\n\n';
    const odd = ({ name, data }: Frame): Frame => ({ name, data: typeof data === "string" ? data : { ...data, odd: { deep: true } } });
    expectWhole(await sampleBytes(wire, written(wire, (frame) => foreign + framed(odd(frame))) + foreign));
  });

  it("T09 tool-call delta routing: interleaved pieces go to their own call, and calls come in the answer's order", async () => {
    for (const stream of interleaved[wire]) expect(calls(await sampleBytes(wire, stream))).toEqual(two);
  });

  it("T10 same index: calls that carry one index, or one id, or none, are all there", async () => {
    for (const stream of sameIndex[wire]) expect(calls(await sampleBytes(wire, stream))).toEqual(two);
  });

  it("T11 parallel call dropped: two whole calls at once are two calls", async () => {
    expect(calls(await sampleBytes(wire, atOnce[wire]))).toEqual(two);
  });

  it("T22 truncation as success: a stream without its final event is cut, however it ends", async () => {
    expect(errorOf(await sampleBytes(wire, answerOf(wire, [{ text: ["Hello", " there"] }], null)))).toMatchObject({
      class: "cut",
      code: "no_end",
    });
    server = await listen((response) => {
      begin(response, wire, [{ text: ["Hello"] }]);
      setTimeout(() => response.socket?.resetAndDestroy(), 20);
    });
    expect(errorOf(await collect(connect(wire, { baseUrl: server.baseUrl })))).toMatchObject({ class: "cut" });
  });

  const silences: readonly (readonly [string, Answer])[] = [
    ["without headers", () => undefined],
    ["after three pieces", (response) => begin(response, wire, [{ text: ["a", "b", "c"] }])],
    [
      "with pings alone",
      (response) => {
        begin(response, wire, [{ text: ["a"] }]);
        const timer = setInterval(() => response.write(': ping\n\nevent: ping\ndata: {"type":"ping"}\n\n'), 10);
        response.on("close", () => clearInterval(timer));
      },
    ],
  ];
  it.each(silences)("T14 idle stream: silence %s is given up, and the connection closed", async (_, silent) => {
    let onClose: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (onClose = resolve));
    server = await listen((response, index) => {
      response.on("close", onClose);
      return silent(response, index);
    });
    const error = errorOf(await collect(connect(wire, { baseUrl: server.baseUrl, idleTimeoutMs: 60 })));
    expect(error).toMatchObject({ class: "network", code: "idle_timeout" });
    expect(await closed).toBeUndefined();
  });

  it.each(silences)("T14 idle stream: a cancel in a silence %s works at once", async (_, silent) => {
    server = await listen(silent);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 40);
    const parts = await collect(connect(wire, { baseUrl: server.baseUrl }), requestOf(), abort.signal);
    expect(parts.filter((part) => part.type === "finished" || part.type === "failed")).toEqual([]);
  });
});

function begin(response: ServerResponse, wire: WireName, said: readonly Said[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(answerOf(wire, said, null));
}

// Each wire's own ways of telling two calls, `f {"x":1}` and `g {"y":2}`.

const chatCalls = (...lists: readonly (readonly object[])[]): string =>
  sse(
    ...lists.map((tool_calls) => ({ choices: [{ delta: { tool_calls } }] })),
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    "[DONE]",
  );
const fragment = (index: number | null, id: string | null, name: string | null, args: string) => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id }),
  function: { ...(name === null ? {} : { name }), arguments: args },
});
const item = (name: string, args: string, more: object = {}) => ({ type: "function_call", name, arguments: args, ...more });
const added = (output_index: number, name: string) => ({ type: "response.output_item.added", output_index, item: item(name, "") });
const grown = (output_index: number, delta: string) => ({ type: "response.function_call_arguments.delta", output_index, delta });
const done = (output_index: number, name: string, args: string, more: object = {}) => ({
  type: "response.output_item.done",
  output_index,
  item: item(name, args, more),
});
const completed = { type: "response.completed", response: {} };
const used = (index: number, name: string, id: string | null, input: object = {}) => ({
  type: "content_block_start",
  index,
  content_block: { type: "tool_use", name, input, ...(id === null ? {} : { id }) },
});
const piece = (index: number, partial_json: string) => ({
  type: "content_block_delta",
  index,
  delta: { type: "input_json_delta", partial_json },
});
const stopped = [{ type: "message_delta", delta: { stop_reason: "tool_use" } }, { type: "message_stop" }];
const called = (name: string, args: object, id?: string) => ({ functionCall: { name, args, ...(id === undefined ? {} : { id }) } });
const chunk = (...parts: readonly object[]) => ({ candidates: [{ content: { parts } }] });
const halted = { candidates: [{ finishReason: "STOP" }] };

const interleaved: Readonly<Record<WireName, readonly string[]>> = {
  responses: [
    sse(added(0, "f"), added(1, "g"), grown(0, '{"x":'), grown(1, '{"y":'), grown(0, "1}"), grown(1, "2}"), completed),
    sse(
      added(1, "g"),
      grown(1, '{"y":2}'),
      added(0, "f"),
      done(1, "g", '{"y":2}'),
      grown(0, '{"x":1}'),
      done(0, "f", '{"x":1}'),
      completed,
    ),
  ],
  chat: [
    chatCalls(
      [fragment(0, "A", "f", "")],
      [fragment(1, "B", "g", "")],
      [fragment(0, null, null, '{"x":')],
      [fragment(1, null, null, '{"y":')],
      [fragment(0, null, null, "1}")],
      [fragment(1, null, null, "2}")],
    ),
    chatCalls(
      [fragment(1, "B", "g", '{"y":')],
      [fragment(0, null, "f", '{"x":')],
      [fragment(0, "A", null, "1}")],
      [fragment(1, null, null, "2}")],
    ),
  ],
  messages: [
    sse(used(0, "f", "A"), used(1, "g", "B"), piece(0, '{"x":'), piece(1, '{"y":'), piece(0, "1}"), piece(1, "2}"), ...stopped),
    sse(used(1, "g", "B"), used(0, "f", "A"), piece(1, '{"y":'), piece(0, '{"x":'), piece(1, "2}"), piece(0, "1}"), ...stopped),
  ],
  // Calls come whole here; what can be interleaved is text between them.
  gemini: [sse(chunk(called("f", { x: 1 })), chunk({ text: "and" }), chunk(called("g", { y: 2 })), halted)],
};

const sameIndex: Readonly<Record<WireName, readonly string[]>> = {
  responses: [
    sse(added(0, "f"), done(0, "f", '{"x":1}', { call_id: "A" }), added(0, "g"), done(0, "g", '{"y":2}', { call_id: "B" }), completed),
    sse(added(0, "f"), done(0, "f", '{"x":1}'), added(0, "g"), done(0, "g", '{"y":2}'), completed),
    sse(done(0, "f", '{"x":1}', { call_id: "A" }), done(1, "g", '{"y":2}', { call_id: "A" }), completed),
    sse(done(0, "f", '{"x":1}', { call_id: "" }), done(1, "g", '{"y":2}', { call_id: "" }), completed),
  ],
  chat: [
    chatCalls([fragment(0, "A", "f", '{"x":1}')], [fragment(0, "B", "g", '{"y":2}')]),
    chatCalls([fragment(0, null, "f", '{"x":1}')], [fragment(0, null, "g", '{"y":2}')]),
    chatCalls([fragment(0, "A", "f", '{"x":1}')], [fragment(0, "A", "g", '{"y":2}')]),
    chatCalls([fragment(0, "", "f", '{"x":1}')], [fragment(0, "", "g", '{"y":2}')]),
    chatCalls([fragment(null, null, "f", '{"x":1}')], [fragment(null, null, "g", '{"y":2}')]),
  ],
  messages: [
    sse(used(0, "f", "A"), piece(0, '{"x":1}'), used(0, "g", "B"), piece(0, '{"y":2}'), ...stopped),
    sse(used(0, "f", null), piece(0, '{"x":1}'), used(0, "g", null), piece(0, '{"y":2}'), ...stopped),
    sse(used(0, "f", "A"), piece(0, '{"x":1}'), used(1, "g", "A"), piece(1, '{"y":2}'), ...stopped),
    sse(used(0, "f", ""), piece(0, '{"x":1}'), used(1, "g", ""), piece(1, '{"y":2}'), ...stopped),
  ],
  gemini: [
    sse(chunk(called("f", { x: 1 }, "A")), chunk(called("g", { y: 2 }, "A")), halted),
    sse(chunk(called("f", { x: 1 }, "")), chunk(called("g", { y: 2 }, "")), halted),
    sse(chunk(called("f", { x: 1 })), chunk(called("g", { y: 2 })), halted),
  ],
};

const atOnce: Readonly<Record<WireName, string>> = {
  responses: sse({ type: "response.completed", response: { output: [item("f", '{"x":1}'), item("g", '{"y":2}')] } }),
  chat: chatCalls([fragment(0, "A", "f", '{"x":1}'), fragment(1, "B", "g", '{"y":2}')]),
  messages: sse(used(0, "f", "A", { x: 1 }), used(1, "g", "B", { y: 2 }), ...stopped),
  gemini: sse(chunk(called("f", { x: 1 }), called("g", { y: 2 })), halted),
};
