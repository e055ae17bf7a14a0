import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** When things happened, in milliseconds of this process's monotonic clock. */
export interface Exchange {
  readonly received: number;
  begun: number;
  answered: number;
  readonly bytes: number;
}

/** What the model says to one request. */
export type Answer =
  | { readonly type: "calls"; readonly calls: readonly { readonly tool: ToolKind; readonly input: object }[] }
  | { readonly type: "text"; readonly deltas: number }
  /** The stream ends in the middle, or there is no stream. */
  | { readonly type: "cut" }
  | { readonly type: "error"; readonly status: number };

/** By the arguments a tool takes, so that any harness can be the client. */
export type ToolKind = "command" | "edits" | "path";

export interface ModelServer {
  readonly baseUrl: string;
  readonly exchanges: readonly Exchange[];
  close(): void;
}

const done: Answer = { type: "text", deltas: 1 };

/**
 * A model on loopback over the Responses wire. `script` answers the n-th request, from 0; after its end it is done. Where
 * many sessions talk to it at once, n is how many results a request holds.
 */
export async function startModelServer(script: (n: number) => Answer | null, isOfMany = false): Promise<ModelServer> {
  const exchanges: Exchange[] = [];
  let tools: readonly Tool[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const body = Buffer.concat(chunks);
    const received = performance.now();
    const exchange: Exchange = { received, begun: received, answered: received, bytes: body.length };
    const n = exchanges.push(exchange) - 1;
    if (n === 0) tools = (JSON.parse(body.toString("utf8")) as { tools?: Tool[] }).tools ?? [];
    const said = script(isOfMany ? body.toString("latin1").split('"function_call_output"').length - 1 : n) ?? done;
    exchange.begun = performance.now();
    answer(response, n, said, tools);
    response.once(said.type === "cut" ? "close" : "finish", () => (exchange.answered = performance.now()));
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    exchanges,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Tool {
  readonly name?: string;
  readonly parameters?: { readonly properties?: object };
}

function nameOf(tools: readonly Tool[], kind: ToolKind): string {
  const found = tools.find(({ parameters }) => {
    const properties = parameters?.properties ?? {};
    return kind in properties && !(kind === "path" && ("edits" in properties || "content" in properties || "command" in properties));
  });
  return (kind === "path" ? tools.find(({ name }) => name === "read_file") : found)?.name ?? found?.name ?? "shell";
}

function answer(response: ServerResponse, n: number, said: Answer, tools: readonly Tool[]): void {
  if (said.type === "error") {
    response.writeHead(said.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "scripted", type: "server_error", code: null } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const events = said.type === "cut" ? textEvents(n, 2).slice(0, 3) : eventsOf(n, said, tools);
  const text = events
    .map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`)
    .join("");
  if (said.type === "cut") response.write(text, () => response.destroy());
  else response.end(text);
}

interface WireEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

function eventsOf(n: number, said: Exclude<Answer, { readonly type: "cut" | "error" }>, tools: readonly Tool[]): WireEvent[] {
  if (said.type === "text") return textEvents(n, said.deltas);
  const items = said.calls.map(({ tool, input }, index) => ({
    id: `fc_${n}_${index}`,
    type: "function_call",
    status: "completed",
    call_id: `call_${n}_${index}`,
    name: nameOf(tools, tool),
    arguments: JSON.stringify(input),
  }));
  return framed(
    n,
    items,
    items.flatMap((item, index) => [
      { type: "response.output_item.added", output_index: index, item: { ...item, status: "in_progress", arguments: "" } },
      { type: "response.output_item.done", output_index: index, item },
    ]),
  );
}

function textEvents(n: number, deltas: number): WireEvent[] {
  const words = Array.from({ length: deltas }, (_, index) => `word ${index} `);
  const id = `msg_${n}`;
  const place = { item_id: id, output_index: 0, content_index: 0 };
  const part = { type: "output_text", text: words.join(""), annotations: [] };
  const item = { id, type: "message", status: "completed", role: "assistant", content: [part] };
  return framed(
    n,
    [item],
    [
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
      ...words.map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
      { type: "response.output_text.done", ...place, text: part.text },
      { type: "response.content_part.done", ...place, part },
      { type: "response.output_item.done", output_index: 0, item },
    ],
  );
}

function framed(n: number, output: readonly object[], between: readonly WireEvent[]): WireEvent[] {
  const response = {
    id: `resp_${n}`,
    object: "response",
    created_at: 1_700_000_000,
    model: "bench",
    status: "completed",
    output,
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 20,
    },
  };
  return [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...between,
    { type: "response.completed", response },
  ];
}
