import { HoldfastError } from "@holdfast/protocol/error";
import { answerHost, type Resolve } from "@holdfast/runtime/network/hosts";
import type { Network, NetworkRequest } from "@holdfast/runtime/ports/network";
import { exchangeWith } from "./exchange.ts";
import { resolveByDns } from "./resolve.ts";

const redirects = new Set([301, 302, 303, 307, 308]);

/** Headers that identify nobody: all that another origin gets of a redirected request. */
const impersonal = new Set(["accept", "accept-language", "user-agent", "range"]);

/** The machine's own network, without proxies, shared connections, cookies or a cache. */
export function createNetwork(resolve: Resolve = resolveByDns): Network {
  return {
    async exchange(request, signal) {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs)]);
      let current = request;
      for (let hops = 0; ; hops += 1) {
        const url = urlOf(current.url);
        const hop = await exchangeWith(await addressesOf(url, request, resolve, limited), url, current, limited);
        const location = redirects.has(hop.status) ? hop.headers.find(([name]) => name === "location")?.[1] : undefined;
        if (location === undefined || request.maxRedirects === 0) return { ...hop, url: url.href };
        if (hops === request.maxRedirects) throw refusal(`more than ${request.maxRedirects} redirects, the last to ${location}`);
        current = redirected(current, url, location, hop.status);
      }
    },
  };
}

async function addressesOf(url: URL, { reach }: NetworkRequest, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const answer = await Promise.race([answerHost(url.hostname, port, reach, resolve), aborted(signal)]);
  if (answer === null) throw new HoldfastError("network_unreached", `${url.host} could not be resolved in time`);
  switch (answer.type) {
    case "allowed":
      return answer.addresses;
    case "refused":
      throw refusal(answer.reason);
    case "unresolved":
      throw new HoldfastError("network_unreached", answer.reason);
  }
}

/** Resolves once the signal aborts. The resolver itself can't be stopped. */
function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw refusal(`${text} is no URL`);
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refusal(`${url.protocol} is not reached here, only http: and https:`);
  if (url.username !== "" || url.password !== "") throw refusal(`the URL of ${url.host} holds a user or a password`);
  return url;
}

/** RFC 9110, 15.4: what was no GET or HEAD becomes a GET without a body, except at 307 and 308. */
function redirected(request: NetworkRequest, from: URL, location: string, status: number): NetworkRequest {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : null;
  if (to === null) throw refusal(`${from.host} redirects to what is no URL`);
  const keepsMethod = status === 307 || status === 308 || request.method === "GET" || request.method === "HEAD";
  const isElsewhere = to.origin !== from.origin;
  if (isElsewhere && keepsMethod && request.body !== null) throw refusal(`${from.host} passes the body on to ${to.host}`);
  return {
    ...request,
    url: to.href,
    method: keepsMethod ? request.method : "GET",
    body: keepsMethod ? request.body : null,
    headers: request.headers.filter(
      ([name]) => (!isElsewhere || impersonal.has(name.toLowerCase())) && (keepsMethod || !name.toLowerCase().startsWith("content-")),
    ),
  };
}

function refusal(reason: string): HoldfastError {
  return new HoldfastError("network_refused", reason);
}
