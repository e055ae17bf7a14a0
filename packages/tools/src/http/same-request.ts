import type { Json } from "@holdfast/protocol/json";
import { identityOf } from "@holdfast/runtime/kernel/identity";
import type { HeaderInput } from "./headers.ts";

interface Request {
  readonly url: string;
  readonly method: string;
  readonly headers?: HeaderInput | undefined;
  readonly json?: unknown;
  readonly body?: string | undefined;
}

/** What a server answers by, and not what it does. */
const unimportant = /^(?:accept|accept-language|user-agent|cache-control|pragma|content-type)$/i;

/**
 * What makes a request the same effect as another, however it is written (RFC 3986, 6.2; RFC 9110, 5.1). Where two that
 * count as one would be two to some server, a person is asked once too often; the other way about something is paid twice.
 */
export function requestIdentity({ url, method, headers = {}, json, body }: Request): string {
  const kept = Object.entries(headers).filter(([name]) => !unimportant.test(name));
  return identityOf({
    url: plainUrl(url),
    method,
    headers: Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), value])) as Json,
    body: (json === undefined ? asJson(body) : asJson(json)) as Json,
  });
}

/** `URL` has taken out a default port, the case of the host and the dots of the path. */
function plainUrl(text: string): string {
  const url = new URL(text);
  const host = url.hostname.replace(/\.$/, "");
  const port = url.port === "" ? "" : `:${url.port}`;
  const query = url.search.replace(/^\?$/, "");
  return `${url.protocol}//${host}${port}${plainEscapes(url.pathname)}${plainEscapes(query)}`;
}

/** An unreserved character means the same with and without its escape, and the digits of one have no case. */
function plainEscapes(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (escape, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[\w.~-]/.test(character) ? character : escape.toUpperCase();
  });
}

/** A body given as text may be the same JSON; an empty one is none. */
function asJson(body: unknown): unknown {
  if (body === "") return null;
  if (typeof body !== "string") return body ?? null;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
