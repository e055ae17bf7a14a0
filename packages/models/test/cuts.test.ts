import type { StreamPart } from "@holdfast/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collect, connect, items, last, listen, requestOf, sse, type Loopback, type WireName } from "./loopback.ts";

const text = "你—😀";
const message = { type: "message", content: [{ type: "output_text", text }] };
const call = { type: "function_call", name: "t", arguments: '{"a":"é"}' };
const samples = {
  responses: sse(
    { type: "response.output_text.delta", output_index: 0, delta: text },
    { type: "response.output_item.done", output_index: 0, item: message },
    { type: "response.output_item.done", output_index: 1, item: call },
    { type: "response.completed", response: { usage: { input_tokens: 1, output_tokens: 2 } } },
  ),
  chat: sse(
    { choices: [{ delta: { content: "你" } }] },
    { choices: [{ delta: { content: "—😀", tool_calls: [{ index: 0, id: "A", function: { name: "t", arguments: '{"a":"é"}' } }] } }] },
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
    "[DONE]",
  ),
};
/** From this many bytes on, what is there is a complete answer. */
const completeAt = {
  responses: new TextEncoder().encode(samples.responses).length - "\n\n".length,
  chat: new TextEncoder().encode(samples.chat.slice(0, samples.chat.indexOf('"tool_calls"}]}') + '"tool_calls"}]}'.length)).length,
};
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
    const [, wire, stop, at] = /CUT (responses|chat) (end|destroy|split) (\d+)/.exec(body) ?? [];
    const bytes = new TextEncoder().encode(samples[wire as WireName]);
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
  const length = new TextEncoder().encode(samples[wire]).length;
  const positions = Array.from({ length: length + 1 }, (_, at) => at);
  const worker = async (): Promise<void> => {
    for (let at = positions.pop(); at !== undefined; at = positions.pop()) check(await sampleAt(wire, stop, at), at);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

describe.each(["responses", "chat"] as const)("a %s stream", (wire) => {
  it("that ends early anywhere is cut, and finished only where the answer is complete", async () => {
    await everywhere(wire, "end", (parts, at) => {
      expect(endOf(parts), `cut at ${at}`).toBe(at >= completeAt[wire] ? "finished with its answer" : "cut");
    });
  });

  it("whose connection breaks anywhere never finishes without its answer, and never throws", async () => {
    await everywhere(wire, "destroy", (parts, at) => {
      // Bytes that were sent may still be lost with the connection, so even a whole answer may end as cut.
      const possible = at >= completeAt[wire] ? ["finished with its answer", "cut", "network"] : ["cut", "network"];
      expect(possible, `broken at ${at}`).toContain(endOf(parts));
    });
  });

  it("that arrives in two pieces, split anywhere, is the same", async () => {
    await everywhere(wire, "split", (parts, at) => {
      expect(last(parts), `split at ${at}`).toMatchObject({ type: "finished", usage: { inputTokens: 1, outputTokens: 2 } });
      expect(items(parts), `split at ${at}`).toEqual(expected);
    });
  });
});
