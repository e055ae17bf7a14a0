import type { Item, Json, Part, Reasoning, ToolResult } from "@holdfast/protocol";
import { dataUrl } from "../data-url.ts";
import { ownPayload, type Identity } from "../identity.ts";
import { createJoined, type Joined } from "../joined.ts";
import { asList, asRecord, asText } from "../shape.ts";
import { jsonText } from "../text.ts";
import { imageSize, type Encoding, type Piece, type ReadImage } from "../window.ts";
import { searchCall, searchName, searchOutput } from "./tool-search.ts";
import { missingImage, noticeText, wireArguments, wireCallId, wireToolName } from "../wire-forms.ts";

/** One input item. `json` is null where there is nothing to send. */
export interface InputPiece extends Piece {
  readonly json: string | null;
  /** Of a call and its result: which call it is of, and the id that the provider gave it. The id goes in before `rest`. */
  readonly call?: { readonly callId: string; readonly given: string | null; readonly rest: string };
  /** What came of a model can follow reasoning; reasoning itself waits for it. */
  readonly role: "reasoning" | "model" | "other";
  /** The last piece of an answer that the provider keeps: its id, and the digest of all that it answered. */
  readonly kept?: Kept;
}

interface Kept {
  readonly id: string;
  readonly window: string;
}

export interface Input {
  readonly sent: Joined;
  /** Reasoning whose answer has not been seen yet. */
  waiting: string[];
  /** The digest of what stands before the answer that is being added; null outside of one. */
  before: string | null;
  /** The last answer that a request can follow on, and how long the list was with it. */
  last: { readonly id: string; readonly length: number } | null;
  /** Under which ids calls were sent, and whose an id is. */
  readonly ids: Map<string, string>;
  readonly taken: Map<string, string>;
}

/**
 * A call goes back under the id that this provider gave it, where no other call of the request has that: some servers
 * number their calls anew with each answer. Any other goes under ours. Results come after their calls.
 */
function idOf({ ids, taken }: Input, { callId, given }: NonNullable<InputPiece["call"]>): string {
  const known = ids.get(callId);
  if (known !== undefined) return known;
  const id = given !== null && !taken.has(given) ? given : wireCallId(callId);
  ids.set(callId, id);
  taken.set(id, callId);
  return id;
}

/** What we keep of a reasoning item for the provider. Its id means nothing where nothing is stored (`store: false`). */
export function reasoningPayload(item: Readonly<Record<string, unknown>>): Json | null {
  const encrypted = asText(item["encrypted_content"]);
  if (encrypted === null) return null;
  const summary = asList(item["summary"]).map((part) => asText(asRecord(part)?.["text"]) ?? "");
  return { encrypted_content: encrypted, summary };
}

/** What the provider was said to do of itself. */
interface Kinds {
  readonly isStored: boolean;
  readonly loadsTools: boolean;
}

/**
 * Reasoning is only legal right before the item it led to: one that an answer ended with (cut by its length) is dropped
 * as soon as anything else follows.
 */
export function inputEncoding(identity: Identity, { isStored, loadsTools }: Kinds): Encoding<InputPiece, Input> {
  const add = (input: Input, piece: InputPiece & { readonly json: string }): void => {
    if (piece.role === "reasoning") {
      input.waiting.push(piece.json);
      return;
    }
    if (piece.role === "model") for (const json of input.waiting) input.sent.add(json);
    input.waiting = [];
    input.sent.add(piece.call === undefined ? piece.json : `${piece.json}${idOf(input, piece.call)}${piece.call.rest}`);
  };
  // Which calls are searches: their results say of whom they are by its id alone.
  const searches = new Set<string>();
  return {
    encode: (item, image) => {
      const piece = (loadsTools ? encodeSearch(item, identity, searches) : null) ?? encodeItem(item, image, identity);
      const kept = isStored && "opaque" in item ? keptIn(ownPayload(item.opaque, identity)) : null;
      return kept === null || piece instanceof Promise ? piece : { ...piece, kept };
    },
    start: () => ({ sent: createJoined(), waiting: [], before: null, last: null, ids: new Map(), taken: new Map() }),
    add: (input, piece) => {
      const { json, role, kept } = piece;
      if (json === null) return;
      if (role === "other") input.before = null;
      else if (isStored) input.before ??= input.sent.digest();
      add(input, { ...piece, json });
      // Only where everything that it answered still stands as it was: nothing erased, no new window.
      if (kept !== undefined && kept.window === input.before) input.last = { id: kept.id, length: input.sent.length };
    },
    render: ({ sent, last }, frame) => {
      const window = isStored ? { window: sent.digest() } : {};
      if (last === null || frame.isWhole === true || last.length === sent.length) return { ...sent.body(frame, []), ...window };
      const end = frame.end.replace(/^\]/, `],"previous_response_id":${jsonText(last.id)}`);
      return { ...sent.body({ ...frame, end }, [], last.length), ...window, follows: last.id };
    },
  };
}

/** What the last item of a kept answer remembers of it: in its payload, so that it goes back to this provider and model alone. */
export function keptPayload(id: string, window: string): Readonly<Record<string, Json>> {
  return { response_id: id, window };
}

function keptIn(payload: Readonly<Record<string, unknown>> | null): Kept | null {
  const [id, window] = [asText(payload?.["response_id"]), asText(payload?.["window"])];
  return id === null || window === null ? null : { id, window };
}

/** A search of the provider's own kind, and what it found; null for anything else. */
function encodeSearch(item: Item, identity: Identity, searches: Set<string>): InputPiece | null {
  if (item.kind === "tool_call" && item.name === searchName) {
    searches.add(item.callId);
    const given = asText(ownPayload(item.opaque, identity)?.["call_id"]);
    return ofCall(piece(searchCall.start, "model"), { callId: item.callId, given, rest: searchCall.rest(item.input) });
  }
  if (item.kind !== "tool_result" || !searches.has(item.callId)) return null;
  return ofCall(piece(searchOutput.start), { callId: item.callId, given: null, rest: searchOutput.rest(item.tools ?? []) });
}

function encodeItem(item: Item, image: ReadImage, identity: Identity): InputPiece | Promise<InputPiece> {
  switch (item.kind) {
    case "user_message":
      return userMessage(item.parts, image);
    case "assistant_message": {
      if (item.text.trim() === "") return nothing;
      const phase = asText(ownPayload(item.opaque, identity)?.["phase"]);
      const content = `[{"type":"output_text","text":${jsonText(item.text)}}]`;
      return piece(
        `{"type":"message","role":"assistant",${phase === null ? "" : `"phase":${jsonText(phase)},`}"content":${content}}`,
        "model",
      );
    }
    case "reasoning":
      return reasoning(item, identity);
    case "tool_call": {
      const name = jsonText(wireToolName(item.name));
      const rest = `","name":${name},"arguments":${jsonText(wireArguments(item.input))}}`;
      const given = asText(ownPayload(item.opaque, identity)?.["call_id"]);
      return ofCall(piece('{"type":"function_call","call_id":"', "model"), { callId: item.callId, given, rest });
    }
    case "tool_result":
      return toolResult(item, image);
    case "notice": {
      // Only words that are the runtime's throughout get the developer's authority.
      const role = item.trust === "system" ? "developer" : "user";
      return piece(`{"type":"message","role":"${role}","content":[${inputText(noticeText(item))}]}`);
    }
  }
}

function reasoning(item: Reasoning, identity: Identity): InputPiece {
  const payload = ownPayload(item.opaque, identity);
  const encrypted = asText(payload?.["encrypted_content"]);
  if (payload === null || encrypted === null) return nothing;
  const summary = asList(payload["summary"]).map((text) => `{"type":"summary_text","text":${jsonText(asText(text) ?? "")}}`);
  return piece(`{"type":"reasoning","summary":[${summary.join(",")}],"encrypted_content":${jsonText(encrypted)}}`, "reasoning");
}

function userMessage(parts: readonly Part[], image: ReadImage): InputPiece | Promise<InputPiece> {
  const wrap = (content: readonly string[], images: number, bytes: number): InputPiece =>
    sized(`{"type":"message","role":"user","content":[${content.join(",")}]}`, images, bytes);
  if (parts.every((part) => part.type === "text"))
    return wrap(
      parts.map((part) => inputText(part.text)),
      0,
      0,
    );
  return encodeParts(parts, image).then(({ content, images, bytes }) => wrap(content, images, bytes));
}

function toolResult(item: ToolResult, image: ReadImage): InputPiece | Promise<InputPiece> {
  const wrap = (output: string, images: number, bytes: number): InputPiece =>
    ofCall(sized('{"type":"function_call_output","call_id":"', images, bytes), {
      callId: item.callId,
      given: null,
      rest: `","output":${output}}`,
    });
  if (item.images === undefined || item.images.length === 0) return wrap(jsonText(item.text), 0, 0);
  const parts: Part[] = [{ type: "text", text: item.text }, ...item.images.map((one) => ({ type: "image" as const, ...one }))];
  return encodeParts(parts, image).then(({ content, images, bytes }) => wrap(`[${content.join(",")}]`, images, bytes));
}

async function encodeParts(parts: readonly Part[], image: ReadImage) {
  const content: string[] = [];
  let images = 0;
  let bytes = 0;
  for (const part of parts) {
    const data = part.type === "image" ? await image(part.blob) : null;
    if (part.type === "text" || data === null) {
      content.push(inputText(part.type === "text" ? part.text : missingImage));
      continue;
    }
    const url = dataUrl(data, part.mediaType);
    content.push(`{"type":"input_image","image_url":${jsonText(url)}}`);
    images += 1;
    bytes += url.length;
  }
  return { content, images, bytes };
}

function inputText(text: string): string {
  return `{"type":"input_text","text":${jsonText(text)}}`;
}

function piece(json: string, role: InputPiece["role"] = "other"): InputPiece {
  return { json, role, size: json.length };
}

function sized(json: string, images: number, bytes: number): InputPiece {
  return { json, role: "other", size: json.length - bytes + images * imageSize };
}

function ofCall(start: InputPiece, call: NonNullable<InputPiece["call"]>): InputPiece {
  return { ...start, call, size: start.size + call.rest.length + idChars };
}

/** About as long as an id is. */
const idChars = 30;

const nothing: InputPiece = { json: null, role: "other", size: 0 };
