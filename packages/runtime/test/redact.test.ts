import { expect, test } from "vitest";
import { redact, redactionMark } from "../src/redact.ts";

const key = (label: string) => `-----BEGIN ${label}PRIVATE KEY-----\nMIIE\n-----END ${label}PRIVATE KEY-----`;

test("every whole private key goes, what stands around it stays", () => {
  expect(redact(`a ${key("RSA ")} b ${key("")} c`, [])).toBe(`a ${redactionMark} b ${redactionMark} c`);
  expect(redact(`-----BEGIN PRIVATE KEY----- x ${key("EC ")}`, [])).toBe(redactionMark);
  expect(redact("-----BEGIN PRIVATE KEY----- only", [])).toBe("-----BEGIN PRIVATE KEY----- only");
  expect(redact(`-----END PRIVATE KEY----- ${key("")}`, [])).toBe(`-----END PRIVATE KEY----- ${redactionMark}`);
});

test("held values and known formats go; short values stay, as they would be words", () => {
  expect(redact("held-value-1 short", ["held-value-1", "short"])).toBe(`${redactionMark} short`);
  expect(redact(`token ghp_${"a".repeat(36)}.`, [])).toBe(`token ${redactionMark}.`);
});
