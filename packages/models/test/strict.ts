import type { WireName } from "../src/index.ts";

type Shape = Readonly<Record<string, unknown>>;

/** Checks a request as the strictest server of its wire would. Throws with the place and what is wrong there. */
export function checkRequest(wire: WireName, body: string): void {
  const request = record(JSON.parse(body), "the body");
  switch (wire) {
    case "responses":
      return checkResponses(request);
    case "chat":
      return checkChat(request);
    case "messages":
      return checkMessages(request);
    case "gemini":
      return checkGemini(request);
  }
}

function checkResponses(request: Shape): void {
  only(
    request,
    "the body",
    ["model", "input"],
    ["instructions", "tools", "parallel_tool_calls", "stream", "store", "include", "prompt_cache_key"],
  );
  const input = list(request["input"], "input");
  const calls = new Set<string>();
  const open = new Set<string>();
  for (const [i, value] of input.entries()) {
    const at = `input[${i}]`;
    const item = record(value, at);
    const next = record(input[i + 1] ?? {}, at);
    switch (item["type"]) {
      case "message": {
        only(item, at, ["type", "role", "content"], ["phase"]);
        need(open.size === 0, `${at}: calls ${[...open].join()} have no output`);
        const kind = item["role"] === "assistant" ? "output_text" : "input_text";
        for (const [j, part] of list(item["content"], `${at}.content`).entries()) inputPart(part, `${at}.content[${j}]`, kind);
        break;
      }
      case "reasoning":
        only(item, at, ["type", "summary", "encrypted_content"]);
        text(item["encrypted_content"], `${at}.encrypted_content`);
        need(
          ["reasoning", "function_call"].includes(String(next["type"])) || next["role"] === "assistant",
          `${at}: nothing follows from it`,
        );
        break;
      case "function_call": {
        only(item, at, ["type", "call_id", "name", "arguments"]);
        const id = callId(item["call_id"], `${at}.call_id`, calls);
        toolName(item["name"], `${at}.name`);
        record(JSON.parse(text(item["arguments"], `${at}.arguments`)), `${at}.arguments`);
        open.add(id);
        break;
      }
      case "function_call_output": {
        only(item, at, ["type", "call_id", "output"]);
        need(open.delete(String(item["call_id"])), `${at}: answers no open call`);
        if (typeof item["output"] === "string") break;
        for (const [j, part] of list(item["output"], `${at}.output`).entries()) inputPart(part, `${at}.output[${j}]`, "input_text");
        break;
      }
      default:
        need(false, `${at}: type ${String(item["type"])}`);
    }
  }
  need(open.size === 0, `calls ${[...open].join()} have no output at the end`);
}

function inputPart(value: unknown, at: string, kind: string): void {
  const part = record(value, at);
  if (part["type"] === "input_image" && kind === "input_text") {
    only(part, at, ["type", "image_url"]);
    dataUrl(part["image_url"], at);
    return;
  }
  only(part, at, ["type", "text"]);
  need(part["type"] === kind, `${at}: type ${String(part["type"])}`);
  text(part["text"], `${at}.text`);
}

function checkChat(request: Shape): void {
  only(request, "the body", ["model", "messages"], ["stream", "stream_options", "tools", "max_tokens", "reasoning_effort"]);
  const messages = list(request["messages"], "messages");
  const calls = new Set<string>();
  const open = new Set<string>();
  for (const [i, value] of messages.entries()) {
    const at = `messages[${i}]`;
    const message = record(value, at);
    need(message["role"] === "tool" || open.size === 0, `${at}: calls ${[...open].join()} have no result`);
    switch (message["role"]) {
      case "system":
        only(message, at, ["role", "content"]);
        need(i === 0, `${at}: a system message in the middle`);
        break;
      case "user":
        only(message, at, ["role", "content"]);
        if (typeof message["content"] === "string") {
          text(message["content"], `${at}.content`);
          break;
        }
        for (const [j, part] of list(message["content"], `${at}.content`).entries()) chatPart(part, `${at}.content[${j}]`);
        break;
      case "assistant": {
        only(message, at, ["role", "content"], ["tool_calls", "reasoning_content", "reasoning"]);
        if (message["tool_calls"] === undefined) text(message["content"], `${at}.content`);
        const made = message["tool_calls"] === undefined ? [] : list(message["tool_calls"], `${at}.tool_calls`);
        for (const [j, one] of made.entries()) {
          const call = record(one, `${at}.tool_calls[${j}]`);
          only(call, `${at}.tool_calls[${j}]`, ["id", "type", "function"]);
          const called = record(call["function"], `${at}.tool_calls[${j}].function`);
          toolName(called["name"], at);
          record(JSON.parse(text(called["arguments"], at)), `${at}.arguments`);
          open.add(callId(call["id"], at, calls));
        }
        break;
      }
      case "tool":
        only(message, at, ["role", "tool_call_id", "content"]);
        need(typeof message["content"] === "string", `${at}.content is no text`);
        need(open.delete(String(message["tool_call_id"])), `${at}: answers no open call`);
        break;
      default:
        need(false, `${at}: role ${String(message["role"])}`);
    }
  }
  need(open.size === 0, `calls ${[...open].join()} have no result at the end`);
}

function chatPart(value: unknown, at: string): void {
  const part = record(value, at);
  if (part["type"] === "image_url") dataUrl(record(part["image_url"], at)["url"], at);
  else text(part["text"], `${at}.text`);
}

function checkMessages(request: Shape): void {
  only(request, "the body", ["model", "max_tokens", "messages"], ["stream", "system", "tools", "thinking", "output_config"]);
  need(typeof request["max_tokens"] === "number" && request["max_tokens"] > 0, "max_tokens is no number");
  const messages = list(request["messages"], "messages");
  need((JSON.stringify(request).match(/"cache_control"/g) ?? []).length <= 4, "more than 4 cache marks");
  const calls = new Set<string>();
  let open: string[] = [];
  for (const [i, value] of messages.entries()) {
    const at = `messages[${i}]`;
    const message = record(value, at);
    only(message, at, ["role", "content"]);
    const role = i % 2 === 0 ? "user" : "assistant";
    need(message["role"] === role, `${at}: role ${String(message["role"])} where ${role} has to be`);
    const blocks = list(message["content"], `${at}.content`).map((block, j) => record(block, `${at}.content[${j}]`));
    const answered = blocks
      .slice(0, open.length)
      .map((block) => (block["type"] === "tool_result" ? String(block["tool_use_id"]) : "other"));
    need(
      answered.toSorted().join() === open.toSorted().join(),
      `${at}: answers ${answered.join()} where ${open.join()} has to be answered`,
    );
    need(
      blocks.slice(open.length).every((block) => block["type"] !== "tool_result"),
      `${at}: a result of no call`,
    );
    open = [];
    for (const [j, block] of blocks.entries()) {
      const id = messageBlock(block, `${at}.content[${j}]`, role, calls);
      if (id !== null) open.push(id);
    }
    need(!String(blocks.at(-1)?.["type"]).includes("thinking"), `${at}: ends in thoughts`);
  }
  need(messages.length % 2 === 1, "the last message isn't the user's");
}

/** The id of a call; null for any other block. */
function messageBlock(block: Shape, at: string, role: string, calls: Set<string>): string | null {
  const mark = ["cache_control"];
  const type = String(block["type"]);
  const allowed = role === "user" ? ["text", "image", "tool_result"] : ["text", "thinking", "redacted_thinking", "tool_use"];
  need(allowed.includes(type), `${at}: type ${type} of the ${role}`);
  switch (type) {
    case "text":
      only(block, at, ["type", "text"], mark);
      text(block["text"], `${at}.text`);
      return null;
    case "image": {
      only(block, at, ["type", "source"], mark);
      const source = record(block["source"], `${at}.source`);
      only(source, `${at}.source`, ["type", "media_type", "data"]);
      image(source["media_type"], source["data"], at);
      return null;
    }
    case "thinking":
      only(block, at, ["type", "thinking", "signature"]);
      text(block["signature"], `${at}.signature`);
      return null;
    case "redacted_thinking":
      only(block, at, ["type", "data"]);
      return null;
    case "tool_use":
      only(block, at, ["type", "id", "name", "input"], mark);
      toolName(block["name"], `${at}.name`);
      record(block["input"], `${at}.input`);
      return callId(block["id"], `${at}.id`, calls);
    default: {
      only(block, at, ["type", "tool_use_id"], ["content", "is_error", ...mark]);
      const inner = Array.isArray(block["content"]) ? list(block["content"], `${at}.content`) : [];
      for (const [k, one] of inner.entries()) messageBlock(record(one, at), `${at}.content[${k}]`, "user", calls);
      need(block["is_error"] !== true || !inner.some((one) => record(one, at)["type"] !== "text"), `${at}: an error with more than text`);
      return null;
    }
  }
}

function checkGemini(request: Shape): void {
  only(request, "the body", ["contents"], ["systemInstruction", "tools", "generationConfig"]);
  const contents = list(request["contents"], "contents").map((content, i) => record(content, `contents[${i}]`));
  const calls = new Set<string>();
  let open: string[] = [];
  for (const [i, content] of contents.entries()) {
    const at = `contents[${i}]`;
    only(content, at, ["role", "parts"]);
    const parts = list(content["parts"], `${at}.parts`).map((part, j) => record(part, `${at}.parts[${j}]`));
    const responses = parts.flatMap((part) => (part["functionResponse"] === undefined ? [] : [record(part["functionResponse"], at)]));
    const answered = responses.map((one) => `${String(one["id"])} ${String(one["name"])}`);
    need(
      answered.toSorted().join() === open.toSorted().join(),
      `${at}: answers ${answered.join()} where ${open.join()} has to be answered`,
    );
    need(responses.length === 0 || responses.length === parts.length, `${at}: results beside something else`);
    for (const one of responses) record(one["response"], `${at}.response`);
    open = [];
    for (const [j, part] of parts.entries()) {
      const call = geminiPart(part, `${at}.parts[${j}]`, content["role"], calls);
      if (call !== null) {
        need(open.length > 0 || typeof part["thoughtSignature"] === "string", `${at}: a step's first call has no signature`);
        open.push(call);
      }
    }
  }
  need(open.length === 0, `calls ${open.join()} have no result at the end`);
  need(contents.at(-1)?.["role"] === "user", "the last content isn't the user's");
}

/** A call as `id name`; null for any other part. */
function geminiPart(part: Shape, at: string, role: unknown, calls: Set<string>): string | null {
  const [kind, ...more] = Object.keys(part).filter((key) => key !== "thought" && key !== "thoughtSignature");
  need(more.length === 0, `${at}: ${Object.keys(part).join()} together`);
  need(role === "model" || (part["thought"] === undefined && part["thoughtSignature"] === undefined), `${at}: thoughts of the user`);
  switch (kind) {
    case "text":
      text(part["text"], `${at}.text`);
      return null;
    case "inlineData": {
      const data = record(part["inlineData"], at);
      need(role === "user", `${at}: an image of the model`);
      image(data["mimeType"], data["data"], at);
      return null;
    }
    case "functionCall": {
      const call = record(part["functionCall"], at);
      need(role === "model", `${at}: a call of the user`);
      only(call, at, ["id", "name", "args"]);
      record(call["args"], `${at}.args`);
      return `${callId(call["id"], at, calls)} ${toolName(call["name"], at)}`;
    }
    case "functionResponse":
      need(role === "user", `${at}: a result of the model`);
      return null;
    default:
      need(false, `${at}: ${String(kind)}`);
      return null;
  }
}

function need(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}
function record(value: unknown, at: string): Shape {
  need(typeof value === "object" && value !== null && !Array.isArray(value), `${at} is no object`);
  return value as Shape;
}
function list(value: unknown, at: string): readonly unknown[] {
  need(Array.isArray(value) && value.length > 0, `${at} is empty or no list`);
  return value as readonly unknown[];
}
function text(value: unknown, at: string): string {
  need(typeof value === "string" && value.trim() !== "", `${at} is empty or no text`);
  return value as string;
}
function only(value: Shape, at: string, required: readonly string[], optional: readonly string[] = []): void {
  for (const key of required) need(Object.hasOwn(value, key), `${at}.${key} is missing`);
  for (const key of Object.keys(value)) need(required.includes(key) || optional.includes(key), `${at}.${key} is unknown`);
}
function callId(value: unknown, at: string, known: Set<string>): string {
  const id = text(value, at);
  need(/^[a-zA-Z0-9_-]{1,64}$/.test(id) && !known.has(id), `${at}: the call id ${id}`);
  known.add(id);
  return id;
}
function toolName(value: unknown, at: string): string {
  const name = text(value, at);
  need(/^[a-zA-Z0-9_-]{1,64}$/.test(name), `${at}: the name ${name}`);
  return name;
}
function image(mediaType: unknown, data: unknown, at: string): void {
  need(["image/png", "image/jpeg", "image/webp"].includes(String(mediaType)), `${at}: an image of type ${String(mediaType)}`);
  need(typeof data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(data), `${at}: no base64`);
}
function dataUrl(value: unknown, at: string): void {
  const [, mediaType, data] = /^data:([^;]+);base64,(.+)$/.exec(String(value)) ?? [];
  image(mediaType, data, at);
}
