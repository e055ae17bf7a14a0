import type { SentBody } from "@holdfast/protocol";
import type { SamplingRequest, StreamPart } from "@holdfast/runtime";
import type { Failure } from "./failure.ts";
import type { SseEvent } from "./sse.ts";

/** What a decoder makes of the stream; a failure is put into words by the exchange, which knows host and model. */
export type WirePart = Exclude<StreamPart, { type: "started" | "failed" }> | { readonly type: "failed"; readonly failure: Failure };

/** Turns one answer into parts. After `finished` or `failed` it is not asked again. */
export interface Decoder {
  /** `isProgress` false for events that say nothing about the answer (pings, a gateway's own). */
  event(event: SseEvent): { readonly parts: readonly WirePart[]; readonly isProgress: boolean };
  /** A whole JSON document where a stream was asked for: an error, or a server that doesn't stream. */
  document(value: unknown): readonly WirePart[];
  /** The stream is over, by its end or by a failure of the connection: what had been said stands or falls. */
  end(): readonly WirePart[];
  /** True when all that matters is known, and the rest of the stream gets a moment only. */
  readonly isSettled: boolean;
}

export interface WireBody {
  /** JSON in UTF-8. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Length for estimates: images counted as what they cost in tokens. */
  readonly size: number;
  /** The same for the same bytes of the same wire. */
  readonly digest: string;
  /** Set where the provider may keep the answer: the digest of all items, as a later request has to begin. */
  readonly window?: string;
  /** The kept answer that it follows on; the items up to there are not in it. */
  readonly follows?: string;
}

/**
 * Of every wire: what can differ from one request of a session to the next (limits of the answer, effort, its form) stands
 * behind the list that grows, so that a request begins with the bytes of the one before.
 */
export const bodyLayout = 2;

/** One provider protocol, for one model. */
export interface Wire {
  /** With it and the model's name the wire can be made again, and writes the same bodies. */
  readonly form: Omit<SentBody, "digest" | "isWhole">;
  /** Below the base URL; may end in a query. */
  readonly path: string;
  /** A version segment that people leave out of the base URL, put in where it has none; null: the base URL is taken as it is. */
  readonly version: string | null;
  /** The protocol's own headers. An empty key is none. */
  headers(key: string): Readonly<Record<string, string>>;
  /** `whole`: it follows on no kept answer. */
  body(request: SamplingRequest, whole?: boolean): Promise<WireBody>;
  decoder(body: Pick<WireBody, "size" | "window">): Decoder;
}

/** What the host knows of a model beyond its name. */
export interface WireOptions {
  /** Most tokens that one answer may have, for wires that must name a number. */
  readonly maxOutputTokens?: number | null;
  /** The provider may keep requests and answers, so that a request needs only what is new. Wires that can't do without it pay no heed. */
  readonly isStored?: boolean;
  /** It loads tools that a search has found by their definitions, in items of its own (`responses`). Other wires pay no heed. */
  readonly loadsTools?: boolean;
}

/** The key as OpenAI's protocols carry it. */
export function bearer(key: string): Readonly<Record<string, string>> {
  return key === "" ? {} : { authorization: `Bearer ${key}` };
}
