import type { Item } from "@holdfast/protocol";
import type { ProposedItem } from "@holdfast/runtime";
import { afterEach, expect, test } from "vitest";
import { createBodyDigest, createHttpModel, responsesWire } from "../src/index.ts";
import { collect, listen, type Loopback, requestOf, sse } from "./loopback.ts";

const identity = { provider: "openai", model: "gpt-5.4" };
const search = {
  name: "search_tools",
  description: "Find more tools.",
  schema: { type: "object", properties: { query: { type: "string" } } },
};
const read = { name: "read_file", description: "Read.", schema: { type: "object", properties: {} } };
const found = { name: "mcp__shop__pay", description: "Pay.", schema: { type: "object", properties: { amount: { type: "integer" } } } };

let server: Loopback;
afterEach(() => server.close());

const go: Item = { kind: "user_message", id: "u", trust: "user", parts: [{ type: "text", text: "pay 3" }] };

/** Answers the first request with a search of its own kind, the next with a call of what was found. */
async function connect(loadsTools: boolean) {
  const items = [
    { id: "ts_1", type: "tool_search_call", call_id: "c_1", execution: "client", status: "completed", arguments: { query: "pay" } },
    { id: "fc_1", type: "function_call", call_id: "c_2", name: found.name, arguments: '{"amount":3}', status: "completed" },
    { id: "hosted", type: "tool_search_call", call_id: null, execution: "server", status: "completed", arguments: {} },
  ];
  server = await listen((response, index) => {
    const item = items[index];
    const body = {
      id: `r_${index}`,
      object: "response",
      status: "completed",
      output: [item],
      usage: { input_tokens: 9, output_tokens: 1 },
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse({ type: "response.output_item.done", output_index: 0, item }) + sse({ type: "response.completed", response: body }));
  });
  const wire = responsesWire(identity, { loadsTools });
  return createHttpModel(wire, { id: "openai/gpt-5.4", baseUrl: server.baseUrl, apiKey: async () => "key" });
}

test("a search goes as the provider's own, what it found comes back as definitions, and is called by its name", async () => {
  const model = await connect(true);
  const items: Item[] = [go];
  const ask = async (n: number) => {
    const parts = await collect(model, { ...requestOf([...items]), tools: [read, search] });
    const proposed = parts.flatMap((part) => (part.type === "item" ? [part.item] : []));
    for (const item of proposed) items.push({ ...(item as ProposedItem), id: `i${n}`, callId: `call_${n}` } as Item);
    return proposed;
  };
  expect(await ask(1)).toMatchObject([{ kind: "tool_call", name: "search_tools", input: '{"query":"pay"}' }]);
  items.push({ kind: "tool_result", id: "r1", callId: "call_1", status: "completed", text: "as words", trust: "tool", tools: [found] });
  expect(await ask(2)).toMatchObject([{ kind: "tool_call", name: found.name, input: '{"amount":3}' }]);
  items.push({ kind: "tool_result", id: "r2", callId: "call_2", status: "completed", text: "paid", trust: "tool" });
  // One that the provider carried out itself is no call of ours.
  expect(await ask(3)).toEqual([]);

  const bodies = server.bodies.map((body) => JSON.parse(body) as { tools: unknown[]; input: unknown[] });
  expect(bodies[0]?.tools).toEqual([
    { type: "function", name: "read_file", description: "Read.", strict: false, parameters: read.schema },
    { type: "tool_search", execution: "client", description: search.description, parameters: search.schema },
  ]);
  expect(bodies[2]?.input.slice(1)).toEqual([
    { type: "tool_search_call", call_id: "c_1", execution: "client", status: "completed", arguments: { query: "pay" } },
    {
      type: "tool_search_output",
      call_id: "c_1",
      execution: "client",
      status: "completed",
      tools: [{ defer_loading: true, type: "function", name: found.name, description: "Pay.", strict: false, parameters: found.schema }],
    },
    { type: "function_call", call_id: "c_2", name: found.name, arguments: '{"amount":3}' },
    { type: "function_call_output", call_id: "c_2", output: "paid" },
  ]);
  // The head stays, and each list begins with the one before.
  const [first = "", second = "", third = ""] = server.bodies.map((body) => body.slice(0, body.indexOf('],"')));
  const start = (body: string) => body.slice(0, body.indexOf('"input":['));
  expect(new Set([first, second, third].map(start)).size).toBe(1);
  expect(JSON.stringify(bodies[1]?.input)).toBe(JSON.stringify(bodies[2]?.input.slice(0, 3)));

  const sent = { ...responsesWire(identity, { loadsTools: true }).form, digest: "" };
  const request = { ...requestOf(items.slice(0, 1)), tools: [read, search] };
  const digest = createBodyDigest();
  const plain = await digest("openai/gpt-5.4", { wire: sent.wire, layout: sent.layout ?? 0, digest: "" }, request);
  expect(await digest("openai/gpt-5.4", sent, request)).not.toBe(plain);
});

test("without the setting a search is a function like any other", async () => {
  const model = await connect(false);
  const call: Item = { kind: "tool_call", id: "c", callId: "call_1", name: "search_tools", input: '{"query":"pay"}' };
  const result: Item = {
    kind: "tool_result",
    id: "r",
    callId: "call_1",
    status: "completed",
    text: "as words",
    trust: "tool",
    tools: [found],
  };
  await collect(model, { ...requestOf([go, call, result]), tools: [search] });
  const { tools, input } = JSON.parse(server.bodies[0] ?? "") as { tools: { type: string }[]; input: Record<string, unknown>[] };
  expect(tools.map(({ type }) => type)).toEqual(["function"]);
  expect(input.slice(1)).toMatchObject([
    { type: "function_call", name: "search_tools" },
    { type: "function_call_output", output: "as words" },
  ]);
});
