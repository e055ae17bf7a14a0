/** What the conformance suite drives: the address of its server comes as the last argument. Lists the tools and calls each. */
import { clock } from "@holdfast/node/host/clock";
import { createMemoryBlobs } from "@holdfast/stores/memory";
import type { Json } from "@holdfast/protocol";
import type { CallContext } from "@holdfast/runtime";
import { createMcpSource, mcpDefaults } from "../src/index.ts";

const url = process.argv.at(-1) ?? "";
const config = { ...mcpDefaults, name: "suite", target: { type: "http", url, headers: {} } } as const;
const source = createMcpSource([{ config, isConfined: false }], {
  processes: null,
  fetch: (address, init) => fetch(address, init),
  clock,
  environment: {},
  cwd: "/",
  blobs: createMemoryBlobs(),
  redact: (text) => text,
});
const { signal } = new AbortController();
source.start();
await source.settled(20_000, signal);
for (const line of source.absent()) console.error(line);
const context = { emit: () => undefined } as Partial<CallContext> as CallContext;

/** The calls that a scenario wants; else each tool once, with what the scenarios take. */
const wanted = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as { toolCalls?: { name: string; arguments: Json }[] };
const named = wanted.toolCalls?.map((call) => ({ name: `mcp__suite__${call.name}`, input: call.arguments }));
const focal = source.specs.find(({ name }) => !name.endsWith("_echo"))?.schema ?? {};
const calls =
  named ?? source.specs.map(({ name }) => ({ name, input: { a: 5, b: 3, ...(name.endsWith("schema_echo") ? { schema: focal } : {}) } }));
for (const { name, input } of calls) {
  const tool = source.get(name)!;
  const plan = await tool.plan(input, context, signal);
  if ("type" in plan) throw new Error(plan.text);
  const outcome = await tool.run({ callId: "c", name, plan, attempt: 1, key: "k", scope: {}, prepared: null }, context, signal);
  console.error(`${name}: ${outcome.status}: ${outcome.text}`);
}
await source.close();
