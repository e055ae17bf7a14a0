import type { Item, Json, Opaque, Part, ToolResult } from "@holdfast/protocol";
import { base64 } from "../data-url.ts";
import { ownPayload, type Identity } from "../identity.ts";
import { asText } from "../shape.ts";
import { jsonText } from "../text.ts";
import { turnEncoding, type Turn, type TurnPiece, type Turns } from "../turns.ts";
import { imageSize, type Encoding, type ReadImage } from "../window.ts";
import { foreignImage, missingImage, noticeText, wireCallId, wireInput, wireToolName } from "../wire-forms.ts";
import { versionOf } from "./effort.ts";

/** The image formats the API takes (Gemini API documentation, "Image understanding"). */
const imageTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"]);

/** What a part's signature is kept as. It goes back in the part it came with. */
export function signaturePayload(signature: string): Json {
  return { thought_signature: signature };
}

/**
 * Stands for a signature that this model didn't give: from version 3 on the API refuses a step whose first call has none,
 * and names this value for history that came from elsewhere (Gemini API documentation, "Thought signatures").
 */
const noSignature = "skip_thought_signature_validator";

export function contentEncoding(identity: Identity): Encoding<TurnPiece, Turns> {
  return turnEncoding({ encode: (item, image) => encodeItem(item, image, identity), write: contents, marked: 0 });
}

/** Results make a content of their own: it answers the calls before it one for one. */
function contents({ role, results, blocks }: Turn): string[] {
  return [results, blocks].filter((parts) => parts.length > 0).map((parts) => `{"role":"${role}","parts":[${parts.join(",")}]}`);
}

function encodeItem(item: Item, image: ReadImage, identity: Identity): TurnPiece | Promise<TurnPiece> {
  switch (item.kind) {
    case "user_message":
      return userMessage(item.parts, image);
    case "assistant_message": {
      if (item.text.trim() === "") return nothing;
      const block = part(`"text":${jsonText(item.text)}`, signatureOf(item.opaque, identity));
      return { type: "text", block, size: item.text.length };
    }
    case "reasoning": {
      const signature = signatureOf(item.opaque, identity);
      if (signature === null) return nothing;
      const block = part(`"text":${jsonText(item.text)},"thought":true`, signature);
      return { type: "reasoning", block, size: block.length };
    }
    case "tool_call": {
      const callId = wireCallId(item.callId);
      const name = wireToolName(item.name);
      const call = `"functionCall":{"id":"${callId}","name":${jsonText(name)},"args":${wireInput(item.input)}}`;
      const signature = signatureOf(item.opaque, identity);
      const needsSignature = (versionOf(identity.model) ?? 0) >= 3;
      const first = part(call, signature ?? (needsSignature ? noSignature : null));
      return { type: "call", callId, name, block: part(call, signature), first, size: call.length };
    }
    case "tool_result":
      return toolResult(item, image);
    case "notice":
      return user([text(noticeText(item))]);
  }
}

function signatureOf(opaque: Opaque | undefined, identity: Identity): string | null {
  return asText(ownPayload(opaque, identity)?.["thought_signature"]);
}

function part(fields: string, signature: string | null): string {
  return `{${fields}${signature === null ? "" : `,"thoughtSignature":${jsonText(signature)}`}}`;
}

function userMessage(parts: readonly Part[], image: ReadImage): TurnPiece | Promise<TurnPiece> {
  if (parts.every((one) => one.type === "text")) return user(parts.filter((one) => one.text.trim() !== "").map((one) => text(one.text)));
  return encodeParts(parts, image).then(({ blocks, correction }) => user(blocks, correction));
}

/** Images follow behind the results: older models take none inside. */
function toolResult(item: ToolResult, image: ReadImage): TurnPiece | Promise<TurnPiece> {
  const callId = wireCallId(item.callId);
  const response = `{"${item.status === "completed" ? "output" : "error"}":${jsonText(item.text)}}`;
  const wrap = (after: readonly string[], size: number): TurnPiece => ({
    type: "result",
    callId,
    block: (name) => `{"functionResponse":{"id":"${callId}","name":${jsonText(name)},"response":${response}}}`,
    after,
    size: response.length + 100 + size,
  });
  const images = item.images ?? [];
  if (images.length === 0) return wrap([], 0);
  const label: Part = { type: "text", text: `<runtime_notice>\nImages of the result of call ${callId}:\n</runtime_notice>` };
  return encodeParts([label, ...images.map((one) => ({ type: "image" as const, ...one }))], image).then(({ blocks, correction }) =>
    wrap(
      blocks,
      blocks.reduce((sum, block) => sum + block.length, correction),
    ),
  );
}

/** `correction` is what the length of the blocks has to be changed by, so that images count as what they cost. */
async function encodeParts(parts: readonly Part[], image: ReadImage): Promise<{ readonly blocks: string[]; readonly correction: number }> {
  const blocks: string[] = [];
  let correction = 0;
  for (const one of parts) {
    if (one.type === "text") {
      if (one.text.trim() !== "") blocks.push(text(one.text));
      continue;
    }
    const bytes = imageTypes.has(one.mediaType) ? await image(one.blob) : null;
    if (bytes === null) {
      blocks.push(text(imageTypes.has(one.mediaType) ? missingImage : foreignImage(one.mediaType)));
      continue;
    }
    const data = base64(bytes);
    blocks.push(`{"inlineData":{"mimeType":"${one.mediaType}","data":"${data}"}}`);
    correction += imageSize - data.length;
  }
  return { blocks, correction };
}

function text(value: string): string {
  return `{"text":${jsonText(value)}}`;
}

function user(blocks: readonly string[], correction = 0): TurnPiece {
  if (blocks.length === 0) return nothing;
  return { type: "user", blocks, size: blocks.reduce((sum, block) => sum + block.length, correction) };
}

const nothing: TurnPiece = { type: "nothing", size: 0 };
