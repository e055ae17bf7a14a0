import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSseReader, type SseEvent } from "../src/sse.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

function read(...chunks: readonly Uint8Array[]): SseEvent[] {
  const reader = createSseReader();
  return [...chunks.flatMap((chunk) => reader.feed(chunk)), ...reader.end()];
}

const data = (...texts: readonly string[]): SseEvent[] => texts.map((text) => ({ name: null, data: text }));

describe("server-sent events", () => {
  it.each([
    ["two data lines", "data: a\ndata: b\n\n", data("a\nb")],
    ["CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", data("a", "b")],
    ["CR alone", "data: a\r\rdata: b\r\r", data("a", "b")],
    ["comments", ": hello\n\ndata: a\n: more\n\n", data("a")],
    ["no space behind the colon", "data:a\n\n", data("a")],
    ["a byte order mark", "\ufeffdata: a\n\n", data("a")],
    ["no blank line at the end", "data: a\n\ndata: b", data("a", "b")],
    ["an empty event", "\n\nevent: x\n\ndata: a\n\n", data("a")],
    ["ids and retries", "id: 1\nretry: 10\nevent: x\ndata: a\n\n", [{ name: "x", data: "a" }]],
    ["unknown fields", "foo: 1\nbar\ndata: a\n\n", data("a")],
  ])("are read with %s, and the same in pieces of one byte", (_, text, events) => {
    expect(read(encode(text))).toEqual(events);
    expect(read(...Array.from(encode(text), (byte) => Uint8Array.of(byte)))).toEqual(events);
  });

  it("keep characters that are split between chunks", () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n\0]/g, "").toWellFormed());
    const cuts = fc.array(fc.nat(400), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), cuts, fc.constantFrom("\n", "\r\n", "\r"), (lines, at, end) => {
        const bytes = encode(lines.map((text) => `data: ${text}${end}${end}`).join(""));
        const points = [0, ...at.map((point) => Math.min(point, bytes.length)), bytes.length].toSorted((a, b) => a - b);
        const chunks = points.slice(1).map((point, i) => bytes.subarray(points[i], point));
        expect(read(...chunks)).toEqual(data(...lines));
      }),
    );
  });

  it("that never end are refused before they fill the memory", () => {
    const reader = createSseReader(1000);
    expect(reader.feed(encode(`data: ${"x".repeat(900)}`))).toEqual([]);
    expect(() => reader.feed(encode("x".repeat(200)))).toThrow("larger than 1000 characters");
  });

  it("can be 8 MB large", () => {
    const large = "x".repeat(8 * 1024 * 1024);
    const bytes = encode(`data: ${large}\n\n`);
    const chunks = Array.from({ length: 129 }, (_, i) => bytes.subarray(i * 65_536, (i + 1) * 65_536));
    expect(read(...chunks)[0]?.data.length).toBe(large.length);
  });
});
