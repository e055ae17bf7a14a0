import type { Item, Part, Reasoning, ToolResult, UserMessage } from "@holdfast/protocol";
import { dataUrl } from "../data-url.ts";
import { ownPayload, type Identity } from "../identity.ts";
import { createJoined, type Joined } from "../joined.ts";
import { asText } from "../shape.ts";
import { jsonText } from "../text.ts";
import { imageSize, type Encoding, type Piece, type ReadImage } from "../window.ts";
import { missingImage, noticeText, wireArguments, wireCallId, wireToolName } from "../wire-forms.ts";

/** Fields of a message under which servers send, and want back, a model's reasoning. */
export const reasoningFields = ["reasoning_content", "reasoning"] as const;
type ReasoningField = (typeof reasoningFields)[number];

/** What one item adds to the messages. */
export type MessagePiece = Piece &
  (
    | { readonly type: "nothing" }
    | { readonly type: "message"; readonly json: string }
    | { readonly type: "text"; readonly text: string }
    | { readonly type: "reasoning"; readonly field: ReasoningField; readonly text: string }
    | { readonly type: "call"; readonly callId: string; readonly json: string }
    /** `images` is a message of its own: the wire takes none in a tool's. */
    | { readonly type: "result"; readonly callId: string; readonly json: string; readonly images: string | null }
  );

/** One sampling's answer, becoming one assistant message, and what has to follow it directly. */
interface Answer {
  readonly texts: string[];
  readonly reasoning: { field: ReasoningField; text: string }[];
  readonly calls: string[];
  /** Call ids without a result so far. */
  readonly open: Set<string>;
  readonly results: string[];
  readonly images: string[];
  /** Messages that came before the last result. */
  readonly later: string[];
}

export interface Messages {
  readonly closed: Joined;
  answer: Answer | null;
}

/**
 * The wire wants one assistant message with all calls of a sampling, then every result, then anything else. An answer
 * stays open until its calls have their results; images of results and whatever came in between follow after them.
 */
export function messageEncoding(identity: Identity): Encoding<MessagePiece, Messages> {
  return {
    encode: (item, image) => encodeItem(item, image, identity),
    start: () => ({ closed: createJoined(), answer: null }),
    add: addPiece,
    render: (messages, frame) => messages.closed.body(frame, messages.answer === null ? [] : answerMessages(messages.answer)),
  };
}

function addPiece(messages: Messages, piece: MessagePiece): void {
  switch (piece.type) {
    case "nothing":
      return;
    case "message":
      if (messages.answer !== null && messages.answer.open.size > 0) messages.answer.later.push(piece.json);
      else close(messages, [piece.json]);
      return;
    case "result": {
      const answer = messages.answer;
      if (answer === null || !answer.open.delete(piece.callId)) {
        close(messages, [piece.json, ...(piece.images === null ? [] : [piece.images])]);
        return;
      }
      answer.results.push(piece.json);
      if (piece.images !== null) answer.images.push(piece.images);
      return;
    }
    case "text":
      openAnswer(messages).texts.push(piece.text);
      return;
    case "reasoning":
      openAnswer(messages).reasoning.push({ field: piece.field, text: piece.text });
      return;
    case "call": {
      const answer = openAnswer(messages);
      answer.calls.push(piece.json);
      answer.open.add(piece.callId);
    }
  }
}

/** The answer that a model's item belongs to: a new one where the last has results. */
function openAnswer(messages: Messages): Answer {
  if (messages.answer !== null && messages.answer.results.length > 0) close(messages, []);
  messages.answer ??= { texts: [], reasoning: [], calls: [], open: new Set(), results: [], images: [], later: [] };
  return messages.answer;
}

function close(messages: Messages, after: readonly string[]): void {
  const answer = messages.answer === null ? [] : answerMessages(messages.answer);
  for (const json of [...answer, ...after]) messages.closed.add(json);
  messages.answer = null;
}

function answerMessages(answer: Answer): string[] {
  // Reasoning alone is no message: strict servers refuse an empty one.
  if (answer.texts.length === 0 && answer.calls.length === 0) return answer.later;
  const fields = [`"role":"assistant"`];
  for (const field of reasoningFields) {
    const texts = answer.reasoning.filter((one) => one.field === field).map((one) => one.text);
    if (texts.length > 0) fields.push(`"${field}":${jsonText(texts.join("\n\n"))}`);
  }
  fields.push(`"content":${answer.texts.length === 0 ? "null" : jsonText(answer.texts.join("\n\n"))}`);
  if (answer.calls.length > 0) fields.push(`"tool_calls":[${answer.calls.join(",")}]`);
  return [`{${fields.join(",")}}`, ...answer.results, ...answer.images, ...answer.later];
}

function encodeItem(item: Item, image: ReadImage, identity: Identity): MessagePiece | Promise<MessagePiece> {
  switch (item.kind) {
    case "user_message":
      return userMessage(item, image);
    case "assistant_message":
      return item.text.trim() === "" ? nothing : { type: "text", text: item.text, size: item.text.length };
    case "reasoning":
      return reasoning(item, identity);
    case "tool_call": {
      const callId = wireCallId(item.callId);
      const name = jsonText(wireToolName(item.name));
      const json = `{"id":"${callId}","type":"function","function":{"name":${name},"arguments":${jsonText(wireArguments(item.input))}}}`;
      return { type: "call", callId, json, size: json.length };
    }
    case "tool_result":
      return toolResult(item, image);
    case "notice":
      // A system message in the middle is refused by many servers' templates, and `developer` is OpenAI's alone.
      return message(`{"role":"user","content":${jsonText(noticeText(item))}}`);
  }
}

function reasoning(item: Reasoning, identity: Identity): MessagePiece {
  const field = reasoningFields.find((name) => name === asText(ownPayload(item.opaque, identity)?.["field"]));
  return field === undefined || item.text === "" ? nothing : { type: "reasoning", field, text: item.text, size: item.text.length };
}

function userMessage(item: UserMessage, image: ReadImage): MessagePiece | Promise<MessagePiece> {
  const texts = item.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (texts.length === item.parts.length) return message(`{"role":"user","content":${jsonText(texts.join("\n\n"))}}`);
  return encodeParts(item.parts, image).then(({ json, size }) => ({ type: "message", json, size }));
}

function toolResult(item: ToolResult, image: ReadImage): MessagePiece | Promise<MessagePiece> {
  const callId = wireCallId(item.callId);
  const json = `{"role":"tool","tool_call_id":"${callId}","content":${jsonText(item.text)}}`;
  const images = item.images ?? [];
  if (images.length === 0) return { type: "result", callId, json, images: null, size: json.length };
  const label: Part = { type: "text", text: `<runtime_notice>\nImages of the result of call ${callId}:\n</runtime_notice>` };
  return encodeParts([label, ...images.map((one) => ({ type: "image" as const, ...one }))], image).then((encoded) => ({
    type: "result",
    callId,
    json,
    images: encoded.json,
    size: json.length + encoded.size,
  }));
}

/** A user message with images. */
async function encodeParts(parts: readonly Part[], image: ReadImage): Promise<{ readonly json: string; readonly size: number }> {
  const content: string[] = [];
  let correction = 0;
  for (const part of parts) {
    const data = part.type === "image" ? await image(part.blob) : null;
    if (part.type === "text" || data === null) {
      content.push(`{"type":"text","text":${jsonText(part.type === "text" ? part.text : missingImage)}}`);
      continue;
    }
    const url = dataUrl(data, part.mediaType);
    content.push(`{"type":"image_url","image_url":{"url":${jsonText(url)}}}`);
    correction += imageSize - url.length;
  }
  const json = `{"role":"user","content":[${content.join(",")}]}`;
  return { json, size: json.length + correction };
}

function message(json: string): MessagePiece {
  return { type: "message", json, size: json.length };
}

const nothing: MessagePiece = { type: "nothing", size: 0 };
