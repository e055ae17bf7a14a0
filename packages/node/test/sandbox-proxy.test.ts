import { mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostProxy } from "@holdfast/node/sandbox/proxy";
import { openProxy } from "@holdfast/node/sandbox/proxy";

const folder = mkdtempSync(join(tmpdir(), "holdfast-proxy-"));
const socketPath = join(folder, "proxy.sock");
const pass = `Proxy-Authorization: Basic ${Buffer.from("holdfast:token").toString("base64")}`;
let proxy: HostProxy;
let upstream: Server;
let address: string;
let answer = "";
let asked = "";

beforeAll(async () => {
  upstream = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .on("data", (bytes) => {
        asked += bytes.toString("latin1");
        if (!/ chunked\r\n/i.test(asked) || asked.endsWith("\r\n0\r\n\r\n")) socket.end(answer);
      });
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  address = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  proxy = await openProxy(socketPath, async () => ["127.0.0.1"]);
  proxy.allow("token", { isOpen: false, hosts: ["127.0.0.1"] });
});
afterAll(async () => {
  await proxy.close();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(request: string): Promise<string> {
  asked = "";
  const client = connect(socketPath);
  let text = "";
  client.on("data", (bytes) => (text += bytes.toString("latin1")));
  client.write(request);
  await once(client, "close");
  return text;
}

test("a port that is none is refused, and the proxy goes on", async () => {
  for (const port of ["0", "65536", "99999", "1e9", "99999999999999999999"])
    expect(await ask(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\n${pass}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 403 /);
});

test.each(["HTTP/1.1 099 x", "HTTP/1.1 600 x", "HTTP/1.1 999 x"])(
  "an answer of no status (%s) is told, and the proxy goes on",
  async (line) => {
    answer = `${line}\r\nContent-Length: 0\r\n\r\n`;
    const get = `GET http://${address}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${pass}\r\n\r\n`;
    expect(await ask(get)).toMatch(/^HTTP\/1\.1 502 /);
    answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfine\r\n0\r\n\r\n";
    expect(await ask(get)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*fine/);
  },
);

test("the body of a request never becomes a request of its own", async () => {
  answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
  const body = "GET /inside HTTP/1.1\r\nHost: elsewhere\r\n\r\n";
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  for (const method of ["GET", "DELETE", "POST"]) {
    const head = `${method} http://${address}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n${pass}\r\n\r\n`;
    expect(await ask(head + chunked)).toMatch(/^HTTP\/1\.1 200 /);
    expect(asked).toMatch(/\r\ntransfer-encoding: chunked\r\n/i);
    expect(asked.split("\r\n\r\n").slice(1).join("\r\n\r\n")).toBe(chunked);
  }
});
