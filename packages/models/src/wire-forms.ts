import { sha256 } from "@holdfast/runtime/hash";
import type { Notice } from "@holdfast/protocol";
import { asRecord, parseJson } from "./shape.ts";

/** Our call id as both wires take it: at most 64 of `[a-zA-Z0-9_-]`. Anything else becomes a digest of itself. */
export function wireCallId(callId: string): string {
  return isWireCallId(callId) ? callId : `call_${sha256(callId).slice(0, 40)}`;
}

export function isWireCallId(callId: string): boolean {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(callId);
}

/** A key of the prompt cache: the wire takes at most 64 characters. */
export function wireCacheKey(key: string): string {
  return key.length <= 64 ? key : sha256(key);
}

/**
 * The name of a called tool. A model can call a name that no tool has, even one the wire refuses in a request; without
 * this, such a call would make every later request of the session fail.
 */
export function wireToolName(name: string): string {
  const legal = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return legal === "" ? "unnamed" : legal;
}

/**
 * A call's input as the wires want it: the JSON text of an object. What the model wrote stays byte for byte where it is
 * one; else it is wrapped, so that the model still sees what it had written. Nothing at all means no arguments.
 */
export function wireArguments(input: string): string {
  if (input.trim() === "") return "{}";
  return asRecord(parseJson(input)) === null ? JSON.stringify({ invalid_arguments: input.toWellFormed() }) : input;
}

/** The same for wires that take an object instead of its text. Half a character in it would make the whole request no JSON. */
export function wireInput(input: string): string {
  const json = wireArguments(input);
  return /\\ud[89a-f]/i.test(json) ? JSON.stringify(wellFormed(parseJson(json))) : json.toWellFormed();
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  const record = asRecord(value);
  return record === null
    ? value
    : Object.fromEntries(Object.entries(record).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]));
}

/** Words of the runtime, marked so that the model can tell them from the person's. */
export function noticeText(notice: Notice): string {
  return `<runtime_notice>\n${notice.text}\n</runtime_notice>`;
}

export const missingImage = "[An image was here; its content is no longer stored.]";

/** In the place of an image whose format the target refuses: one such image would make every later request fail. */
export function foreignImage(mediaType: string): string {
  return `[An image was here; its format, ${mediaType}, can't be shown to this model.]`;
}
