import { afterEach, describe, expect, it, vi } from "vitest";
import { createSseReader } from "../src/sse.ts";
import { answerOf, wires } from "./dialects.ts";
import { items, sampleBytes } from "./loopback.ts";

/** Fault area 14, streams: faults that other programs had, each by its kind and id. Work is counted, time isn't. */

afterEach(() => vi.restoreAllMocks());

/** Calls within code: fragments that end and begin objects all the time. */
const content = (length: number): string => "}{".repeat(length / 2);

async function charactersParsed(wire: (typeof wires)[number], length: number): Promise<number> {
  const input = JSON.stringify({ path: "a.js", content: content(length) });
  const bytes = answerOf(wire, [{ call: "write_file", input: wire === "gemini" ? [input] : [...input] }], "calls");
  let parsed = 0;
  const parse = JSON.parse;
  const spy = vi.spyOn(JSON, "parse").mockImplementation((text: string, reviver?: Parameters<typeof JSON.parse>[1]) => {
    parsed += text.length;
    return parse(text, reviver) as unknown;
  });
  const parts = await sampleBytes(wire, bytes);
  spy.mockRestore();
  expect(items(parts)).toMatchObject([{ kind: "tool_call", name: "write_file", input }]);
  return parsed;
}

describe.each(wires)("%s", (wire) => {
  it("F01 O(n^2) argument parse: ten times the fragments of one character are ten times the characters parsed", async () => {
    const small = await charactersParsed(wire, 2_000);
    expect(await charactersParsed(wire, 20_000)).toBeLessThan(small * 11);
  });
});

it("F08 O(n^2) SSE framing: one event of 16 MB in chunks of 1 kB is read, which searching it anew at each would never end", () => {
  const size = 16 * 1024 * 1024;
  const reader = createSseReader();
  const chunk = new TextEncoder().encode("x".repeat(1024));
  const events = reader.feed(new TextEncoder().encode("data: "));
  for (let sent = 0; sent < size; sent += chunk.length) events.push(...reader.feed(chunk));
  events.push(...reader.feed(new TextEncoder().encode("\n\n")));
  expect(events.map(({ data }) => data.length)).toEqual([size]);
});
