import type { StreamPart } from "@holdfast/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WireName } from "../src/index.ts";
import { wires } from "./dialects.ts";
import { collect, connect, items, last, listen, requestOf, sse, type Loopback } from "./loopback.ts";

const text = "你—😀";
const bytesOf = (part: string): Uint8Array => new TextEncoder().encode(part);

/** The shortest answers of each wire that are whole: every position in them is played. */
const samples: Readonly<Record<WireName, string>> = {
  responses: sse(
    { type: "response.output_text.delta", output_index: 0, delta: text },
    { type: "response.output_item.done", output_index: 0, item: { type: "message", content: [{ type: "output_text", text }] } },
    { type: "response.output_item.done", output_index: 1, item: { type: "function_call", name: "t", arguments: '{"a":"é"}' } },
    { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 2 } } },
  ),
  chat: sse(
    { choices: [{ delta: { content: "你" } }] },
    { choices: [{ delta: { content: "—😀", tool_calls: [{ index: 0, id: "A", function: { name: "t", arguments: '{"a":"é"}' } }] } }] },
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
    "[DONE]",
  ),
  messages: sse(
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_start", index: 1, content_block: { type: "tool_use", name: "t", input: {} } },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"a":"é"}' } },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { input_tokens: 1, output_tokens: 2 } },
    { type: "message_stop" },
  ),
  gemini: sse(
    { candidates: [{ content: { parts: [{ text: "你" }] } }] },
    { candidates: [{ content: { parts: [{ text: "—😀" }, { functionCall: { name: "t", args: { a: "é" } } }] } }] },
    {
      candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
    },
  ),
};
/** What says that the answer is complete: from its end on, what is there is one. */
const endings: Readonly<Record<WireName, string>> = {
  responses: '"output_tokens":2}}}',
  chat: '"tool_calls"}]}',
  messages: '"output_tokens":2}}',
  gemini: '"candidatesTokenCount":2}}',
};
function completeAt(wire: WireName): number {
  return bytesOf(samples[wire].slice(0, samples[wire].lastIndexOf(endings[wire]) + endings[wire].length)).length;
}
const expected = [
  { kind: "assistant_message", text },
  { kind: "tool_call", name: "t", input: '{"a":"é"}' },
];

/** How a sampling ended, and whether a finished one brought all there was to bring. */
function endOf(parts: readonly StreamPart[]): string {
  const end = last(parts);
  if (end.type === "failed") return end.error.class;
  return end.type === "finished" && JSON.stringify(items(parts)) === JSON.stringify(expected)
    ? "finished with its answer"
    : `not as it was (${end.type})`;
}

/** How a server stops after the bytes it sends. */
type Stop = "end" | "destroy" | "split";

/** The cut each request asks for stands in its instructions. */
let server: Loopback;
beforeAll(async () => {
  server = await listen((response, index) => {
    const body = server.bodies[index] ?? "";
    const [, wire, stop, at] = /CUT (\w+) (end|destroy|split) (\d+)/.exec(body) ?? [];
    const bytes = bytesOf(samples[wire as WireName]);
    const first = bytes.subarray(0, Number(at));
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (stop === "end") response.end(first);
    // In a turn of its own, so that the bytes are on their way.
    else if (stop === "destroy") response.write(first, () => setTimeout(() => response.destroy(), 1));
    else response.write(first, () => setTimeout(() => response.end(bytes.subarray(Number(at))), 1));
  });
});
afterAll(() => server.close());

async function sampleAt(wire: WireName, stop: Stop, at: number): Promise<StreamPart[]> {
  return collect(connect(wire, { baseUrl: server.baseUrl }), requestOf(undefined, { instructions: `CUT ${wire} ${stop} ${at}` }));
}

/** Every position, some at a time. */
async function everywhere(wire: WireName, stop: Stop, check: (parts: StreamPart[], at: number) => void): Promise<void> {
  const length = bytesOf(samples[wire]).length;
  const positions = Array.from({ length: length + 1 }, (_, at) => at);
  const worker = async (): Promise<void> => {
    for (let at = positions.pop(); at !== undefined; at = positions.pop()) check(await sampleAt(wire, stop, at), at);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

describe.each(wires)("a %s stream", (wire) => {
  it("T22 truncation as success: that ends early anywhere is cut, and finished only where the answer is complete", async () => {
    await everywhere(wire, "end", (parts, at) => {
      expect(endOf(parts), `cut at ${at}`).toBe(at >= completeAt(wire) ? "finished with its answer" : "cut");
    });
  });

  it("whose connection breaks anywhere never finishes without its answer, and never throws", async () => {
    await everywhere(wire, "destroy", (parts, at) => {
      // Bytes that were sent may still be lost with the connection, so even a whole answer may end as cut.
      const possible = at >= completeAt(wire) ? ["finished with its answer", "cut", "network"] : ["cut", "network"];
      expect(possible, `broken at ${at}`).toContain(endOf(parts));
    });
  });

  it("T01 utf8-split-in-SSE: that arrives in two pieces, split anywhere, is the same", async () => {
    await everywhere(wire, "split", (parts, at) => {
      expect(last(parts), `split at ${at}`).toMatchObject({ type: "finished", usage: { inputTokens: 1, outputTokens: 2 } });
      expect(items(parts), `split at ${at}`).toEqual(expected);
    });
  });
});
