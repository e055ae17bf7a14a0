import { isHoldfastError } from "@holdfast/protocol/error";
import type { Model, SamplingRequest, StreamPart } from "@holdfast/runtime";
import { addressBelow } from "./address.ts";
import { openExchange, readAnswer, type Exchange, type HttpResponse } from "./exchange.ts";
import { classify, describeFailure, errorIn, type Failure } from "./failure.ts";
import { retryAfterMs } from "./retry-after.ts";
import { asRecord, asText, parseJson } from "./shape.ts";
import { createWatch, type Watch } from "./watch.ts";
import type { Wire, WireBody } from "./wire.ts";

/** What of `fetch` a sampling needs: the host's own fits, and so does one that has only this. */
export type Fetch = (url: string, request: HttpRequest) => Promise<HttpResponse>;

export interface HttpRequest {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
  readonly redirect: "manual";
}

export interface HttpModelOptions {
  /** `provider/name`. */
  readonly id: string;
  /** The provider's API root as it is, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** Asked at each sampling, so that a refreshed key is used. Null: no header for it. */
  readonly apiKey: () => Promise<string | null>;
  /** Sent with each request; their values are kept out of messages like the key. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly contextWindow?: number | null;
  /** Default: the host's `fetch`. Node's own ends a silent response after 5 minutes whatever `idleTimeoutMs` says; its host has another. */
  readonly fetch?: Fetch;
  /** Milliseconds of silence, before or inside the answer, after which a sampling fails. Default 5 minutes. */
  readonly idleTimeoutMs?: number;
  /** Wall-clock milliseconds, for a `Retry-After` date from a server that sends no `Date`. */
  readonly now?: () => number;
}

const defaultIdleMs = 5 * 60_000;
const errorBodyMs = 10_000;
const maxErrorBody = 64 * 1024;

/** A model behind HTTP: one POST a sampling, answered by an event stream. Throws `config_invalid` for a base URL that is none. */
export function createHttpModel(wire: Wire, options: HttpModelOptions): Model {
  const url = addressBelow(options.baseUrl, wire, options.id);
  const host = new URL(url).host;
  const send: Fetch = options.fetch ?? ((address, init) => fetch(address, init));
  const now = options.now ?? (() => Date.now());

  /** Requests in a row that the provider didn't know the kept answer of: it keeps none, whatever it was asked. */
  let refusals = 0;

  async function* sample(request: SamplingRequest, signal: AbortSignal): AsyncGenerator<StreamPart> {
    // One that names an answer which is gone was refused before anything happened: the whole conversation goes in its place.
    const isForgotten = yield* post(request, signal, refusals >= mostRefusals);
    if (isForgotten) yield* post(request, signal, true);
  }

  /** Returns true where the provider doesn't know the answer that the request followed on; then nothing of it was passed on. */
  async function* post(request: SamplingRequest, signal: AbortSignal, whole: boolean): AsyncGenerator<StreamPart, boolean> {
    const watch = createWatch(signal, options.idleTimeoutMs ?? defaultIdleMs);
    const secrets = Object.values(options.headers ?? {});
    const failed = (failure: Failure): StreamPart => ({
      type: "failed",
      error: describeFailure(failure, { id: options.id, host, secrets }),
    });
    let exchange: Exchange | null = null;
    let isDone = false;
    let stage: Stage = "key";
    try {
      if (watch.state === "aborted") return false;
      const key = (await unlessEnded(options.apiKey(), watch))?.trim() ?? "";
      if (key !== "") secrets.push(key);
      const headers = requestHeaders(wire.headers(key), options.headers ?? {});
      stage = "body";
      const body = await unlessEnded(wire.body(request, whole), watch);
      stage = "connect";
      const post = { method: "POST", headers, body: body.bytes, signal: watch.signal, redirect: "manual" } as const;
      const response = await unlessEnded(send(url, post), watch);
      watch.heard();
      exchange = openExchange(response, watch);
      if (!response.ok) {
        const sent = { body, contextWindow: options.contextWindow ?? null };
        const failure = await httpFailure(response, exchange, watch, now(), sent);
        if (signal.aborted) return false;
        if (isForgotten(body, failure)) {
          refusals += 1;
          return true;
        }
        yield failed(failure);
        return false;
      }
      const sent = { ...wire.form, ...(whole ? { isWhole: true } : {}), digest: body.digest };
      let isSilent = true;
      for await (const part of readAnswer(exchange, wire.decoder(body), watch)) {
        if (part.type === "started") stage = "answer";
        isDone = part.type === "finished";
        if (isDone && body.follows !== undefined) refusals = 0;
        if (part.type === "failed" && isSilent && isForgotten(body, part.failure)) {
          refusals += 1;
          return true;
        }
        if (part.type !== "started") isSilent = false;
        if (part.type === "failed") yield failed(part.failure);
        else yield part.type === "started" ? { type: "started", sent } : part;
      }
    } catch (error) {
      if (watch.state !== "aborted") yield failed(brokenOff(error, stage, watch));
    } finally {
      if (exchange === null) watch.close();
      else exchange.close(isDone);
    }
    return false;
  }
  return { id: options.id, contextWindow: options.contextWindow ?? null, sample };
}

/** After so many the provider isn't asked to go on from an answer any more: each asking would cost a round trip. */
const mostRefusals = 2;

/**
 * OpenAI's own code for it is \`previous_response_not_found\` (status 400); other servers of the protocol only name the
 * parameter, or answer 404, which at an address that has answered before can mean nothing else.
 */
function isForgotten({ follows }: WireBody, { code, param, status }: Failure): boolean {
  if (follows === undefined) return false;
  return code === "previous_response_not_found" || param === "previous_response_id" || status === 404;
}

/** How far a sampling had come when something threw. */
type Stage = "key" | "body" | "connect" | "answer";

function brokenOff(error: unknown, stage: Stage, watch: Watch): Failure {
  if (watch.state === "idle") {
    const message = stage === "answer" ? "nothing new came for too long; the answer was given up" : "no answer came for too long";
    return { class: "network", code: "idle_timeout", message };
  }
  switch (stage) {
    case "key":
      // What went wrong there may quote the key.
      return { class: "auth", message: "the API key can't be read, or a header can't carry it" };
    case "body":
      return { class: "invalid_request", code: "request_not_built", message: messageOf(error) };
    case "connect": {
      const code = causeCode(error);
      const advice =
        code === "ECONNREFUSED" ? "Nothing listens there. Start the server, or check the base URL." : "Check the base URL and the network.";
      return { class: "network", code, message: advice };
    }
    case "answer":
      if (isHoldfastError(error, "model_cut")) return { class: "cut", code: "too_large", message: error.message };
      return { class: "cut", code: causeCode(error), message: "the connection broke inside the answer" };
  }
}

interface Sent {
  readonly body: WireBody;
  readonly contextWindow: number | null;
}

async function httpFailure(response: HttpResponse, exchange: Exchange, watch: Watch, now: number, sent: Sent): Promise<Failure> {
  watch.limit(errorBodyMs);
  const status = response.status === 0 ? null : response.status;
  if (status === null || (status >= 300 && status < 400)) {
    const message = "it answers with a redirect, which is not followed with a key and a prompt. Set the base URL to where it leads.";
    return { class: "invalid_request", status, code: "redirected", message };
  }
  const text = await exchange.readText(maxErrorBody);
  const error = errorIn(parseJson(text));
  const isPage = text.trimStart().startsWith("<");
  return {
    ...(isTooLong(status, error, sent) ? { class: "context_overflow" } : {}),
    status,
    sentBytes: sent.body.bytes.length,
    code: error?.code ?? null,
    kind: error?.kind ?? null,
    param: error?.param ?? null,
    message: error?.message ?? (isPage ? "it sent a web page." : text),
    retryAfterMs: retryAfterMs(response.headers, now) ?? error?.retryAfterMs ?? null,
  };
}

/**
 * Several providers call a prompt that is too long no more than an invalid request, but for its text. Where nothing more
 * exact was said and the input would fill the window at three characters a token, its length is what is wrong.
 */
function isTooLong(status: number, error: Pick<Failure, "code" | "kind"> | null, { body, contextWindow }: Sent): boolean {
  const isVague = status === 400 && classify(status, error?.code ?? null, error?.kind ?? null) === "invalid_request";
  return isVague && contextWindow !== null && body.size / 3 >= contextWindow;
}

/** Settles with the promise, or rejects as soon as the watch gives up, whether or not the other side takes notice. */
function unlessEnded<T>(promise: Promise<T>, watch: Watch): Promise<T> {
  return new Promise((resolve, reject) => {
    const onEnd = (): void => reject(new Error("given up"));
    if (watch.state !== "open") onEnd();
    watch.signal.addEventListener("abort", onEnd, { once: true });
    promise.then(resolve, reject).finally(() => watch.signal.removeEventListener("abort", onEnd));
  });
}

/** By names in lower case. Throws where a name or value can't be sent (RFC 9110, 5.1 and 5.5). */
function requestHeaders(own: Readonly<Record<string, string>>, extra: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "text/event-stream" };
  for (const [name, value] of [...Object.entries(own), ...Object.entries(extra)]) {
    const trimmed = value.trim();
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed)) throw new Error("a header can't be sent");
    headers[name.toLowerCase()] = trimmed;
  }
  return headers;
}

/** The system's code behind a failed fetch (`ECONNREFUSED`): hosts put it in `cause`, some of them nested. */
function causeCode(error: unknown): string | null {
  for (let at = asRecord(error), depth = 0; at !== null && depth < 5; at = asRecord(at["cause"]), depth++) {
    const code = asText(at["code"]);
    // `DOMException` has a number there that says nothing.
    if (code !== null && /^[A-Z]/.test(code)) return code;
  }
  return null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
