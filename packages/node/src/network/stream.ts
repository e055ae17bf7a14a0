import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";

/** What of a `fetch` request a model needs. */
interface StreamRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** A model's answer while it comes, in the form of a fetch response. */
interface StreamResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done?: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  };
}

/** Until a connection stands. A host that takes longer doesn't answer. */
const connectMs = 10_000;
/** A connection that nobody used for so long is closed: many servers close theirs at five seconds, and a request on the way would be lost. */
const unusedMs = 4_000;

const agentOptions = { keepAlive: true, timeout: unusedMs };

/**
 * What models send their requests with: like the host's `fetch` without redirects, but an answer may be silent for as long as
 * the caller likes, and half of the time to load it is saved. Connections are kept between requests. Rejects with the system's error.
 * `onSent` is told when a request has left, and there is time for other things.
 */
export function createStreamFetch(onSent: () => void = () => undefined): (url: string, request: StreamRequest) => Promise<StreamResponse> {
  const plain = new HttpAgent(agentOptions);
  // TLS is loaded where an address asks for it.
  let secure: Promise<{ readonly request: typeof httpRequest; readonly agent: HttpAgent }> | undefined;
  const loadSecure = async () => {
    const { Agent, request } = await import("node:https");
    return { request, agent: new Agent(agentOptions) };
  };
  return async (url, request) => {
    const { protocol } = new URL(url);
    const via = protocol === "https:" ? await (secure ??= loadSecure()) : { request: httpRequest, agent: plain };
    const message = await send(via, url, request, onSent);
    const body = await decoded(message);
    const status = message.statusCode ?? 0;
    return {
      status,
      ok: status >= 200 && status < 300,
      headers: { get: (name) => headerOf(message, name) },
      body: { getReader: () => readerOf(body, message) },
    };
  };
}

function send(
  via: { readonly request: typeof httpRequest; readonly agent: HttpAgent },
  url: string,
  { method, headers, body, signal }: StreamRequest,
  onSent: () => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const all = { ...headers, "content-length": String(body.length), "accept-encoding": "identity" };
    const sent = via.request(url, { method, headers: all, agent: via.agent });
    const late = setTimeout(() => sent.destroy(Object.assign(new Error("no connection came about"), { code: "ETIMEDOUT" })), connectMs);
    const onAbort = (): void => void sent.destroy(new Error("given up"));
    sent.on("socket", (socket) => {
      if (!socket.connecting) clearTimeout(late);
      else socket.once(url.startsWith("https:") ? "secureConnect" : "connect", () => clearTimeout(late));
    });
    sent.on("finish", onSent);
    sent.on("response", resolve);
    sent.on("error", reject);
    sent.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("it changed the protocol"));
    });
    sent.on("close", () => {
      clearTimeout(late);
      signal.removeEventListener("abort", onAbort);
    });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    sent.end(body);
  });
}

/** Nobody asked for a coding; a proxy may use one all the same. */
async function decoded(message: IncomingMessage): Promise<Readable> {
  if (message.headers["content-encoding"] === undefined) return message;
  return (await import("./decompress.ts")).decompressed(message);
}

function headerOf(message: IncomingMessage, name: string): string | null {
  const value = message.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}

function readerOf(body: Readable, message: IncomingMessage) {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  return {
    read: () => chunks.next(),
    cancel: async (): Promise<void> => {
      body.destroy();
      message.destroy();
    },
  };
}
