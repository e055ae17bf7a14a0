import { attestationEnvelope, statementPayloadType } from "@holdfast/protocol";
import { fromBase64, toBase64 } from "./base64.ts";
import { readStrictJson } from "./strict-json.ts";

/** An envelope taken apart. Nothing of it is to be believed before a signature holds. */
export interface OpenedEnvelope {
  readonly payloadType: string;
  /** The payload's UTF-8 text: what is signed, byte for byte. */
  readonly payload: string;
  /** `keyId` null: it doesn't say. `signature`: standard base64. */
  readonly signatures: readonly { readonly keyId: string | null; readonly signature: string }[];
}

/** What DSSE signs (protocol.md, "pre-authentication encoding"), as text: lengths are in bytes. */
export function preAuthEncoding(payloadType: string, payload: string): string {
  const size = (text: string): number => new TextEncoder().encode(text).length;
  return `DSSEv1 ${size(payloadType)} ${payloadType} ${size(payload)} ${payload}`;
}

/** On one line, without a blank or a line end: there is no byte in it that says nothing. */
export function sealEnvelope(payload: string, { keyId, signature }: { readonly keyId: string; readonly signature: string }): string {
  return JSON.stringify({
    payloadType: statementPayloadType,
    payload: toBase64(new TextEncoder().encode(payload)),
    signatures: [{ keyid: keyId, sig: signature }],
  });
}

/** Takes an envelope apart, or says why it is none. */
export function openEnvelope(bytes: Uint8Array): OpenedEnvelope | { readonly problem: string } {
  const text = utf8(bytes);
  if (text === null) return { problem: "it is not UTF-8" };
  if (text.trim() === "") return { problem: "it is empty" };
  const json = readStrictJson(text);
  if ("problem" in json) return json;
  const parsed = attestationEnvelope.safeParse(json.value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { problem: `it is no DSSE envelope: ${[issue?.path.join("."), issue?.message].filter((part) => part).join(": ")}` };
  }
  const { payloadType, payload, signatures } = parsed.data;
  const body = fromBase64(payload);
  const inner = body === null ? null : utf8(body);
  if (body === null) return { problem: "its payload is not base64" };
  if (inner === null) return { problem: "its payload is not UTF-8" };
  const opened: { keyId: string | null; signature: string }[] = [];
  for (const { keyid, sig } of signatures) {
    const raw = fromBase64(sig);
    if (raw === null) return { problem: "a signature is not base64" };
    opened.push({ keyId: keyid ?? null, signature: toBase64(raw) });
  }
  return { payloadType, payload: inner, signatures: opened };
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
