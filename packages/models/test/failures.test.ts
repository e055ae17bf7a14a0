import { afterEach, describe, expect, it } from "vitest";
import { classify, describeFailure } from "../src/failure.ts";
import { retryAfterMs } from "../src/retry-after.ts";
import type { HttpModelOptions } from "../src/index.ts";
import { collect, connect, errorOf, hello, last, listen, requestOf, sse, type Answer, type Loopback } from "./loopback.ts";

let server: Loopback | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function failWith(answer: Answer, more: Partial<HttpModelOptions> = {}) {
  server = await listen(answer);
  return errorOf(await collect(connect("responses", { baseUrl: server.baseUrl, ...more })));
}

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

describe("the class of an error", () => {
  it.each([
    [400, null, null, "invalid_request"],
    [400, "context_length_exceeded", "invalid_request_error", "context_overflow"],
    [400, null, "exceed_context_size_error", "context_overflow"],
    [400, "content_filter", null, "refused"],
    [401, "invalid_api_key", null, "auth"],
    [402, null, null, "auth"],
    [403, null, null, "auth"],
    [404, "model_not_found", null, "invalid_request"],
    [408, null, null, "network"],
    [409, null, null, "overloaded"],
    [413, null, null, "invalid_request"],
    [422, null, null, "invalid_request"],
    [429, "rate_limit_exceeded", "tokens", "rate_limited"],
    [429, null, null, "rate_limited"],
    [429, "insufficient_quota", "insufficient_quota", "auth"],
    [500, "server_error", null, "overloaded"],
    [501, null, null, "invalid_request"],
    [502, null, null, "overloaded"],
    [503, null, null, "overloaded"],
    [504, null, null, "overloaded"],
    [529, null, "overloaded_error", "overloaded"],
    [null, "context_length_exceeded", null, "context_overflow"],
    [null, "rate_limit_exceeded", null, "rate_limited"],
    [null, "server_error", null, "overloaded"],
    [null, "429", null, "rate_limited"],
    [null, "503", null, "overloaded"],
    [null, null, "invalid_request_error", "invalid_request"],
    [null, "never_heard_of", null, "cut"],
    [null, null, null, "cut"],
  ] as const)("of status %s, code %s, type %s is %4$s", (status, code, kind, expected) => {
    expect(classify(status, code, kind)).toBe(expected);
  });

  it("doesn't depend on what the text says", async () => {
    const said = "insufficient_quota: context_length_exceeded, ECONNRESET, 429 rate limit";
    expect((await failWith(json(500, { error: { message: said } }))).class).toBe("overloaded");
  });

  it("of a connection that can't be made is network, with the system's code", async () => {
    const gone = await listen(() => undefined);
    await gone.close();
    const error = errorOf(await collect(connect("chat", { baseUrl: gone.baseUrl })));
    expect(error).toMatchObject({ class: "network", code: "ECONNREFUSED", status: null });
    expect(error.message).toContain(new URL(gone.baseUrl).host);
    expect(error.message).toContain("Nothing listens there");
  });

  it("of a connection that is reset before its answer is network", async () => {
    const error = await failWith((response) => {
      response.socket?.resetAndDestroy();
    });
    expect(error).toMatchObject({ class: "network", status: null });
    expect(error.code).toMatch(/^(ECONNRESET|UND_ERR_SOCKET)$/);
  });
});

describe("the time to wait", () => {
  const at = Date.UTC(2026, 10, 29, 12, 0, 0);
  const wait = (headers: Record<string, string>): number | null => retryAfterMs(new Headers(headers), at);
  it.each([
    [{ "retry-after": "3" }, 3000],
    [{ "retry-after": "0.25" }, 250],
    [{ "retry-after-ms": "1500" }, 1500],
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "Sun, 29 Nov 2026 12:00:03 GMT" }, 3000],
    [{ "retry-after": "Sunday, 29-Nov-26 12:00:03 GMT" }, 3000],
    [{ "retry-after": "Sun Nov 29 12:00:03 2026" }, 3000],
    [{ "retry-after": "Sun, 29 Nov 2026 15:00:03 GMT", date: "Sun, 29 Nov 2026 15:00:00 GMT" }, 3000],
    [{ "retry-after": "Sun, 29 Nov 2026 11:59:00 GMT" }, null],
    [{ "retry-after": "1000000000" }, 1_000_000_000_000],
    [{ "retry-after": "0" }, null],
    [{ "retry-after": "-5" }, null],
    [{ "retry-after": "1e3" }, null],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after": "Someday, maybe" }, null],
    [{ "retry-after-ms": "NaN", "retry-after": "2" }, 2000],
    [{}, null],
  ])("is read from %o", (headers, expected) => {
    expect(wait(headers)).toBe(expected);
  });

  it("comes with the error of a 429, as seconds and as a date", async () => {
    expect(await failWith(json(429, { error: { message: "slow", code: "rate_limit_exceeded" } }, { "retry-after": "2" }))).toMatchObject({
      class: "rate_limited",
      status: 429,
      code: "rate_limit_exceeded",
      retryAfterMs: 2000,
    });
    await server?.close();
    const date = "Sun, 29 Nov 2026 12:00:00 GMT";
    const error = await failWith(json(503, { error: { message: "busy" } }, { date, "retry-after": "Sun, 29 Nov 2026 12:00:07 GMT" }));
    expect(error).toMatchObject({ class: "overloaded", retryAfterMs: 7000 });
  });
});

describe("the message of an error", () => {
  const key = "sk-loopback-key";

  it("names host, model, status, code and what the provider said", async () => {
    const error = await failWith(json(404, { error: { message: "The model `gpt-5` does not exist", code: "model_not_found" } }));
    for (const fact of [new URL(server?.baseUrl ?? "").host, "openai/gpt-5", "HTTP 404", "model_not_found", "does not exist", "base URL"]) {
      expect(error.message).toContain(fact);
    }
  });

  it("never holds the key or a secret header, however the provider returns it", async () => {
    const secret = "other-secret-value";
    const shown = `${key} Bearer ${key} ${key.slice(0, 5)}\u200b${key.slice(5)} ${"x".repeat(150)} ${key} ${secret}`;
    for (const body of [{ error: { message: shown, code: key } }, { error: shown }, { detail: shown }, shown]) {
      const error = await failWith(json(401, body), { headers: { "x-api-key": secret } });
      expect(error.class).toBe("auth");
      expect(JSON.stringify(error)).not.toContain(key);
      expect(JSON.stringify(error)).not.toContain(secret);
      await server?.close();
    }
    // The key lies across the place where the message is cut.
    for (let length = 150; length < 250; length++) {
      const message = `${"y".repeat(length)}${key}`;
      const error = describeFailure({ message, status: 400 }, { id: "openai/gpt-5", host: "h", secrets: [key] });
      expect(error.message).not.toMatch(/sk-l/);
    }
  });

  it("keeps the provider's words and our advice apart", () => {
    const told = (message: string, more: object) => describeFailure({ message, ...more }, { id: "p/m", host: "h", secrets: [] }).message;
    const wait = { status: 429, retryAfterMs: 12 * 86_400_000 };
    expect(told("slow", wait)).toContain(": slow. It asks to wait 12 days.");
    expect(told("Slow down.", wait)).toContain(": Slow down. It asks to wait 12 days.");
    expect(told("who is it?", { status: 401 })).toContain(": who is it? Check the API key");
    expect(told("", { status: 401 })).toContain("(HTTP 401). Check the API key");
    expect(told("slow", { status: 429 })).toMatch(/: slow$/);
  });

  it("is short, on one line and without control characters", async () => {
    const error = await failWith(json(500, { error: { message: `\u001b[31mred\u0007\n\nnext\u202e line ${"long ".repeat(5000)}` } }));
    expect(error.message.length).toBeLessThanOrEqual(400);
    expect(error.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(error.message).toContain("red next line");
  });

  it("says that a key can't be sent, without it", async () => {
    const bad = "sk-with\u0001control\nand-more";
    const error = await failWith(json(200, {}), { apiKey: async () => bad });
    expect(error.class).toBe("auth");
    expect(error.message).not.toContain("control");
    await server?.close();
    const broken = await failWith(json(200, {}), { apiKey: () => Promise.reject(new Error(`vault said ${key}`)) });
    expect(broken.class).toBe("auth");
    expect(broken.message).not.toContain(key);
  });
});

describe("an answer that is no event stream", () => {
  const page = "<!doctype html><html><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>";
  it("is classed by its status where a proxy sends a page", async () => {
    const error = await failWith((response) => {
      response.writeHead(502, { "content-type": "text/html" });
      response.end(page);
    });
    expect(error).toMatchObject({ class: "overloaded", status: 502 });
    expect(error.message).not.toContain("<");
  });

  it("is no answer where the page comes with 200, whatever it is labelled", async () => {
    for (const type of ["text/html", "text/event-stream"]) {
      const error = await failWith((response) => {
        response.writeHead(200, { "content-type": type });
        response.end(`\n ${page}`);
      });
      expect(error).toMatchObject({ class: "invalid_request", code: "not_a_stream" });
      await server?.close();
    }
  });

  it("is an error where a JSON error comes with 200, whatever it is labelled", async () => {
    for (const type of ["application/json", "text/event-stream"]) {
      for (const [body, group] of [
        [{ error: { message: "Slow", code: "rate_limit_exceeded" } }, "rate_limited"],
        [[{ error: { code: 401, message: "Who are you" } }], "auth"],
        [{ hello: "world" }, "cut"],
      ] as const) {
        const error = await failWith((response) => {
          response.writeHead(200, { "content-type": type });
          response.end(JSON.stringify(body));
        });
        expect(error.class).toBe(group);
        await server?.close();
      }
    }
  });

  it("is cut where its JSON is", async () => {
    const error = await failWith((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"object":"response","status":"compl');
    });
    expect(error).toMatchObject({ class: "cut", code: "invalid_json" });
  });

  it("is not followed where it is a redirect", async () => {
    const error = await failWith((response, index) => {
      response.writeHead(307, { location: "/elsewhere" });
      response.end(String(index));
    });
    expect(error).toMatchObject({ class: "invalid_request", code: "redirected", status: 307 });
    expect(server?.bodies.length).toBe(1);
  });
});

describe("a request", () => {
  it("carries the key, the configured headers and the whole body to the path below the base URL", async () => {
    server = await listen((response) => response.end(sse({ type: "response.completed", response: {} })));
    for (const baseUrl of [server.baseUrl, `${server.baseUrl}/`, `${server.baseUrl}//?api-version=1`]) {
      const parts = await collect(connect("responses", { baseUrl, headers: { "x-project": "p1" } }), requestOf(hello));
      expect(last(parts).type).toBe("finished");
    }
    expect(server.requests.map((request) => request.url)).toEqual(["/v1/responses", "/v1/responses", "/v1/responses?api-version=1"]);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: "Bearer sk-loopback-key",
      "x-project": "p1",
      "content-type": "application/json",
    });
    await collect(connect("chat", { baseUrl: server.baseUrl, apiKey: async () => null }));
    expect(server.requests[3]?.url).toBe("/v1/chat/completions");
    expect(server.requests[3]?.headers).not.toHaveProperty("authorization");
  });

  it("that can't be built fails without being sent", async () => {
    server = await listen((response) => response.end());
    const image = () => Promise.reject(new Error("the blob store is gone"));
    const request = requestOf(
      [{ kind: "user_message", id: "i", trust: "user", parts: [{ type: "image", blob: "b", mediaType: "image/png" }] }],
      { image },
    );
    const error = errorOf(await collect(connect("chat", { baseUrl: server.baseUrl }), request));
    expect(error).toMatchObject({ class: "invalid_request", code: "request_not_built" });
    expect(server.bodies).toEqual([]);
  });
});
