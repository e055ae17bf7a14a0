import { redact } from "@holdfast/runtime/redact";

/**
 * A server may send a secret back, and in another writing: within JSON, or within a URL. Works on bytes of any kind, so that
 * what is kept whole holds no more than what is shown.
 */
export function redactBytes(bytes: Uint8Array, secrets: readonly string[]): Uint8Array {
  const text = bytesToText(bytes);
  const clean = redact(text, writingsOf(secrets));
  return clean === text ? bytes : Uint8Array.from(clean, (each) => each.charCodeAt(0));
}

export function redactText(text: string, secrets: readonly string[]): string {
  return redact(text, secrets.flatMap(inOtherWriting));
}

function writingsOf(secrets: readonly string[]): string[] {
  return secrets.flatMap(inOtherWriting).map((each) => bytesToText(new TextEncoder().encode(each)));
}

function inOtherWriting(secret: string): string[] {
  return [...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())])];
}

/** A character a byte; arguments of a call are bounded in number. */
function bytesToText(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) pieces.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return pieces.join("");
}
