import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Proposed {
  readonly name: string;
  readonly input: object;
}
export interface Answer {
  readonly text?: string;
  /** A summary of what it thought (Responses only). */
  readonly reasoning?: string;
  /** Numbers beside the usual ones (Responses only). */
  readonly usage?: object;
  readonly calls?: readonly Proposed[];
  /** What goes wrong with this answer: an HTTP status, or a stream that ends in its middle. */
  readonly fault?: 429 | 500 | "cut";
  /** Holds the answer back. */
  readonly delayMs?: number;
}
/** `results` are the texts of all tool results in the request, oldest first. */
export type Script = (results: readonly string[], sampling: number) => Answer | Promise<Answer>;

interface Block {
  readonly type?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}
interface Body {
  readonly input?: readonly { readonly type?: string; readonly call_id?: string; readonly output?: unknown }[];
  readonly messages?: readonly {
    readonly role: string;
    readonly content?: string | null | readonly Block[];
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly { readonly id: string }[];
  }[];
  readonly contents?: readonly {
    readonly parts: readonly {
      readonly functionCall?: { readonly id: string };
      readonly functionResponse?: { readonly id: string; readonly response: Readonly<Record<string, unknown>> };
    }[];
  }[];
}

export interface ModelServer {
  readonly baseUrl: string;
  readonly requests: readonly Body[];
  /** Of each request, as it was sent. */
  readonly authorizations: readonly string[];
  close(): void;
}

/** A scripted model behind the real wires: Responses, Chat Completions, Messages and Gemini, streamed, on loopback. */
export async function startModelServer(script: Script): Promise<ModelServer> {
  const requests: Body[] = [];
  const authorizations: string[] = [];
  const server = createServer((request, response) => {
    void answerRequest(request, response).catch(() => response.destroy());
  });
  const answerRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Body;
    requests.push(body);
    authorizations.push(request.headers.authorization ?? "");
    const answer = await script(resultsOf(body), requests.length);
    if (answer.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    if (answer.fault === 429 || answer.fault === 500) {
      response.writeHead(answer.fault, { "content-type": "application/json", ...(answer.fault === 429 ? { "retry-after": "1" } : {}) });
      response.end(JSON.stringify({ error: { message: "scripted fault", type: "server_error", code: null } }));
      return;
    }
    const frames = framesOf(request.url ?? "")(answer, requests.length);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const frame of answer.fault === "cut" ? frames.slice(0, Math.ceil(frames.length / 2)) : frames) response.write(frame);
    if (answer.fault === "cut") setTimeout(() => response.destroy(), 20);
    else response.end();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    authorizations,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function framesOf(url: string): (answer: Answer, n: number) => string[] {
  if (url.endsWith("/v1/chat/completions")) return chatFrames;
  if (url.endsWith("/v1/messages")) return messagesFrames;
  return url.includes("/v1beta/models/") ? geminiFrames : responsesFrames;
}

const blocksOf = (content: unknown): readonly Block[] => (Array.isArray(content) ? content : []);

function resultsOf({ input = [], messages = [], contents = [] }: Body): string[] {
  const show = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  return [
    ...input.filter((item) => item.type === "function_call_output").map((item) => show(item.output)),
    ...messages.filter((message) => message.role === "tool").map((message) => show(message.content)),
    ...messages.flatMap(({ content }) =>
      blocksOf(content)
        .filter((block) => block.type === "tool_result")
        .map((block) => show(block.content)),
    ),
    ...contents.flatMap(({ parts }) =>
      parts.flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : Object.values(functionResponse.response).map(show))),
    ),
  ];
}

/** What real providers refuse: a call without exactly one result right behind the calls of its answer. */
export function isPaired({ input = [], messages = [], contents = [] }: Body): boolean {
  const open = new Set<string>();
  for (const item of input) {
    if (item.type === "function_call") open.add(item.call_id ?? "");
    else if (item.type === "function_call_output") {
      if (!open.delete(item.call_id ?? "")) return false;
    } else if (open.size > 0 && item.type !== "reasoning") return false;
  }
  for (const message of messages) {
    const blocks = blocksOf(message.content);
    const results = blocks.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id ?? "");
    if (message.role === "tool") results.push(message.tool_call_id ?? "");
    if (results.some((id) => !open.delete(id))) return false;
    if (message.role !== "tool" && open.size > 0) return false;
    for (const call of message.tool_calls ?? []) open.add(call.id);
    for (const block of blocks) if (block.type === "tool_use") open.add(block.id ?? "");
  }
  for (const { parts } of contents) {
    const results = parts.flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [functionResponse.id]));
    if (results.some((id) => !open.delete(id)) || open.size > 0) return false;
    for (const { functionCall } of parts) if (functionCall !== undefined) open.add(functionCall.id);
  }
  return open.size === 0;
}

function responsesFrames({ text, reasoning, usage, calls = [] }: Answer, n: number): string[] {
  const output = [
    ...(reasoning === undefined ? [] : [{ id: `rs_${n}`, type: "reasoning", summary: [{ type: "summary_text", text: reasoning }] }]),
    ...(text === undefined
      ? []
      : [
          {
            id: `msg_${n}`,
            type: "message",
            status: "completed",
            role: "assistant",
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
    usage: { input_tokens: 100, output_tokens: 20, total_tokens: 120, ...usage },
  };
  const events: { readonly type: string; readonly [key: string]: unknown }[] = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
  ];
  for (const [index, item] of output.entries()) {
    const isCall = item.type === "function_call";
    const isMessage = item.type === "message";
    events.push({
      type: "response.output_item.added",
      output_index: index,
      item: { ...item, status: "in_progress", ...(isCall ? { arguments: "" } : isMessage ? { content: [] } : {}) },
    });
    if (isMessage)
      events.push({ type: "response.output_text.delta", item_id: item.id, output_index: index, content_index: 0, delta: text });
    events.push({ type: "response.output_item.done", output_index: index, item });
  }
  events.push({ type: "response.completed", response });
  return events.map((event, index) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`);
}

function chatFrames({ text, calls = [] }: Answer, n: number): string[] {
  const base = { id: `chat_${n}`, object: "chat.completion.chunk", created: 0, model: "m" };
  const chunk = (delta: object, finish: string | null = null) => ({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  const chunks: object[] = [chunk({ role: "assistant", content: "" })];
  if (text !== undefined) chunks.push(chunk({ content: text }));
  for (const [index, { name, input }] of calls.entries()) {
    chunks.push(chunk({ tool_calls: [{ index, id: `c_${n}_${index}`, type: "function", function: { name, arguments: "" } }] }));
    chunks.push(chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(input) } }] }));
  }
  chunks.push(chunk({}, calls.length > 0 ? "tool_calls" : "stop"));
  chunks.push({ ...base, choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } });
  return [...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), "data: [DONE]\n\n"];
}

function messagesFrames({ text, calls = [] }: Answer, n: number): string[] {
  const events: { readonly type: string; readonly [key: string]: unknown }[] = [
    {
      type: "message_start",
      message: { id: `msg_${n}`, type: "message", role: "assistant", content: [], usage: { input_tokens: 100, output_tokens: 1 } },
    },
  ];
  const block = (content_block: object, delta: object): void => {
    const index = events.filter(({ type }) => type === "content_block_stop").length;
    events.push(
      { type: "content_block_start", index, content_block },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    );
  };
  if (text !== undefined) block({ type: "text", text: "" }, { type: "text_delta", text });
  for (const [index, { name, input }] of calls.entries()) {
    block({ type: "tool_use", id: `c_${n}_${index}`, name, input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(input) });
  }
  events.push({ type: "message_delta", delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn" }, usage: { output_tokens: 20 } });
  events.push({ type: "message_stop" });
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

function geminiFrames({ text, calls = [] }: Answer, n: number): string[] {
  const chunk = (parts: readonly object[], finishReason?: string) => ({
    candidates: [{ index: 0, content: { role: "model", parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 },
    responseId: `g_${n}`,
  });
  const parts = [...(text === undefined ? [] : [{ text }]), ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))];
  const chunks = [...parts.map((part) => chunk([part])), chunk([{ text: "" }], "STOP")];
  return chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`);
}
