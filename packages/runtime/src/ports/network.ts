import type { Reach } from "../network/hosts.ts";

export type { Reach };

export interface NetworkRequest {
  /** Absolute, `http:` or `https:`, without user and password. */
  readonly url: string;
  readonly method: string;
  /** Names and values as they are sent; what concerns the connection (Host, Content-Length…) is the port's. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | null;
  readonly reach: Reach;
  /** For the whole exchange, redirects and body included. */
  readonly timeoutMs: number;
  /** Bytes of the body, decompressed, that are read; the rest is not. */
  readonly maxBytes: number;
  /** How many redirects are followed. Another host gets none of the headers that could identify somebody. */
  readonly maxRedirects: number;
}

export interface NetworkResponse {
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly status: number;
  /** Names in lower case; a name may come more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** `capped`: the body is longer than `maxBytes`. `cut`: it ended early, or took too long; `body` is what had come. */
  readonly end: "whole" | "capped" | "cut";
}

/**
 * The only way out for HTTP that is not a command's. A name is resolved once; every address is checked against the reach,
 * and the connection goes to the one that was checked; so at every redirect. No proxy, no cookies, no cache.
 */
export interface Network {
  /**
   * Throws `network_refused` where a rule is against it and `network_unreached` where no connection came about: nothing was
   * sent then, but for what a redirect has answered. Throws `network_unanswered` where the request may have arrived and no answer came.
   * When the signal aborts, throws `network_unreached` or `network_unanswered`.
   */
  exchange(request: NetworkRequest, signal: AbortSignal): Promise<NetworkResponse>;
}
