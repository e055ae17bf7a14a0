import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeOutput, outputDecoder } from "../src/output/decode.ts";
import { outputPart, searchOutput } from "../src/output/read.ts";
import { outputWindow, windowBytes, type ReadOutput } from "../src/output/window.ts";

const of = (text: string) => new TextEncoder().encode(text);
const reader =
  (all: Uint8Array): ReadOutput =>
  async (offset, length) => ({ bytes: all.slice(offset, offset + length), size: all.length });

describe("decoding", () => {
  test("however the bytes are cut, the text is the same", () => {
    const piece = fc.oneof(
      fc
        .constantFrom("\x1b[31m", "\x1b]0;t\x07", "\x1b]8;;u\x1b\\", "\x1b(B", "\x1b", "\r\n", "\r", "\n", "€", "😀", "\0", "\x9b", "a")
        .map((text) => [...of(text)]),
      fc.array(fc.nat({ max: 255 }), { maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat({ max: 40 }), { maxLength: 6 }), (pieces, cuts) => {
        const bytes = Uint8Array.from(pieces.flat());
        const decoder = outputDecoder();
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
        const parts = places.slice(1).map((end, index) => decoder.push(bytes.subarray(places[index], end)));
        expect(parts.join("") + decoder.end()).toBe(decodeOutput(bytes));
      }),
      { numRuns: 500 },
    );
  });

  test("text stays, and nothing that could move a cursor or break JSON comes out", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = decodeOutput(bytes);
        expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]/u);
      }),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "é", "漢", "😀", "\u{10fff0}", "\n", "\t", "\\x00") }),
        (text) => decodeOutput(of(text)) === text,
      ),
    );
  });

  test("a sequence that never ends swallows nothing", () => {
    expect(decodeOutput(of("a\x1b]0;title without end\nb"))).toBe("a\\x1b]0;title without end\nb");
    const decoder = outputDecoder();
    expect(decoder.push(of(`\x1b]${"x".repeat(5000)}`))).toContain("x".repeat(5000));
  });

  test("bytes that are no UTF-8 are shown one by one", () => {
    expect(decodeOutput(Uint8Array.from([0xe4, 0xbd, 0x41, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0xf0, 0x9f]))).toBe(
      "\\xe4\\xbdA\\xc0\\x80\\xed\\xa0\\x80\\xf0\\x9f",
    );
  });
});

describe("the window of a result", () => {
  test("a short output is whole", async () => {
    expect(await outputWindow(reader(of("hello\n")), "more")).toEqual({ text: "hello\n", size: 6, isWhole: true });
    expect(await outputWindow(reader(of("")), "more")).toEqual({ text: "", size: 0, isWhole: true });
  });

  test("of a long one it keeps both ends, whole characters, and the count of what is left out", async () => {
    for (const line of ["😀", "漢字x", "word\n", "é\n"]) {
      const all = of(line.repeat(10_000));
      const { text, isWhole } = await outputWindow(reader(all), "more");
      const [, count] = /\[(\d+) bytes left out; more\]/.exec(text)!;
      const [head, tail] = text.split(/\n?\[\d+ bytes left out; more\]\n/) as [string, string];
      expect(isWhole).toBe(false);
      expect(text).not.toMatch(/\\x|\ufffd/);
      const shown = of(head).length + of(tail).length;
      expect([0, 1]).toContain(all.length - Number(count) - shown);
      expect(line.repeat(10_000).endsWith(tail)).toBe(true);
    }
  });

  test("an output that is mostly escapes does not outgrow it", async () => {
    const { text, isWhole } = await outputWindow(reader(new Uint8Array(windowBytes)), "more");
    expect(text.length).toBeLessThan(windowBytes * 3);
    expect(isWhole).toBe(false);
  });
});

describe("reading on", () => {
  test("parts that follow each other give the whole", async () => {
    const text = "line of text with é and 😀\n".repeat(3000);
    let all = "";
    for (let offset = 0; ;) {
      const part = await outputPart(reader(of(text)), offset);
      const found = /^\[bytes (\d+) to (\d+) of (\d+)\]\n/.exec(part)!;
      all += part.slice(found[0].length);
      offset = Number(found[2]);
      if (offset === Number(found[3])) break;
    }
    expect(all).toBe(text);
  });

  test("a search gives offsets, also in lines longer than what is read at once", async () => {
    const text = `first\n${"y".repeat(2_500_000)}needle${"z".repeat(1000)}\nlast needle\n`;
    const found = await searchOutput(reader(of(text)), "needle", 0);
    expect(found.split("\n").at(-1)).toBe(`${text.indexOf("last")}: last needle`);
    expect(found).toMatch(/: ….*needle.*…/);
    expect(found.length).toBeLessThan(1000);
  });
});
