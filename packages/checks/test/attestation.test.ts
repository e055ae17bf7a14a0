import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromBase64, toBase64 } from "../src/attestation/base64.ts";
import { openEnvelope, preAuthEncoding, sealEnvelope } from "../src/attestation/envelope.ts";
import { readStrictJson } from "../src/attestation/strict-json.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const problemOf = (text: string): string | undefined => {
  const opened = openEnvelope(bytesOf(text));
  return "problem" in opened ? opened.problem : undefined;
};

test("what is signed is DSSE's encoding, with lengths in bytes", () => {
  // The example of the specification.
  expect(preAuthEncoding("http://example.com/HelloWorld", "hello world")).toBe("DSSEv1 29 http://example.com/HelloWorld 11 hello world");
  expect(preAuthEncoding("é", "ü€")).toBe("DSSEv1 2 é 5 ü€");
});

test("any payload comes out of its envelope as it was", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.uint8Array({ minLength: 64, maxLength: 64 }), (payload, raw) => {
      const signature = toBase64(raw);
      expect(openEnvelope(bytesOf(sealEnvelope(payload, { keyId: "k", signature })))).toEqual({
        payloadType: "application/vnd.in-toto+json",
        payload,
        signatures: [{ keyId: "k", signature }],
      });
    }),
  );
});

test("base64 is read in both alphabets, and only where one text stands for the bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const text = Buffer.from(bytes).toString("base64");
      expect(toBase64(bytes)).toBe(text);
      expect(fromBase64(text)).toEqual(bytes);
      expect(fromBase64(text.replaceAll("+", "-").replaceAll("/", "_"))).toEqual(bytes);
    }),
  );
  for (const text of ["QQ", "QQ=", "QR==", "Q Q=", "QQ==\n", "+_==", "=QQ=", "QQ===", "Q", "ä==="])
    expect(fromBase64(text), text).toBeNull();
});

describe("JSON that readers could understand in two ways is refused", () => {
  test.each([
    ['{"a":1,"a":2}', 'the key "a" stands twice'],
    ['{"a":{"b":1},"c":[{"d":1,"e":2,"d":3}]}', 'the key "d" stands twice'],
    ['{"a":1,"\\u0061":2}', 'the key "a" stands twice'],
    ['{"__proto__":1,"__proto__":2}', 'the key "__proto__" stands twice'],
    ["[".repeat(33) + "]".repeat(33), "it is nested deeper than 32"],
    ["[".repeat(2_000_000), "it is nested deeper than 32"],
    ['{"a":1', "it is not JSON"],
    ['{"a', "it is not JSON"],
    ["\ufeff{}", "it is not JSON"],
    ["", "it is not JSON"],
  ])("%.30s", (text, problem) => {
    expect(readStrictJson(text)).toEqual({ problem });
  });

  test("and any other is read as by everybody", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        expect(readStrictJson(text)).toEqual({ value: JSON.parse(text) as unknown });
      }),
    );
    const twice = '{"a":"{\\"b\\":1,\\"b\\":2}","b":["a","a",":",{"a":"a"}]}';
    expect(readStrictJson(twice)).toEqual({ value: JSON.parse(twice) as unknown });
  });
});

describe("an envelope is refused", () => {
  const signature = toBase64(new Uint8Array(64));
  const right = { payloadType: "t", payload: toBase64(bytesOf("{}")), signatures: [{ keyid: "k", sig: signature }] };
  test.each<[string, unknown, string]>([
    ["that is a list", [right], "it is no DSSE envelope"],
    ["without a signature", { ...right, signatures: [] }, "it is no DSSE envelope"],
    [
      "with very many signatures",
      { ...right, signatures: Array.from({ length: 100_000 }, () => right.signatures[0]) },
      "it is no DSSE envelope",
    ],
    ["with a field that nobody signs", { ...right, note: "x" }, "it is no DSSE envelope"],
    [
      "with a field that nobody signs, in a signature",
      { ...right, signatures: [{ ...right.signatures[0], cert: "x" }] },
      "it is no DSSE envelope",
    ],
    ["whose payload is an object", { ...right, payload: {} }, "it is no DSSE envelope"],
    ["whose payload is not base64", { ...right, payload: "{}" }, "its payload is not base64"],
    ["whose payload is not UTF-8", { ...right, payload: "/w==" }, "its payload is not UTF-8"],
    ["whose signature is not base64", { ...right, signatures: [{ keyid: "k", sig: "!" }] }, "a signature is not base64"],
  ])("%s", (_, envelope, problem) => {
    expect(problemOf(JSON.stringify(envelope))).toContain(problem);
  });

  test("that is no text at all", () => {
    expect(openEnvelope(Uint8Array.of(0xff, 0xfe))).toEqual({ problem: "it is not UTF-8" });
    expect(problemOf(" \n")).toBe("it is empty");
    expect(problemOf(JSON.stringify(right))).toBeUndefined();
  });
});
