import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { collect, connect, errorOf, listen, type Loopback } from "./loopback.ts";

let server: Loopback | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const wires = ["responses", "chat", "messages", "gemini"] as const;
/** Words that are another class's in somebody's table of texts. */
const misleading = [
  "read ECONNRESET: the connection resets in 20 minutes",
  "rate limit exceeded, please retry",
  "session limit - resets 3:30pm",
  "401 unauthorized: quota exceeded",
  "请求过于频繁,请稍后再试",
  "Das Kontingent ist erschöpft",
];
const byStatus = [
  [401, "auth"],
  [403, "auth"],
  [404, "invalid_request"],
  [422, "invalid_request"],
  [429, "rate_limited"],
  [500, "overloaded"],
  [529, "overloaded"],
] as const;

describe.each(wires)("error classified by text (C07), %s", (wire) => {
  it.each(byStatus)("status %i is %s, whatever the words are", async (status, expected) => {
    let said = "";
    server = await listen((response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: said } }));
    });
    for (said of misleading) {
      expect(errorOf(await collect(connect(wire, { baseUrl: server.baseUrl })))).toMatchObject({ class: expected, status });
    }
  });

  it("a connection that is reset is the network's, one that is never made as well", async () => {
    const reset = createServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
    await new Promise<void>((resolve) => reset.listen(0, "127.0.0.1", resolve));
    const { port } = reset.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/v1`;
    expect(errorOf(await collect(connect(wire, { baseUrl })))).toMatchObject({ class: "network", status: null });
    await new Promise((resolve) => reset.close(resolve));
    expect(errorOf(await collect(connect(wire, { baseUrl })))).toMatchObject({ class: "network", status: null });
  });
});
