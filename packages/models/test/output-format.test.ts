import type { Json } from "@holdfast/protocol";
import { describe, expect, test } from "vitest";
import { chatWire } from "../src/chat/wire.ts";
import { geminiWire } from "../src/gemini/wire.ts";
import { messagesWire } from "../src/messages/wire.ts";
import { isStrict } from "../src/output-format.ts";
import { responsesWire } from "../src/responses/wire.ts";
import type { Wire } from "../src/wire.ts";
import { requestOf } from "./loopback.ts";

const closed: Json = {
  type: "object",
  properties: { a: { type: "string" }, b: { type: "array", items: { $ref: "#/$defs/b" } } },
  required: ["a", "b"],
  additionalProperties: false,
  $defs: { b: { anyOf: [{ type: "null" }, { type: "number", minimum: 1 }] } },
};
const open: Json = { type: "object", properties: { a: { type: "string" } } };
const tools = [{ name: "read_file", description: "Reads.", schema: { type: "object" } as Json }];

async function sent(wire: Wire, schema: Json, more: { readonly isRepair?: boolean; readonly hasTools?: boolean } = {}) {
  const { isRepair = false, hasTools = true } = more;
  const request = requestOf(undefined, { output: { schema, isRepair }, tools: hasTools ? tools : [] });
  return JSON.parse(new TextDecoder().decode((await wire.body(request)).bytes)) as Record<string, Record<string, unknown>>;
}

test.each<[Json, boolean]>([
  [closed, true],
  [open, false],
  [{ ...(closed as object), required: ["a"] }, false],
  [{ ...(closed as object), properties: { a: open, b: open } }, false],
  [{ type: "object", properties: {}, required: [], additionalProperties: false, allOf: [] }, false],
  [{ type: "array", items: { type: "string" } }, false],
  [{ type: "object", properties: { a: { type: "string", maxLength: 3 } }, required: ["a"], additionalProperties: false }, false],
])("%j: strict is %j", (schema, strict) => {
  expect(isStrict(schema)).toBe(strict);
});

describe("the schema of the final answer", () => {
  test("goes as the text format over Responses, strict where that can be", async () => {
    const wire = responsesWire({ provider: "openai", model: "gpt-5" });
    const format = { type: "json_schema", name: "final_answer", strict: true, schema: closed };
    expect((await sent(wire, closed))["text"]).toEqual({ format });
    expect((await sent(wire, open))["text"]).toEqual({ format: { ...format, strict: false, schema: open } });
  });

  test("goes over Chat beside tools to OpenAI alone; to others where no call is lost by it", async () => {
    const own = chatWire({ provider: "openai", model: "gpt-5" });
    const local = chatWire({ provider: "ollama", model: "qwen" });
    const format = { type: "json_schema", json_schema: { name: "final_answer", strict: true, schema: closed } };
    expect((await sent(own, closed))["response_format"]).toEqual(format);
    expect(await sent(local, closed)).not.toHaveProperty("response_format");
    expect((await sent(local, closed, { hasTools: false }))["response_format"]).toEqual(format);
    const repair = await sent(local, closed, { isRepair: true });
    expect(repair).toMatchObject({ response_format: format, tool_choice: "none", tools: [{}] });
  });

  test("goes to Gemini beside tools from version 3 on, and before it without", async () => {
    const config = { responseMimeType: "application/json", responseJsonSchema: open };
    const older = geminiWire({ provider: "google", model: "gemini-2.5-flash" });
    expect((await sent(geminiWire({ provider: "google", model: "gemini-3-pro" }), open))["generationConfig"]).toMatchObject(config);
    expect((await sent(older, open))["generationConfig"] ?? {}).not.toHaveProperty("responseJsonSchema");
    expect((await sent(older, open, { hasTools: false }))["generationConfig"]).toMatchObject(config);
  });

  test("is left to the instructions over Messages", async () => {
    const body = await sent(messagesWire({ provider: "anthropic", model: "claude-sonnet-4-5" }), closed);
    expect(JSON.stringify(body)).not.toContain("$defs");
  });
});
