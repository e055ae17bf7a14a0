import type { CallOutcome } from "@holdfast/protocol";
import type { BlobStore } from "@holdfast/runtime";
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { cleanLine, cleanText } from "./clean.ts";
import { fitText } from "./fit.ts";

/** What models take as images, and the largest one. */
const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const largestImage = 5 * 1024 * 1024;
/** A larger one isn't decoded to be scaled down. */
const largestRead = 40_000_000;
const mostImages = 20;
/** A longer text of nothing but base64 letters in structured content is data, not words. */
const longestWord = 1_000;

export interface OutcomePorts {
  readonly blobs: BlobStore;
  /** Takes out secret values. */
  readonly redact: (text: string) => string;
}

/**
 * A tool's result as a model reads it: text of every block in order, images as blobs, structured content once. What is
 * too long goes whole to the blob store, under `handle`, and is shown in part. Everything in it is the server's word: untrusted.
 */
export async function outcomeOf(result: CallToolResult, handle: string, { blobs, redact }: OutcomePorts): Promise<CallOutcome> {
  const images: NonNullable<CallOutcome["images"]> = [];
  /** Base64 text that was shown as something else, and how it is named. */
  const known = new Map<string, string>();

  const addImage = async (data: string, mediaType: string, what: string): Promise<string> => {
    const size = (data.length / 4) * 3;
    const about = `${what}${cleanLine(mediaType, 60)}, ${sizeOf(size)}`;
    const isTaken = imageTypes.includes(mediaType) && size > 0 && size <= largestRead && images.length < mostImages;
    const whole = isTaken ? bytesOf(data) : null;
    const fitted = whole === null ? null : await (await import("@holdfast/runtime/image/fit")).fitImage(whole);
    const shown = fitted ?? (whole === null ? null : { bytes: whole, mediaType });
    const isShown = shown !== null && shown.bytes.length <= largestImage;
    const scaled = fitted === null ? "" : `, scaled down to ${fitted.width}×${fitted.height}`;
    const label = isShown ? `[image ${images.length + 1}: ${about}${scaled}]` : `[${about}: not shown]`;
    if (isShown) images.push({ blob: await blobs.put(shown.bytes), mediaType: shown.mediaType, bytes: shown.bytes.length });
    known.set(data, label);
    return label;
  };

  const textOf = async (block: ContentBlock): Promise<string> => {
    switch (block.type) {
      case "text":
        return known.get(block.text) ?? block.text;
      case "image":
        return addImage(block.data, block.mimeType, "");
      case "audio": {
        const label = `[audio: ${block.mimeType}, ${sizeOf((block.data.length * 3) / 4)}: not shown]`;
        known.set(block.data, label);
        return label;
      }
      case "resource_link":
        return [`[resource ${block.uri}${block.mimeType === undefined ? "" : `, ${block.mimeType}`}]`, block.name, block.description]
          .filter((part) => part !== undefined && part !== block.uri)
          .join(" ");
      case "resource": {
        const { resource } = block;
        if ("text" in resource) return `[resource ${resource.uri}]\n${resource.text}`;
        const { uri, blob, mimeType = "application/octet-stream" } = resource;
        if (!mimeType.startsWith("text/")) return addImage(blob, mimeType, `resource ${uri}, `);
        known.set(blob, `[resource ${uri}]`);
        return `[resource ${uri}]\n${new TextDecoder().decode(bytesOf(blob))}`;
      }
    }
  };

  // Images first: a text that repeats one is then known as such.
  const texts = new Map<ContentBlock, string>();
  for (const isText of [false, true]) {
    for (const block of result.content) if ((block.type === "text") === isText) texts.set(block, await textOf(block));
  }
  const parts = result.content.map((block) => texts.get(block) ?? "");
  const structured = result.structuredContent;
  if (structured !== undefined && !isRepeated(structured, parts)) parts.push(structuredText(structured, known));
  const text = redact(cleanText(parts.filter((part) => part !== "").join("\n")));
  const fitted = await fitText(text === "" ? "(the tool answered with nothing)" : text, handle, blobs);
  return {
    status: result.isError === true ? "failed" : "completed",
    trust: "untrusted",
    ...fitted,
    ...(images.length === 0 ? {} : { images }),
  };
}

/** Servers are asked to repeat structured content as text; many just put their text into it. */
function isRepeated(structured: unknown, parts: readonly string[]): boolean {
  const values = typeof structured === "object" && structured !== null ? Object.values(structured) : [];
  return (values.length === 1 && parts.includes(values[0] as string)) || parts.some((part) => isSame(part, structured));
}

function isSame(text: string, structured: unknown): boolean {
  if (!text.trimStart().startsWith("{")) return false;
  try {
    return stable(JSON.parse(text)) === stable(structured);
  } catch {
    return false;
  }
}

function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function structuredText(structured: unknown, known: ReadonlyMap<string, string>): string {
  return JSON.stringify(structured, (_, value: unknown) => {
    if (typeof value !== "string" || value.length < 64) return value;
    const data = value.replace(/^data:[^,]{0,100},/, "");
    const label = known.get(data);
    if (label !== undefined) return label;
    return data.length > longestWord && /^[A-Za-z0-9+/_-]+=*$/.test(data) ? `[${data.length} characters of base64]` : value;
  });
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function sizeOf(bytes: number): string {
  return bytes < 1024 ? `${Math.round(bytes)} bytes` : `${Math.round(bytes / 1024)} kB`;
}
