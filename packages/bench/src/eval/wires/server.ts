import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type WireName = "responses" | "chat" | "messages" | "gemini";
export const wireNames: readonly WireName[] = ["responses", "chat", "messages", "gemini"];

/** What the model says to one request. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly input: object }[];
}

export interface WireServer {
  /** With `/v1`; the other wires put their own version behind the host. */
  readonly baseUrl: string;
  /** Bodies of the requests for answers with tools, in order, as they were sent. */
  readonly bodies: readonly string[];
  close(): void;
}

/**
 * A scripted model behind the four wires, on loopback; it records what it is sent. Over Responses it knows the answers that it
 * was to keep, and refuses a request that follows on any other, as OpenAI does. What is asked beside the work (without tools)
 * gets a fixed answer and is not recorded.
 */
export async function startWireServer(script: (n: number) => Said): Promise<WireServer> {
  const bodies: string[] = [];
  const known = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const {
        tools,
        store,
        previous_response_id: previous,
      } = JSON.parse(body) as { tools?: unknown; store?: boolean; previous_response_id?: string };
      if (previous !== undefined && !known.has(previous)) {
        response.writeHead(400, { "content-type": "application/json" });
        const error = {
          message: `Previous response with id '${previous}' not found.`,
          type: "invalid_request_error",
          param: "previous_response_id",
          code: "previous_response_not_found",
        };
        response.end(JSON.stringify({ error }));
        return;
      }
      const isWork = tools !== undefined;
      const n = isWork ? bodies.push(body) - 1 : -1;
      const said = isWork ? script(n) : { text: "{}" };
      if (store === true) known.add(`resp_${n}`);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(framesOf(request.url ?? "")(said, n, Math.ceil(body.length / 4)).join(""));
    });
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    bodies,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Frames = (said: Said, n: number, inputTokens: number) => string[];

function framesOf(url: string): Frames {
  if (url.endsWith("/chat/completions")) return chat;
  if (url.endsWith("/messages")) return messages;
  return url.includes("/models/") ? gemini : responses;
}

function data(events: readonly object[]): string[] {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
}

const responses: Frames = ({ text, calls = [] }, n, input_tokens) => {
  const output = [
    ...(text === undefined
      ? []
      : [
          {
            id: `msg_${n}`,
            type: "message",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ]),
    ...calls.map(({ name, input }, index) => ({
      id: `fc_${n}_${index}`,
      type: "function_call",
      status: "completed",
      call_id: `c_${n}_${index}`,
      name,
      arguments: JSON.stringify(input),
    })),
  ];
  const response = {
    id: `resp_${n}`,
    object: "response",
    status: "completed",
    output,
    usage: { input_tokens, output_tokens: 20, total_tokens: input_tokens + 20 },
  };
  return data([
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...output.map((item, output_index) => ({ type: "response.output_item.done", output_index, item })),
    { type: "response.completed", response },
  ]);
};

const chat: Frames = ({ text, calls = [] }, n, prompt_tokens) => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: `c_${n}`,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  });
  return [
    ...data([
      chunk({ role: "assistant", content: text ?? "" }),
      ...calls.map(({ name, input }, index) =>
        chunk({ tool_calls: [{ index, id: `c_${n}_${index}`, type: "function", function: { name, arguments: JSON.stringify(input) } }] }),
      ),
      chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
      { id: `c_${n}`, choices: [], usage: { prompt_tokens, completion_tokens: 20, total_tokens: prompt_tokens + 20 } },
    ]),
    "data: [DONE]\n\n",
  ];
};

const messages: Frames = ({ text, calls = [] }, n, input_tokens) => {
  const blocks = [
    ...(text === undefined
      ? []
      : [
          [
            { type: "text", text: "" },
            { type: "text_delta", text },
          ],
        ]),
    ...calls.map(({ name, input }, index) => [
      { type: "tool_use", id: `c_${n}_${index}`, name, input: {} },
      { type: "input_json_delta", partial_json: JSON.stringify(input) },
    ]),
  ];
  const message = { id: `msg_${n}`, type: "message", role: "assistant", content: [], usage: { input_tokens, output_tokens: 1 } };
  return [
    { type: "message_start", message },
    ...blocks.flatMap(([content_block, delta], index) => [
      { type: "content_block_start", index, content_block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn" }, usage: { output_tokens: 20 } },
    { type: "message_stop" },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
};

const gemini: Frames = ({ text, calls = [] }, n, promptTokenCount) => {
  const parts = [...(text === undefined ? [] : [{ text }]), ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))];
  return data([
    ...parts.map((part) => ({ responseId: `g_${n}`, candidates: [{ index: 0, content: { role: "model", parts: [part] } }] })),
    {
      responseId: `g_${n}`,
      candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount, candidatesTokenCount: 20, totalTokenCount: promptTokenCount + 20 },
    },
  ]);
};
