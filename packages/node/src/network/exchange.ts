import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { HoldfastError } from "@holdfast/protocol/error";
import type { NetworkRequest, NetworkResponse } from "@holdfast/runtime/ports/network";
import { acceptedCodings, decompressed } from "./decompress.ts";

/** Bytes of an answer's head; more is an error of the parser. */
const maxHeadBytes = 32 * 1024;

const agentOptions = { keepAlive: false, autoSelectFamily: true };

export type HopRequest = Pick<NetworkRequest, "method" | "headers" | "body" | "maxBytes">;
export type Hop = Omit<NetworkResponse, "url">;

/**
 * One request to one of the addresses that were checked, and its answer. TLS is held to the URL's name, not to the address. Once the
 * signal aborts, an answer whose head has come counts as cut. Throws `network_unreached` and `network_unanswered`.
 */
export async function exchangeWith(addresses: readonly string[], url: URL, request: HopRequest, signal: AbortSignal): Promise<Hop> {
  const { message, close } = await sendTo(addresses, url, request, signal);
  try {
    const headers = pairsOf(message.rawHeaders);
    const { body, end } = await readBody(message, request.maxBytes, signal);
    return { status: message.statusCode ?? 0, headers, body, end };
  } finally {
    close();
  }
}

function sendTo(
  addresses: readonly string[],
  url: URL,
  { method, headers, body }: HopRequest,
  signal: AbortSignal,
): Promise<{ message: IncomingMessage; close: () => void }> {
  const isSecure = url.protocol === "https:";
  const name = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const lines = [...headers, ["Host", url.host] as const, ["Accept-Encoding", acceptedCodings] as const, ["Connection", "close"] as const];
  if (body !== null || ["POST", "PUT", "PATCH"].includes(method)) lines.push(["Content-Length", String(body?.length ?? 0)]);
  const options: RequestOptions = {
    host: name,
    // Nothing is looked up again; the next address is tried where one doesn't answer.
    lookup: (_, { all }, found) =>
      all === true
        ? found(
            null,
            addresses.map((address) => ({ address, family: isIP(address) })),
          )
        : found(null, addresses[0] ?? "", isIP(addresses[0] ?? "")),
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    method,
    path: url.pathname + url.search,
    headers: lines.flat(),
    maxHeaderSize: maxHeadBytes,
    insecureHTTPParser: false,
    // An agent of its own: no connection is shared, and no proxy comes from the environment.
    agent: isSecure ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions),
    // A server name must be a name (RFC 6066, 3); without one the certificate is held to the address.
    ...(isSecure ? { servername: isIP(name) === 0 ? name : "", rejectUnauthorized: true } : {}),
  };
  return new Promise((resolve, reject) => {
    let isConnected = false;
    let sent: ClientRequest;
    const fail = (why: string): void => {
      signal.removeEventListener("abort", onAbort);
      sent?.destroy();
      reject(
        isConnected
          ? new HoldfastError("network_unanswered", `${url.host} did not answer: ${why}`)
          : new HoldfastError("network_unreached", `${url.host} could not be reached: ${why}`),
      );
    };
    const onAbort = (): void => fail(reasonOf(signal));
    try {
      sent = isSecure ? httpsRequest(options) : httpRequest(options);
    } catch (error) {
      return fail(messageOf(error));
    }
    sent.on("socket", (socket) => {
      if (!socket.connecting && !isSecure) isConnected = true;
      socket.once(isSecure ? "secureConnect" : "connect", () => (isConnected = true));
    });
    sent.on("error", (error) => fail(messageOf(error)));
    sent.on("upgrade", () => fail("it changed the protocol"));
    sent.on("close", () => fail("it closed the connection"));
    sent.on("response", (message) => {
      signal.removeEventListener("abort", onAbort);
      resolve({ message, close: () => sent.destroy() });
    });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    sent.end(body ?? undefined);
  });
}

async function readBody(message: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Pick<Hop, "body" | "end">> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let end: Hop["end"] = "whole";
  const body = decompressed(message);
  const stop = (): void => void message.destroy(new Error("stopped"));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      const room = maxBytes - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += Math.min(chunk.length, room);
      if (chunk.length <= room) continue;
      end = "capped";
      break;
    }
  } catch {
    end = "cut";
  } finally {
    signal.removeEventListener("abort", stop);
    message.destroy();
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return { body: whole, end };
}

function pairsOf(raw: readonly string[]): (readonly [string, string])[] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [(raw[2 * at] ?? "").toLowerCase(), raw[2 * at + 1] ?? ""] as const);
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof DOMException && signal.reason.name === "TimeoutError" ? "the time was up" : "it was interrupted";
}

/** Node's code says it best (ECONNREFUSED, CERT_HAS_EXPIRED); its message may hold an address of the machine. */
function messageOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
