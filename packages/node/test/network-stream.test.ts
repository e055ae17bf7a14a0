import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer as createRawServer } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { createStreamFetch } from "../src/network/stream.ts";
import { certificate, privateKey } from "./tls-fixture.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(answer: RequestListener, server: Server = createServer(answer)): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/responses`;
}

const open = createStreamFetch();
const post = (url: string, signal = new AbortController().signal, body = "{}") =>
  open(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-key": "a" },
    body: new TextEncoder().encode(body),
    signal,
  });

async function textOf({ body }: Awaited<ReturnType<typeof open>>): Promise<string> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  for (let part = await reader.read(); part.done !== true; part = await reader.read())
    if (part.value !== undefined) chunks.push(part.value);
  return Buffer.concat(chunks).toString();
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk as Uint8Array);
  return Buffer.concat(chunks).toString();
}

describe("a model's request", () => {
  test("arrives whole, and its answer comes with status, headers and body", async () => {
    const url = await serve(async (request, response) => {
      const { method, url, headers } = request;
      const seen = [method, url, headers["x-key"], headers["content-type"], headers["accept-encoding"], await bodyOf(request)];
      response.writeHead(429, { "retry-after": "3", "x-two": ["a", "b"] }).end(seen.join("|"));
    });
    const answer = await post(url, undefined, `{"name":"名前"}`);
    expect([answer.status, answer.ok, answer.headers.get("Retry-After"), answer.headers.get("x-two"), answer.headers.get("none")]).toEqual([
      429,
      false,
      "3",
      "a, b",
      null,
    ]);
    expect(await textOf(answer)).toBe(`POST|/v1/responses|a|application/json|identity|{"name":"名前"}`);
  });

  test("is read piece by piece as it comes", async () => {
    let next: (() => void) | undefined;
    const url = await serve((_, response) => {
      response.write("one");
      next = () => response.end("two");
    });
    const reader = (await post(url)).body.getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("one");
    next?.();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("two");
    expect((await reader.read()).done).toBe(true);
  });

  test("uses the connection of the one before, where that was read to its end", async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end("done");
    });
    for (let at = 0; at < 3; at += 1) await textOf(await post(url));
    expect(ports.size).toBe(1);
  });

  test("undoes a coding that nobody asked for", async () => {
    const url = await serve((_, response) => void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("squeezed")));
    expect(await textOf(await post(url))).toBe("squeezed");
  });

  test("follows no redirect", async () => {
    const url = await serve((_, response) => void response.writeHead(307, { location: "/elsewhere" }).end());
    expect((await post(url)).status).toBe(307);
  });
});

describe("an answer that doesn't come", () => {
  test("nobody listens: the system's code is told", async () => {
    const server = createRawServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    await expect(post(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("the server hangs up before, and inside it", async () => {
    const before = await serve((request) => void request.socket.destroy());
    await expect(post(before)).rejects.toMatchObject({ code: "ECONNRESET" });
    const inside = await serve((request, response) => response.write("half", () => request.socket.destroy()));
    await expect(textOf(await post(inside))).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  test("an abort ends the connection, before the answer and inside it, and one that came before sends nothing", async () => {
    let arrived = 0;
    const closed: Promise<void>[] = [];
    const url = await serve((request, response) => {
      arrived += 1;
      closed.push(new Promise((resolve) => void request.socket.on("close", () => resolve())));
      if (arrived === 2) response.write("half");
    });
    await expect(post(url, AbortSignal.timeout(50))).rejects.toThrow("given up");
    const abort = new AbortController();
    const reader = (await post(url, abort.signal)).body.getReader();
    await reader.read();
    abort.abort();
    await expect(reader.read()).rejects.toThrow();
    await Promise.all(closed);
    await expect(post(url, AbortSignal.abort())).rejects.toThrow("given up");
    expect(arrived).toBe(2);
  });

  test("a reader that has enough ends the connection", async () => {
    let closed: Promise<void> | undefined;
    const url = await serve((request, response) => {
      closed = new Promise((resolve) => void request.socket.on("close", () => resolve()));
      response.write("half");
    });
    const reader = (await post(url)).body.getReader();
    await reader.read();
    await reader.cancel();
    await expect(closed).resolves.toBeUndefined();
  });

  test("a certificate that nobody vouches for is refused", async () => {
    const answer: RequestListener = (_, response) => void response.end("secret");
    const url = await serve(answer, createSecureServer({ key: privateKey, cert: certificate }, answer));
    await expect(post(url.replace("http:", "https:"))).rejects.toMatchObject({
      code: expect.stringMatching(/SELF_SIGNED|UNABLE_TO_VERIFY/),
    });
  });

  test("an answer that changes the protocol is none", async () => {
    const server = createRawServer((socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    await expect(post(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).rejects.toThrow("protocol");
  });
});
