import { createServer, request as httpRequest } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { connect } from "node:net";
import { rmSync } from "node:fs";
import type { Duplex } from "node:stream";
import { answerHost } from "@holdfast/runtime/network/hosts";
import type { HostAnswer, Resolve } from "@holdfast/runtime/network/hosts";

/** The only way out for commands that may reach some hosts: an HTTP proxy in our process, on a Unix socket. */
export interface HostProxy {
  /** Lets whoever presents `token` reach `hosts`. */
  allow(token: string, hosts: readonly string[]): void;
  forbid(token: string): void;
  close(): Promise<void>;
}

/** Headers that concern one connection alone (RFC 9110, 7.6.1), and the proxy's own. */
const hopByHop = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

export async function openProxy(socketPath: string, resolve: Resolve): Promise<HostProxy> {
  const lists = new Map<string, readonly string[]>();
  const tunnels = new Set<Duplex>();
  const server = createServer();

  const answer = async (request: IncomingMessage, host: string, port: number): Promise<HostAnswer> => {
    const hosts = lists.get(tokenOf(request) ?? "");
    return hosts === undefined
      ? { type: "refused", reason: "no command of this session" }
      : answerHost(host, port, { isOpen: false, hosts }, resolve);
  };

  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    void forward(request, response, answer);
  });
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    keep(tunnels, client);
    void tunnel(request, client, head, answer, tunnels);
  });
  server.on("clientError", (_error, client: Duplex) => client.destroy());

  rmSync(socketPath, { force: true });
  await new Promise<void>((done, fail) => {
    server.once("error", fail);
    server.listen(socketPath, done);
  });
  server.unref();
  return {
    allow: (token, hosts) => void lists.set(token, hosts),
    forbid: (token) => void lists.delete(token),
    close: () => close(server, tunnels),
  };
}

type Answer = (request: IncomingMessage, host: string, port: number) => Promise<HostAnswer>;

/** Plain HTTP: the absolute URL decides, whatever the Host header says, and the Host header is made to agree. */
async function forward(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
  const url = parseUrl(request.url ?? "");
  if (url === null) return refuse(response, 400, "this is a proxy: it takes absolute http:// URLs and CONNECT");
  const port = url.port === "" ? 80 : Number(url.port);
  const verdict = await answer(request, url.hostname, port);
  if (verdict.type !== "allowed") return refuse(response, 403, verdict.reason);
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !hopByHop.includes(name)));
  const onward = httpRequest(
    { host: verdict.address, port, method: request.method, path: url.pathname + url.search, headers: { ...headers, host: url.host } },
    (reply) => {
      const kept = Object.entries(reply.headers).filter(([name, value]) => !hopByHop.includes(name) && value !== undefined);
      response.writeHead(reply.statusCode ?? 502, Object.fromEntries(kept) as Record<string, string | string[]>);
      reply.pipe(response);
      reply.on("error", () => response.destroy());
    },
  );
  onward.on("error", (error) => (response.headersSent ? response.destroy() : refuse(response, 502, error.message)));
  response.on("close", () => onward.destroy());
  request.pipe(onward);
}

/** CONNECT: bytes pass as they are; only the name and the address they go to are checked. */
async function tunnel(request: IncomingMessage, client: Duplex, head: Buffer, answer: Answer, tunnels: Set<Duplex>): Promise<void> {
  client.on("error", () => client.destroy());
  const match = /^(.+):(\d+)$/.exec(request.url ?? "");
  const port = Number(match?.[2]);
  const verdict: HostAnswer =
    match === null ? { type: "refused", reason: "CONNECT takes host:port" } : await answer(request, match[1] ?? "", port);
  if (verdict.type !== "allowed") {
    client.end(`HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nholdfast: ${verdict.reason}\n`);
    return;
  }
  const onward = connect({ host: verdict.address, port });
  keep(tunnels, onward);
  onward.on("connect", () => {
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    onward.write(head);
    onward.pipe(client);
    client.pipe(onward);
  });
  onward.on("error", () => client.destroy());
  onward.on("close", () => client.destroy());
  client.on("close", () => onward.destroy());
}

function keep(tunnels: Set<Duplex>, stream: Duplex): void {
  tunnels.add(stream);
  stream.on("close", () => tunnels.delete(stream));
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

function close(server: Server, tunnels: Set<Duplex>): Promise<void> {
  for (const stream of tunnels) stream.destroy();
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}
