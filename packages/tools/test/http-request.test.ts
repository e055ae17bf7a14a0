import type { Json } from "@holdfast/protocol/json";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSite, type Site } from "../../runtime/test/network-conformance.ts";
import { httpPorts } from "./http-ports.ts";
import { workbench, type Workbench } from "./workbench.ts";

const secret = 'sekret/"quoted"+value';
let at: Workbench;
let site: Site;
beforeEach(async () => {
  site = await openSite();
  at = await workbench({
    http: httpPorts({
      token: [secret, "127.0.0.1"],
      elsewhere: ["other-secret", "example.com"],
      openai: ["provider-key"],
      cut: ["two\r\nlines", "127.0.0.1"],
    }),
    hosts: ["127.0.0.1"],
  });
});
afterEach(async () => {
  await at.close();
  await site.close();
});
const url = (path: string) => `http://127.0.0.1:${site.port}${path}`;
const send = (input: { readonly [key: string]: Json }, signal?: AbortSignal) => at.call("http_request", input, signal);
const plan = (input: { readonly [key: string]: Json }) => at.tool("http_request").plan(input, at.context);
const refused = async (input: { readonly [key: string]: Json }) => {
  const found = await plan(input);
  return "type" in found ? found.text : "planned";
};

describe("an answer", () => {
  test("comes with status, headers and body, as untrusted", async () => {
    site.on("/a", (_, response) => response.writeHead(200, { "content-type": "application/json", "x-rate": "9" }).end('{"a":1}'));
    const outcome = await send({ url: url("/a") });
    expect(outcome).toMatchObject({ status: "completed", trust: "untrusted", httpStatus: 200 });
    expect(outcome.text).toMatch(/^HTTP 200; 7 bytes\n/);
    expect(outcome.text).toContain("x-rate: 9");
    expect(outcome.text.endsWith('\n\n{"a":1}')).toBe(true);
    expect(outcome.output).toBeUndefined();
  });

  test("that is an error is a failure, unless it is what was expected", async () => {
    site.on("/gone", (_, response) => response.writeHead(410).end("gone"));
    expect(await send({ url: url("/gone") })).toMatchObject({ status: "failed", httpStatus: 410 });
    expect(await send({ url: url("/gone"), expect: { status: 410 } })).toMatchObject({ status: "completed" });
    expect(await plan({ url: url("/gone"), expect: { status: 410, output_contains: "gone" } })).toMatchObject({
      expect: { status: 410, outputContains: "gone" },
    });
  });

  test("that is long is shown in part and kept whole, to be read and searched by its handle", async () => {
    const lines = Array.from({ length: 9000 }, (_, n) => `line ${n}`).join("\n");
    site.on("/long", (_, response) => response.end(lines));
    const outcome = await send({ url: url("/long") });
    expect(outcome.text.length).toBeLessThan(20_000);
    expect(new TextDecoder().decode((await at.blobs.get(outcome.whole ?? "")) ?? undefined)).toBe(lines);
    const found = await at.call("read_output", { handle: outcome.output ?? "", search: "line 4321" });
    expect(found).toMatchObject({ status: "completed", trust: "untrusted", text: expect.stringMatching(/^\d+: line 4321$/) as string });
    expect((await at.call("read_output", { handle: outcome.output ?? "", offset: 0 })).text).toContain("line 0\nline 1\n");
  });

  test("that is binary, empty or in another charset is said or read as what it is", async () => {
    site.on("/bin", (_, response) => response.writeHead(200, { "content-type": "text/plain" }).end(Buffer.from([0, 1, 2, 255])));
    site.on("/none", (_, response) => response.writeHead(204).end());
    site.on("/latin", (_, response) =>
      response.writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" }).end(Buffer.from([0xe4])),
    );
    const binary = await send({ url: url("/bin") });
    expect(binary.text).toContain("4 bytes; binary, kept as");
    expect(await at.blobs.get(binary.whole ?? "")).toEqual(new Uint8Array([0, 1, 2, 255]));
    expect((await send({ url: url("/none") })).text).toMatch(/^HTTP 204; 0 bytes\n/);
    expect((await send({ url: url("/latin") })).text.endsWith("\n\nä")).toBe(true);
  });

  test("has its control codes shown, not obeyed", async () => {
    site.on("/codes", (_, response) =>
      response.writeHead(200, { "x-a": "\x9b2J" }).end("\x1b[2Jwiped\x1b]0;title\x07\x08\x00".replace("\x00", "")),
    );
    const { text } = await send({ url: url("/codes") });
    expect(text).toContain("wiped\\x08");
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  });
});

describe("a secret", () => {
  const header = { "X-Token": { secret: "token", prefix: "Bearer " } };

  test("goes into the header at the run, and is in no plan and no result, however the server sends it back", async () => {
    site.on("/echo", (request, response) => {
      const token = request.headers["x-token"] as string;
      const body = `${token} ${JSON.stringify({ token })} ${encodeURIComponent(token)}`;
      response.writeHead(200, { "x-echo": token }).end(body.repeat(1000));
    });
    const intent = await at.intend("http_request", { url: url("/echo"), headers: header });
    expect(JSON.stringify(intent)).not.toContain("sekret");
    const outcome = await send({ url: url("/echo"), headers: header });
    expect(site.requests[0]?.headers["x-token"]).toBe(`Bearer ${secret}`);
    expect(outcome.text).toContain("Bearer [redacted secret]");
    const kept = new TextDecoder().decode((await at.blobs.get(outcome.whole ?? "")) ?? undefined);
    for (const text of [outcome.text, kept]) expect(text).not.toContain("sekret");
  });

  test("is not sent where it isn't for, and one of a model's provider is no call's to use", async () => {
    expect(await refused({ url: url("/"), headers: { A: { secret: "elsewhere" } } })).toContain("only for example.com");
    expect(await refused({ url: url("/"), headers: { A: { secret: "openai" } } })).toContain("no secret");
    expect(await refused({ url: url("/"), headers: { A: { secret: "none" } } })).toContain("no secret");
    expect((await send({ url: url("/"), headers: { A: { secret: "cut" } } })).text).toContain("no header can have");
    expect(site.requests).toEqual([]);
  });

  test("does not go along to where a request is redirected", async () => {
    const other = await openSite();
    site.on("/go", (_, response) => response.writeHead(302, { location: `http://127.0.0.1:${other.port}/` }).end());
    await send({ url: url("/go"), headers: header });
    expect(other.requests).toHaveLength(1);
    expect(JSON.stringify(other.requests)).not.toContain("sekret");
    await other.close();
  });
});

describe("input", () => {
  test("that would send anything but what it says is refused, and nothing is sent", async () => {
    for (const [input, said] of [
      [{ url: "file:///etc/passwd" }, "only http: and https:"],
      [{ url: "//example.com" }, "not an absolute URL"],
      [{ url: "http://user:pass@127.0.0.1/" }, "password"],
      [{ url: url("/"), headers: { "X-A": "1\r\nX-B: 2" } }, "no header can have"],
      [{ url: url("/"), headers: { "X-A\r\nX-B": "2" } }, "no header name"],
      [{ url: url("/"), headers: { "X-A": "1\0" } }, "no header can have"],
      [{ url: url("/"), headers: { "X-A": "Ā" } }, "no header can have"],
      [{ url: url("/"), headers: { Host: "evil.test" } }, "set by the runtime"],
      [{ url: url("/"), headers: { "content-length": "0" } }, "set by the runtime"],
      [{ url: url("/"), headers: { "Transfer-Encoding": "chunked" } }, "set by the runtime"],
      [{ url: url("/"), headers: { "Idempotency-Key": "mine" } }, "set by the runtime"],
      [{ url: url("/"), method: "TRACE" }, "invalid"],
      [{ url: url("/"), body: "x" }, "has no body"],
      [{ url: url("/"), method: "POST", body: "x", json: {} }, "not both"],
    ] as const) {
      expect(await refused(input), JSON.stringify(input)).toContain(said);
    }
    expect(site.requests).toEqual([]);
  });

  test("is planned as the URL is meant: punycode, addresses and ports in their normal form", async () => {
    expect(await plan({ url: "HTTP://BÜCHER.example:80/a#b" })).toMatchObject({
      summary: "GET http://xn--bcher-kva.example/a",
      reads: ["host:xn--bcher-kva.example:80"],
      input: { url: "http://xn--bcher-kva.example/a" },
    });
    expect(await plan({ url: "http://0x7f.1:8080/" })).toMatchObject({ reads: ["host:127.0.0.1:8080"] });
    expect(await plan({ url: "https://localhost./", method: "delete" })).toMatchObject({ reads: [], writes: ["host:localhost:443"] });
    expect(await plan({ url: "http://[::ffff:127.0.0.1]/" })).toMatchObject({ reads: ["host:::ffff:7f00:1:80"] });
  });

  test("decides the replay class", async () => {
    for (const method of ["GET", "HEAD", "OPTIONS"]) expect(await plan({ url: url("/"), method })).toMatchObject({ replay: "safe" });
    for (const method of ["POST", "PUT", "PATCH", "DELETE"])
      expect(await plan({ url: url("/"), method })).toMatchObject({ replay: "never" });
    expect(await plan({ url: url("/"), method: "POST", idempotent: "true" })).toMatchObject({
      replay: "keyed",
      keyLifetimeMs: 86_400_000,
      isKeyClaimed: true,
    });
    const keyed = await workbench({ http: httpPorts({}, { keyedHosts: ["api.example.com"] }) });
    expect(await keyed.tool("http_request").plan({ url: "https://api.example.com/", method: "POST" }, at.context)).toMatchObject({
      replay: "keyed",
    });
    await keyed.close();
  });

  test("as JSON or text is sent as that", async () => {
    site.on("/in", (_, response) => response.end());
    await send({ url: url("/in"), method: "POST", json: { a: ["ä"] } });
    await send({ url: url("/in"), method: "PUT", body: "a=b", headers: { "Content-Type": "application/x-www-form-urlencoded" } });
    expect(site.requests).toMatchObject([
      { line: "POST /in", body: '{"a":["ä"]}', headers: { "content-type": "application/json" } },
      { line: "PUT /in", body: "a=b", headers: { "content-type": "application/x-www-form-urlencoded" } },
    ]);
  });
});

describe("the network's rules", () => {
  test("hold for redirects: a read follows them to allowed hosts alone, a change follows none", async () => {
    site.on("/metadata", (_, response) => response.writeHead(302, { location: "http://169.254.169.254/latest" }).end());
    site.on("/moved", (_, response) => response.writeHead(307, { location: "/new" }).end());
    site.on("/new", (_, response) => response.end("new"));
    expect((await send({ url: url("/metadata") })).text).toContain("(network_refused)");
    expect((await send({ url: url("/moved") })).text).toContain(`after a redirect to ${url("/new")}`);
    expect(await send({ url: url("/moved"), method: "POST" })).toMatchObject({ httpStatus: 307, status: "completed" });
    expect(site.requests.map(({ line }) => line)).toEqual(["GET /metadata", "GET /moved", "GET /new", "POST /moved"]);
  });

  test("refuse a host that the session may not reach, and say that nothing was sent", async () => {
    expect(await send({ url: "http://localhost:1/", method: "POST" })).toMatchObject({
      status: "failed",
      text: expect.stringContaining("not on the list of allowed hosts (network_refused)") as string,
    });
  });

  test("let a read that hangs fail at its timeout, and one that is interrupted end", async () => {
    site.on("/mute", () => undefined);
    expect((await send({ url: url("/mute"), timeout_s: 2 })).text).toContain("the time was up (network_unanswered)");
    const controller = new AbortController();
    site.on("/late", () => controller.abort());
    expect(await send({ url: url("/late") }, controller.signal)).toMatchObject({ status: "interrupted" });
  });
});
