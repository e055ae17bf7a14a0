import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isHoldfastError, type ErrorCode } from "@holdfast/protocol";
import type { Network, NetworkRequest } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

/** A server on loopback with a page for each case, and what it was asked. */
export interface Site {
  readonly port: number;
  readonly requests: { readonly line: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[];
  on(path: string, answer: (request: IncomingMessage, response: ServerResponse) => void): void;
  close(): Promise<void>;
}

export async function openSite(): Promise<Site> {
  const requests: Site["requests"] = [];
  const pages = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const server: Server = createServer((request, response) => {
    const chunks: Uint8Array[] = [];
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const page = pages.get((request.url ?? "").split("?")[0] ?? "");
      if (page === undefined) response.writeHead(404).end("nothing here");
      else page(request, response);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    on: (path, answer) => void pages.set(path, answer),
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

export function requestTo(url: string, more: Partial<NetworkRequest> = {}): NetworkRequest {
  return {
    url,
    method: "GET",
    headers: [],
    body: null,
    reach: { isOpen: false, hosts: ["127.0.0.1"] },
    timeoutMs: 10_000,
    maxBytes: 100_000,
    maxRedirects: 5,
    ...more,
  };
}

export async function codeOf(attempt: Promise<unknown>): Promise<ErrorCode | "none"> {
  try {
    await attempt;
    return "none";
  } catch (error) {
    if (isHoldfastError(error)) return error.code;
    throw error;
  }
}

/** What every `Network` must do. `make` gives one that finds these names at 127.0.0.1. */
export function networkConformance(name: string, make: () => Network): void {
  describe(`${name} as Network`, () => {
    let site: Site;
    let network: Network;
    const signal = new AbortController().signal;
    beforeEach(async () => {
      site = await openSite();
      network = make();
    });
    afterEach(() => site.close());
    const url = (path: string) => `http://127.0.0.1:${site.port}${path}`;
    const text = (body: Uint8Array) => new TextDecoder().decode(body);

    test("method, headers and body arrive; status, headers and body come back", async () => {
      site.on("/a", (_, response) => response.writeHead(201, { "X-Kind": "b" }).end("made"));
      const answer = await network.exchange(
        requestTo(url("/a?q=1"), { method: "POST", headers: [["X-Mine", "c"]], body: new TextEncoder().encode("häm") }),
        signal,
      );
      expect(answer).toMatchObject({ status: 201, end: "whole", url: url("/a?q=1") });
      expect(answer.headers).toContainEqual(["x-kind", "b"]);
      expect(text(answer.body)).toBe("made");
      expect(site.requests).toMatchObject([{ line: "POST /a?q=1", headers: { "x-mine": "c" }, body: "häm" }]);
    });

    test("a body longer than asked for is read no further", async () => {
      site.on("/long", (_, response) => response.end("x".repeat(500)));
      const answer = await network.exchange(requestTo(url("/long"), { maxBytes: 100 }), signal);
      expect([answer.end, answer.body.length]).toEqual(["capped", 100]);
      expect((await network.exchange(requestTo(url("/long"), { maxBytes: 500 }), signal)).end).toBe("whole");
    });

    test("a host that the reach does not name is refused, and so is every redirect to one", async () => {
      site.on("/away", (_, response) => response.writeHead(302, { location: `http://localhost:${site.port}/secret` }).end());
      const closed = { isOpen: false, hosts: [] };
      expect(await codeOf(network.exchange(requestTo(url("/a"), { reach: closed }), signal))).toBe("network_refused");
      expect(site.requests).toEqual([]);
      expect(await codeOf(network.exchange(requestTo(url("/away")), signal))).toBe("network_refused");
      expect(site.requests.map((each) => each.line)).toEqual(["GET /away"]);
    });

    test("redirects are followed as often as allowed, or handed over", async () => {
      site.on("/1", (_, response) => response.writeHead(302, { location: "/2" }).end());
      site.on("/2", (_, response) => response.end("there"));
      site.on("/loop", (_, response) => response.writeHead(307, { location: "/loop" }).end());
      const answer = await network.exchange(requestTo(url("/1")), signal);
      expect([answer.url, text(answer.body)]).toEqual([url("/2"), "there"]);
      expect((await network.exchange(requestTo(url("/1"), { maxRedirects: 0 }), signal)).status).toBe(302);
      expect(await codeOf(network.exchange(requestTo(url("/loop")), signal))).toBe("network_refused");
    });

    test("what is no http URL, or holds a password, is refused", async () => {
      for (const bad of ["file:///etc/passwd", "ftp://127.0.0.1/", "data:text/plain,x", "nonsense", `http://a:b@127.0.0.1:${site.port}/`]) {
        expect(await codeOf(network.exchange(requestTo(bad), signal)), bad).toBe("network_refused");
      }
      expect(site.requests).toEqual([]);
    });

    test("whether a request may have arrived can be told from the error", async () => {
      const closed = await openSite();
      await closed.close();
      expect(await codeOf(network.exchange(requestTo(`http://127.0.0.1:${closed.port}/`), signal))).toBe("network_unreached");
      site.on("/dead", (request) => request.socket.destroy());
      site.on("/mute", () => undefined);
      expect(await codeOf(network.exchange(requestTo(url("/dead")), signal))).toBe("network_unanswered");
      expect(await codeOf(network.exchange(requestTo(url("/mute"), { timeoutMs: 1_500 }), signal))).toBe("network_unanswered");
    });
  });
}
