import type { Item, Json, Part, Reasoning, ToolResult } from "@holdfast/protocol";
import { base64 } from "../data-url.ts";
import { ownPayload, type Identity } from "../identity.ts";
import { asText } from "../shape.ts";
import { jsonText } from "../text.ts";
import { turnEncoding, type Turn, type TurnPiece, type Turns } from "../turns.ts";
import { imageSize, type Encoding, type ReadImage } from "../window.ts";
import { foreignImage, missingImage, noticeText, wireCallId, wireInput, wireToolName } from "../wire-forms.ts";

/** The image formats the API takes (Anthropic's documentation, "Vision"). */
const imageTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** What a thinking block must come back with, unchanged: its text and signature, or the encrypted data of a redacted one. */
export function thinkingPayload(block: { readonly text: string; readonly signature: string; readonly data: string | null }): Json {
  return block.data === null ? { thinking: block.text, signature: block.signature } : { data: block.data };
}

/**
 * The user's two latest turns end in a cache mark: the latest is where the next request's prefix will be read from, the one
 * before is where this one's was written. A mark alone looks back over 20 blocks only, fewer than an answer with many calls
 * and its results have.
 */
export function messageEncoding(identity: Identity): Encoding<TurnPiece, Turns> {
  return turnEncoding({ encode: (item, image) => encodeItem(item, image, identity), write: message, marked: 2 });
}

function message({ role, results, blocks }: Turn, isMarked: boolean): string[] {
  const content = [...results, ...blocks];
  const last = content.pop();
  if (last === undefined) return [];
  return [
    `{"role":"${role === "model" ? "assistant" : "user"}","content":[${[...content, isMarked ? withCacheMark(last) : last].join(",")}]}`,
  ];
}

/** The JSON of an object with the mark as its last field. Marks are no part of what is cached or compared. */
export function withCacheMark(json: string): string {
  return `${json.slice(0, -1)},"cache_control":{"type":"ephemeral"}}`;
}

function encodeItem(item: Item, image: ReadImage, identity: Identity): TurnPiece | Promise<TurnPiece> {
  switch (item.kind) {
    case "user_message":
      return userMessage(item.parts, image);
    case "assistant_message":
      return item.text.trim() === "" ? nothing : { type: "text", block: text(item.text), size: item.text.length };
    case "reasoning":
      return reasoning(item, identity);
    case "tool_call": {
      const callId = wireCallId(item.callId);
      const name = wireToolName(item.name);
      const block = `{"type":"tool_use","id":"${callId}","name":${jsonText(name)},"input":${wireInput(item.input)}}`;
      return { type: "call", callId, name, block, first: block, size: block.length };
    }
    case "tool_result":
      return toolResult(item, image);
    case "notice":
      return user([text(noticeText(item))]);
  }
}

function reasoning(item: Reasoning, identity: Identity): TurnPiece {
  const payload = ownPayload(item.opaque, identity);
  const data = asText(payload?.["data"]);
  const signature = asText(payload?.["signature"]);
  if (data !== null) return { type: "reasoning", block: `{"type":"redacted_thinking","data":${jsonText(data)}}`, size: data.length };
  if (signature === null) return nothing;
  const block = `{"type":"thinking","thinking":${jsonText(asText(payload?.["thinking"]) ?? "")},"signature":${jsonText(signature)}}`;
  return { type: "reasoning", block, size: block.length };
}

function userMessage(parts: readonly Part[], image: ReadImage): TurnPiece | Promise<TurnPiece> {
  if (parts.every((part) => part.type === "text"))
    return user(parts.filter(({ text }) => text.trim() !== "").map((part) => text(part.text)));
  return encodeParts(parts, image).then(({ blocks, correction }) => user(blocks, correction));
}

function toolResult(item: ToolResult, image: ReadImage): TurnPiece | Promise<TurnPiece> {
  const callId = wireCallId(item.callId);
  const wrap = (fields: string, correction = 0): TurnPiece => {
    const block = `{"type":"tool_result","tool_use_id":"${callId}"${fields}}`;
    return { type: "result", callId, block: () => block, after: [], size: block.length + correction };
  };
  const images = item.images ?? [];
  // An error's content may be text alone.
  if (images.length === 0) {
    return wrap(
      (item.text.trim() === "" ? "" : `,"content":${jsonText(item.text)}`) + (item.status === "completed" ? "" : `,"is_error":true`),
    );
  }
  const parts: Part[] = [{ type: "text", text: item.text }, ...images.map((one) => ({ type: "image" as const, ...one }))];
  return encodeParts(parts, image).then(({ blocks, correction }) => wrap(`,"content":[${blocks.join(",")}]`, correction));
}

/** `correction` is what the length of the blocks has to be changed by, so that images count as what they cost. */
async function encodeParts(parts: readonly Part[], image: ReadImage): Promise<{ readonly blocks: string[]; readonly correction: number }> {
  const blocks: string[] = [];
  let correction = 0;
  for (const part of parts) {
    if (part.type === "text") {
      if (part.text.trim() !== "") blocks.push(text(part.text));
      continue;
    }
    if (!imageTypes.has(part.mediaType)) {
      blocks.push(text(foreignImage(part.mediaType)));
      continue;
    }
    const bytes = await image(part.blob);
    if (bytes === null) {
      blocks.push(text(missingImage));
      continue;
    }
    const data = base64(bytes);
    blocks.push(`{"type":"image","source":{"type":"base64","media_type":"${part.mediaType}","data":"${data}"}}`);
    correction += imageSize - data.length;
  }
  return { blocks, correction };
}

function text(value: string): string {
  return `{"type":"text","text":${jsonText(value)}}`;
}

function user(blocks: readonly string[], correction = 0): TurnPiece {
  if (blocks.length === 0) return nothing;
  return { type: "user", blocks, size: blocks.reduce((sum, block) => sum + block.length, correction) };
}

const nothing: TurnPiece = { type: "nothing", size: 0 };
