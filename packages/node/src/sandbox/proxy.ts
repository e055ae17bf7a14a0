import { createServer as createHttpServer, request as httpRequest } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { rmSync } from "node:fs";
import type { Duplex } from "node:stream";
import { answerHost } from "@holdfast/runtime/network/hosts";
import type { HostAnswer, Reach, Resolve } from "@holdfast/runtime/network/hosts";
import { connectTo, join } from "./pinned.ts";
import { serveSocks, socksVersion } from "./socks.ts";

/** The only way out for commands that may reach some hosts: a proxy (HTTP and SOCKS) in our process, on a Unix socket. */
export interface HostProxy {
  /** Lets whoever presents `token` reach this. */
  allow(token: string, reach: Reach): void;
  forbid(token: string): void;
  /** What was refused to whoever presented `token`, each host and port once. */
  refusals(token: string): readonly RefusedHost[];
  close(): Promise<void>;
}

export interface RefusedHost {
  readonly host: string;
  readonly port: number;
  readonly reason: string;
}

/** More of one run than a person would read. */
const mostRefusals = 20;

/** Headers that concern one connection alone (RFC 9110, 7.6.1), and the proxy's own. */
const hopByHop = ["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"];

export async function openProxy(socketPath: string, resolve: Resolve): Promise<HostProxy> {
  const passes = new Map<string, { readonly reach: Reach; readonly refused: Map<string, RefusedHost> }>();
  const sockets = new Set<Socket>();
  const http = createHttpServer();

  const answer: Answer = async (token, host, port) => {
    const pass = passes.get(token ?? "");
    if (pass === undefined) return { type: "refused", reason: "no command of this session" };
    const verdict = await answerHost(host, port, pass.reach, resolve);
    if (verdict.type === "refused" && pass.refused.size < mostRefusals)
      pass.refused.set(`${host}:${port}`, { host, port, reason: verdict.reason });
    return verdict;
  };

  http.on("request", (request: IncomingMessage, response: ServerResponse) => {
    // Whatever fails for one client is its own affair: nothing of it may end this process.
    forward(request, response, answer).catch(() => response.destroy());
  });
  http.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    tunnel(request, client, head, answer).catch(() => client.destroy());
  });
  http.on("clientError", (_error, client: Duplex) => client.destroy());

  // The first byte tells the two apart: no method of HTTP begins with it.
  const server = createServer((client) => {
    sockets.add(client);
    client.on("close", () => sockets.delete(client)).on("error", () => client.destroy());
    client.once("readable", () => {
      const first = client.read(1) as Buffer | null;
      if (first === null) return;
      client.unshift(first);
      if (first[0] === socksVersion) void serveSocks(client, answer);
      else http.emit("connection", client);
    });
  });

  rmSync(socketPath, { force: true });
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(socketPath, done);
  });
  server.unref();
  return {
    allow: (token, reach) => void passes.set(token, { reach, refused: new Map() }),
    forbid: (token) => void passes.delete(token),
    refusals: (token) => [...(passes.get(token)?.refused.values() ?? [])],
    close: async () => {
      for (const socket of sockets) socket.destroy();
      http.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

type Answer = (token: string | null, host: string, port: number) => Promise<HostAnswer>;

/** Plain HTTP: the absolute URL decides, whatever the Host header says, and the Host header is made to agree. */
async function forward(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const url = parseUrl(request.url ?? "");
  if (url === null) return refuse(response, 400, "this is a proxy: it takes absolute http:// URLs and CONNECT");
  const port = url.port === "" ? 80 : Number(url.port);
  const verdict = await answer(tokenOf(request), url.hostname, port);
  if (verdict.type !== "allowed") return refuse(response, 403, verdict.reason);
  // A body keeps the framing it came with: without any it would be the next request for whoever reads on.
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !hopByHop.includes(name)));
  const onward = httpRequest(
    {
      createConnection: () => connectTo(verdict.addresses, port),
      method: request.method,
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host },
    },
    (reply) => answerWith(reply, response),
  );
  onward.on("error", (error) => (response.headersSent ? response.destroy() : refuse(response, 502, error.message)));
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

function answerWith(reply: IncomingMessage, response: ServerResponse): void {
  reply.on("error", () => response.destroy());
  const status = reply.statusCode ?? 0;
  try {
    if (status < 200 || status > 599) return refuse(response, 502, `it answered with the status ${status}`);
    // Ours has its own framing.
    const kept = Object.entries(reply.headers).filter(([name]) => !hopByHop.includes(name) && name !== "transfer-encoding");
    response.writeHead(status, Object.fromEntries(kept));
    reply.pipe(response);
  } catch {
    // What it sent can't be sent on.
    response.destroy();
  }
}

/** CONNECT: bytes pass as they are; only the name and the address they go to are checked. */
async function tunnel(request: IncomingMessage, client: Socket, head: Buffer, answer: Answer): Promise<void> {
  client.on("error", () => client.destroy());
  const match = /^(.+):(\d+)$/.exec(request.url ?? "");
  const port = Number(match?.[2]);
  const verdict: HostAnswer =
    match === null ? { type: "refused", reason: "CONNECT takes host:port" } : await answer(tokenOf(request), match[1] ?? "", port);
  if (verdict.type !== "allowed") {
    client.end(`HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nholdfast: ${verdict.reason}\n`);
    return;
  }
  const onward = connectTo(verdict.addresses, port);
  onward.once("connect", () => {
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    onward.write(head);
    join(client, onward);
  });
  onward.once("error", () => client.end("HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\n\r\n"));
  client.once("close", () => onward.destroy());
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { "content-type": "text/plain", connection: "close" });
  response.end(`holdfast: ${reason}\n`);
}

/** The password of `Proxy-Authorization: Basic`. */
function tokenOf(request: IncomingMessage): string | null {
  const match = /^Basic (\S+)$/i.exec(request.headers["proxy-authorization"] ?? "");
  return match === null
    ? null
    : (Buffer.from(match[1] ?? "", "base64")
        .toString("latin1")
        .split(":")[1] ?? null);
}

function parseUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}
