import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { Network, NetworkRequest } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { codeOf, networkConformance, openSite, requestTo, type Site } from "../../runtime/test/network-conformance.ts";
import { createNetwork } from "../src/network/index.ts";
import { certificate, privateKey } from "./tls-fixture.ts";

networkConformance("Node", () => createNetwork());

let site: Site;
beforeEach(async () => {
  site = await openSite();
});
afterEach(() => site.close());
const signal = new AbortController().signal;
const text = (body: Uint8Array) => new TextDecoder().decode(body);

/** A network that finds each name at the next of its addresses, as a hostile name server would have it. */
function rebinding(addresses: readonly string[][]): { network: Network; asked: string[] } {
  const asked: string[] = [];
  return { asked, network: createNetwork(async (name) => addresses[asked.push(name) - 1] ?? ["127.0.0.1"]) };
}

describe("a name that leads elsewhere", () => {
  test("is asked for once, and the address that was checked is the one that is connected to", async () => {
    site.on("/", (_, response) => response.end("inside"));
    const { network, asked } = rebinding([["127.0.0.1"], ["93.184.215.14"]]);
    const answer = await network.exchange(
      requestTo(`http://app.test:${site.port}/`, { reach: { isOpen: false, hosts: ["app.test", "127.0.0.1"] } }),
      signal,
    );
    expect([text(answer.body), asked]).toEqual(["inside", ["app.test"]]);
    expect(site.requests[0]?.headers.host).toBe(`app.test:${site.port}`);
  });

  test("is unreached, not refused, where nobody knows its address", async () => {
    const network = createNetwork(() => Promise.reject(new Error("ENOTFOUND")));
    expect(await codeOf(network.exchange(requestTo("http://none.test/", { reach: { isOpen: true, hosts: [] } }), signal))).toBe(
      "network_unreached",
    );
  });

  test("is reached at the next of its addresses where the first doesn't answer, and never at one that is not allowed", async () => {
    site.on("/", (_, response) => response.end("there"));
    const { network } = rebinding([["100::1", "2001:db8::1", "127.0.0.2", "127.0.0.1"]]);
    const reach = { isOpen: false, hosts: ["app.test", "100::1", "127.0.0.1"] };
    expect(text((await network.exchange(requestTo(`http://app.test:${site.port}/`, { reach }), signal)).body)).toBe("there");
  });

  test("is refused where it leads inside, also at a redirect to itself", async () => {
    site.on("/", (_, response) => response.writeHead(302, { location: `http://app.test:${site.port}/again` }).end());
    const reach = { isOpen: true, hosts: [`start.test:${site.port}`, `127.0.0.1:${site.port}`] };
    const open = { isOpen: true, hosts: [] };
    for (const address of ["127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "::ffff:127.0.0.1", "fd00::1", "100.100.100.200"]) {
      const { network } = rebinding([[address]]);
      expect(await codeOf(network.exchange(requestTo("http://app.test/", { reach: open }), signal)), address).toBe("network_refused");
    }
    const { network, asked } = rebinding([["127.0.0.1"], ["169.254.169.254"]]);
    expect(await codeOf(network.exchange(requestTo(`http://start.test:${site.port}/`, { reach }), signal))).toBe("network_refused");
    expect(asked).toEqual(["start.test", "app.test"]);
    expect(site.requests.map((each) => each.line)).toEqual(["GET /"]);
  });

  test("is refused however the address inside is written", async () => {
    const network = createNetwork();
    const open = { isOpen: true, hosts: [] };
    for (const host of [
      "0x7f.1",
      "2130706433",
      "0177.0.0.1",
      "127.1",
      "127.0.0.1.",
      "localhost",
      "localhost.",
      "LOCALHOST",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[0:0:0:0:0:0:0:1]",
      "0",
      "0.0.0.0",
      "[::]",
      "169.254.169.254",
      "１２７.０.０.１",
      "127。0。0。1",
    ]) {
      expect(await codeOf(network.exchange(requestTo(`http://${host}:${site.port}/`, { reach: open }), signal)), host).toBe(
        "network_refused",
      );
    }
    expect(site.requests).toEqual([]);
  });

  test("is the same name in its ASCII form, and no other that looks like it", async () => {
    site.on("/", (_, response) => response.end("ok"));
    const network = createNetwork(async () => ["127.0.0.1"]);
    const reach = { isOpen: false, hosts: ["bücher.test", "127.0.0.1"] };
    const at = (host: string) => network.exchange(requestTo(`http://${host}:${site.port}/`, { reach }), signal);
    expect((await at("xn--bcher-kva.test")).status).toBe(200);
    expect((await at("BÜCHER.test.")).status).toBe(200);
    expect(await codeOf(at("bucher.test"))).toBe("network_refused");
    expect(await codeOf(at("büсher.test"))).toBe("network_refused");
  });
});

describe("a redirect", () => {
  test("to another origin carries nothing that could identify somebody", async () => {
    const other = await openSite();
    other.on("/", (_, response) => response.end("there"));
    site.on("/", (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${other.port}/` }).end());
    const headers = [
      ["Authorization", "Bearer t"],
      ["Cookie", "a=b"],
      ["X-Api-Key", "k"],
      ["Accept", "text/html"],
    ] as const;
    await createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/`, { headers }), signal);
    expect(site.requests[0]?.headers).toMatchObject({ authorization: "Bearer t", cookie: "a=b", "x-api-key": "k" });
    const { authorization, cookie, accept, "x-api-key": key } = other.requests[0]?.headers ?? {};
    expect({ authorization, cookie, key, accept }).toEqual({ accept: "text/html" });
    await other.close();
  });

  test("to another scheme, to credentials, or with a body to another origin is refused", async () => {
    const targets = ["file:///etc/passwd", "gopher://127.0.0.1/", `http://u:p@127.0.0.1:${site.port}/x`, "http://[bad"];
    for (const [at, location] of targets.entries()) {
      site.on(`/${at}`, (_, response) => response.writeHead(302, { location }).end());
      expect(await codeOf(createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/${at}`), signal)), location).toBe(
        "network_refused",
      );
    }
    site.on("/post", (_, response) => response.writeHead(307, { location: "http://127.0.0.1:1/" }).end());
    const body = new TextEncoder().encode("x");
    const posted = createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/post`, { method: "POST", body }), signal);
    expect(await codeOf(posted)).toBe("network_refused");
  });
});

describe("a body", () => {
  test("is decompressed, whatever it came in", async () => {
    for (const [coding, bytes] of [
      ["gzip", gzipSync("whole text")],
      ["deflate", deflateSync("whole text")],
      ["br", brotliCompressSync("whole text")],
      ["identity", Buffer.from("whole text")],
    ] as const) {
      site.on("/z", (_, response) => response.writeHead(200, { "content-encoding": coding }).end(bytes));
      const answer = await createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/z`), signal);
      expect([text(answer.body), answer.end], coding).toEqual(["whole text", "whole"]);
    }
  });

  test("that is a decompression bomb is taken up to the cap, layers stay closed", async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000), { level: 9 });
    site.on("/bomb", (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    site.on("/layers", (_, response) => response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(gzipSync(bomb)));
    const before = process.memoryUsage().arrayBuffers;
    const answer = await createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/bomb`, { maxBytes: 1_000_000 }), signal);
    expect([answer.end, answer.body.length]).toEqual(["capped", 1_000_000]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    const layers = await createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/layers`, { maxBytes: 1_000_000 }), signal);
    expect(layers.body.subarray(0, 2)).toEqual(new Uint8Array([0x1f, 0x8b]));
  });

  test("that is broken or ends early counts as cut, with what had come", async () => {
    site.on("/broken", (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip"));
    site.on("/early", (request, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("begin", () => request.socket.destroy());
    });
    expect((await createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/broken`), signal)).end).toBe("cut");
    const early = await createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/early`), signal);
    expect([early.end, text(early.body)]).toEqual(["cut", "begin"]);
  });

  test("that never ends is cut at the cap or at the timeout", async () => {
    site.on("/endless", (_, response) => {
      const chunk = Buffer.alloc(64 * 1024, "x");
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", more);
      more();
    });
    site.on("/drip", (_, response) => {
      const timer = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(timer));
    });
    expect((await createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/endless`), signal)).end).toBe("capped");
    const drip = await createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/drip`, { timeoutMs: 1_500 }), signal);
    expect([drip.status, drip.end]).toEqual([200, "cut"]);
  });
});

/** A server that speaks as it likes. */
async function raw(
  answer: (write: (text: string) => void, end: () => void) => void,
): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () =>
      answer(
        (part) => void (socket.destroyed || socket.write(part)),
        () => socket.end(),
      ),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { port: (server.address() as AddressInfo).port, close: () => new Promise((done) => server.close(() => done())) };
}

describe("a head", () => {
  test("that drips in for ever ends with the timeout", async () => {
    const timers: NodeJS.Timeout[] = [];
    const server = await raw((write) => {
      write("HTTP/1.1 200 OK\r\n");
      timers.push(setInterval(() => write("X-A: 1\r\n"), 20));
    });
    expect(await codeOf(createNetwork().exchange(requestTo(`http://127.0.0.1:${server.port}/`, { timeoutMs: 1_500 }), signal))).toBe(
      "network_unanswered",
    );
    for (const timer of timers) clearInterval(timer);
    await server.close();
  });

  test("that is too long, no HTTP, another protocol or never final is no answer", async () => {
    for (const head of [
      `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(100_000)}\r\n\r\n`,
      "SSH-2.0-OpenSSH_9.6\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
      "HTTP/1.1 103 Early Hints\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\nX-A: a\0b\r\n\r\n",
    ]) {
      const server = await raw((write, end) => {
        write(head);
        end();
      });
      expect(await codeOf(createNetwork().exchange(requestTo(`http://127.0.0.1:${server.port}/`), signal)), head.slice(0, 40)).toBe(
        "network_unanswered",
      );
      await server.close();
    }
  });
});

/** Outcomes of requests in a process of its own, with these variables; every name leads to 127.0.0.1. */
async function elsewhere(requests: readonly NetworkRequest[], env: Readonly<Record<string, string>>): Promise<string[]> {
  const program = `
    import { createNetwork } from ${JSON.stringify(new URL("../src/network/index.ts", import.meta.url).href)};
    const network = createNetwork(async () => ["127.0.0.1"]);
    for (const request of ${JSON.stringify(requests)})
      console.log(await network.exchange(request, new AbortController().signal).then(({ status }) => status, ({ code }) => code));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { env });
  return stdout.trim().split("\n");
}

describe("TLS", () => {
  test("is held to the name of the URL, and nothing is sent where it doesn't hold", async () => {
    const asked: string[] = [];
    const server = createSecureServer({ key: privateKey, cert: certificate }, (request, response) => {
      asked.push(request.headers.host ?? "");
      response.end("secure");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), "holdfast-tls-"));
    const authorities = join(folder, "ca.pem");
    writeFileSync(authorities, certificate);
    const reach = { isOpen: false, hosts: ["*.test", "good.test", "127.0.0.1"] };
    const to = (host: string) => requestTo(`https://${host}:${port}/`, { reach });
    const unreached = "network_unreached";
    expect(
      await elsewhere([to("good.test"), to("good.test."), to("bad.test"), to("127.0.0.1")], { NODE_EXTRA_CA_CERTS: authorities }),
    ).toEqual(["200", "200", unreached, unreached]);
    expect(asked).toEqual([`good.test:${port}`, `good.test.:${port}`]);
    // Also where the environment says that certificates don't matter.
    expect(await elsewhere([to("good.test")], { NODE_TLS_REJECT_UNAUTHORIZED: "0" })).toEqual([unreached]);
    expect(asked).toHaveLength(2);
    rmSync(folder, { recursive: true });
    await new Promise((done) => server.close(done));
  });
});

describe("the machine's own settings", () => {
  test("a proxy of the environment is not used", async () => {
    site.on("/", (_, response) => response.end("direct"));
    const proxy = "http://127.0.0.1:1";
    const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy };
    expect(await elsewhere([requestTo(`http://127.0.0.1:${site.port}/`)], env)).toEqual(["200"]);
  });

  test("an interrupt ends an exchange, also while a name is looked up", async () => {
    const controller = new AbortController();
    const network = createNetwork(() => new Promise(() => undefined));
    const looked = codeOf(network.exchange(requestTo("http://slow.test/", { reach: { isOpen: true, hosts: [] } }), controller.signal));
    site.on("/mute", () => controller.abort());
    expect(await codeOf(createNetwork().exchange(requestTo(`http://127.0.0.1:${site.port}/mute`), controller.signal))).toBe(
      "network_unanswered",
    );
    expect(await looked).toBe("network_unreached");
  });
});
