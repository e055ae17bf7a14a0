import type { Json } from "@holdfast/protocol/json";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSite, type Site } from "../../runtime/test/network-conformance.ts";
import { createTools, type SearchModel, type SearchProvider, type SearchService } from "../src/index.ts";
import { httpPorts } from "./http-ports.ts";
import { workbench, type Workbench } from "./workbench.ts";

let at: Workbench;
let site: Site;
beforeEach(async () => {
  site = await openSite();
  at = await workbench({ http: httpPorts({ held: ["held-secret-value"] }), hosts: ["127.0.0.1"] });
});
afterEach(async () => {
  await at.close();
  await site.close();
});
const url = (path: string) => `http://127.0.0.1:${site.port}${path}`;
const fetched = (path: string) => at.call("web_fetch", { url: url(path) });
const serve = (path: string, type: string, body: string | Uint8Array, status = 200) =>
  site.on(path, (_, response) => response.writeHead(status, { "content-type": type }).end(body));

describe("a page", () => {
  test("is read as Markdown: title, absolute links, code and tables, without scripts and styles", async () => {
    serve(
      "/docs/a",
      "text/html; charset=utf-8",
      `<!doctype html><html><head><title>A &amp; B</title><style>p{}</style><script>evil("<p>")</script></head><body>
      <h1>Head</h1><p>See <a href="../b?x=1&amp;y=2">b</a>, <a href="#here">here</a>, <a href="javascript:x()">js</a>
      <img src="/p.png" alt="a picture"><img src="/tracker.png"></p><noscript>no script</noscript><!-- a comment -->
      <pre><code class="language-ts">let a = 1 &lt; 2;</code></pre>
      <ul><li>one<li>two<ol><li>deep</ol></ul><table><tr><th>k<th>v<tr><td>a|b<td>c<br>d</table>
      <iframe src="x"></iframe><template><p>hidden</p></template>`,
    );
    const outcome = await fetched("/docs/a");
    expect(outcome).toMatchObject({ status: "completed", trust: "untrusted", httpStatus: 200 });
    expect(outcome.text).toBe(`Title: A & B
# Head

See [b](${url("/b?x=1&y=2")}), here, js ![a picture](${url("/p.png")})

\`\`\`ts
let a = 1 < 2;
\`\`\`

-   one
-   two
    1.  deep

| k | v |
| --- | --- |
| a\\|b | c d |`);
  });

  test("in another charset is read in it, whoever says which", async () => {
    const greek = Buffer.concat([Buffer.from("<html><body><p>"), Buffer.from([0xe1, 0xe2])]);
    serve("/header", "text/html; charset=ISO-8859-7", greek);
    serve("/meta", "text/html", Buffer.concat([Buffer.from('<html><head><meta charset="iso-8859-7">'), greek]));
    serve("/bom", "text/html", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("<p>αβ", "utf16le")]));
    serve("/utf8", "text/html", "<p>αβ");
    serve("/odd", "text/html; charset=no-such", "<p>αβ");
    serve("/sjis", "text/plain; charset=shift_jis", Buffer.from([0x83, 0xbf, 0x83, 0xc0]));
    for (const path of ["/header", "/meta", "/bom", "/utf8", "/odd", "/sjis"]) expect((await fetched(path)).text, path).toBe("αβ");
    serve("/old", "text/html", Buffer.concat([Buffer.from("<p>"), Buffer.from([0x93, 0xe4, 0x94])]));
    expect((await fetched("/old")).text).toBe("“ä”");
  });

  test("that is plain text, JSON or Markdown stays as it is; HTML is known without its type", async () => {
    serve("/t", "text/plain", "a < b <p>");
    serve("/j", "application/json", '{"a":"<b>"}');
    serve("/m", "text/markdown", "# x");
    serve("/h", "", "<!DOCTYPE html><p>x");
    for (const [path, text] of [
      ["/t", "a < b <p>"],
      ["/j", '{"a":"<b>"}'],
      ["/m", "# x"],
      ["/h", "x"],
    ] as const)
      expect((await fetched(path)).text, path).toBe(text);
  });

  test("that is a PDF, an image or another binary is said to be, and kept whole", async () => {
    serve("/pdf", "text/html", "%PDF-1.7 rest");
    serve("/png", "image/png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]));
    serve("/zip", "application/zip", Buffer.from([0x50, 0x4b, 3, 4, 0]));
    expect((await fetched("/pdf")).text).toContain("This is a PDF of 13 bytes, not text; it is kept as call_1.1.");
    expect((await fetched("/png")).text).toContain("binary (image/png) of 5 bytes");
    const zip = await fetched("/zip");
    expect(await at.blobs.get(zip.whole ?? "")).toEqual(new Uint8Array([0x50, 0x4b, 3, 4, 0]));
  });

  test("that is long is shown from its beginning and read on by its handle", async () => {
    serve("/long", "text/html", `<p>${Array.from({ length: 8000 }, (_, n) => `word${n}`).join("</p><p>")}`);
    const outcome = await fetched("/long");
    expect(outcome.text).toMatch(/^\[bytes 0 to \d+ of \d+\]\nword0\n/);
    expect(outcome.text.length).toBeLessThan(17_000);
    expect(outcome.text.endsWith(`[read_output ${outcome.output} reads on]`)).toBe(true);
    expect((await at.call("read_output", { handle: outcome.output ?? "", search: "word7999" })).text).toMatch(/: word7999$/);
  });

  test("that was not there, was moved or says nothing is told as that", async () => {
    serve("/404", "text/html", "<h1>Not here</h1>", 404);
    site.on("/moved", (_, response) => response.writeHead(301, { location: "/now" }).end());
    serve("/now", "text/plain", "moved here");
    serve("/app", "text/html", "<html><body><div id=root></div><script src=a.js></script>");
    expect(await fetched("/404")).toMatchObject({ status: "failed", text: "[HTTP 404]\n# Not here", httpStatus: 404 });
    expect((await fetched("/moved")).text).toBe(`[redirected to ${url("/now")}]\nmoved here`);
    expect((await fetched("/app")).text).toContain("no text");
  });

  test("can't put control codes or a held secret into what is shown", async () => {
    serve("/evil", "text/html", "<title>\x1b]0;t\x07T\u0085</title><p>a\x1b[31mb\x08 &#27;[2J held-secret-value");
    const { text } = await fetched("/evil");
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    expect(text).toContain("[redacted secret]");
    expect(text).not.toContain("held-secret-value");
  });

  test("keeps what stands behind an element that is empty or left open", async () => {
    serve("/svg", "text/html", '<p>a<svg viewBox="0"/>b<svg><title>no</title><path></svg>c<embed src=x>d<!-->e<button>f<p>g');
    expect((await fetched("/svg")).text).toBe("abcdef\n\ng");
    serve("/script", "text/html", "<p>a<script>b<p>c");
    expect((await fetched("/script")).text).toBe("a");
  });

  test("however it is nested or broken off, is read in time that grows with its length alone", async () => {
    for (const part of [
      "<div>",
      "<a href=x><b>",
      "<table><tr><td>",
      "<ul><li>",
      '<a "',
      "<script>",
      "<svg>",
      "<!--",
      "<p ",
      "-----BEGIN PRIVATE KEY-----",
      "<b><p></b><i></p>x</i>",
      "&",
      "<",
    ]) {
      serve("/hostile", "text/html", `<p>first${part.repeat(8_000)}`);
      expect((await fetched("/hostile")).text, part).toContain("first");
    }
  });
});

describe("a fetch", () => {
  test("reaches what the session may reach, and nothing by another scheme or with a password", async () => {
    for (const bad of ["file:///etc/passwd", "ftp://127.0.0.1/", "http://a:b@127.0.0.1/", "about:blank", "nothing"]) {
      expect((await at.call("web_fetch", { url: bad })).status, bad).toBe("denied");
    }
    site.on("/in", (_, response) => response.writeHead(302, { location: `http://localhost:${site.port}/secret` }).end());
    expect((await fetched("/in")).text).toContain("localhost");
    expect((await at.call("web_fetch", { url: "http://localhost:1/" })).text).toContain("(network_refused)");
    expect(site.requests.map(({ line }) => line)).toEqual(["GET /in"]);
  });
});

describe("a search", () => {
  const results = (kind: SearchService["kind"]): Json => {
    const page = { title: "A <strong>title</strong> &amp; more", url: "https://example.com/a" };
    switch (kind) {
      case "brave":
        return { web: { results: [{ ...page, description: "a snippet" }] } };
      case "exa":
        return { results: [{ ...page, highlights: ["a", "snippet"] }] };
      case "tavily":
      case "searxng":
        return { results: [{ ...page, content: "a snippet" }] };
    }
  };
  const searching = async (kind: SearchService["kind"], apiKey: string | null = "search-key-value") =>
    workbench({ http: httpPorts({}, { search: { kind, baseUrl: `http://127.0.0.1:${site.port}`, apiKey } }), hosts: [] });

  test.each([
    ["brave", "GET /res/v1/web/search?q=a+b&count=3&text_decorations=false", "x-subscription-token", "search-key-value", ""],
    ["tavily", "POST /search", "authorization", "Bearer search-key-value", '{"query":"a b","max_results":3}'],
    ["exa", "POST /search", "x-api-key", "search-key-value", '{"query":"a b","numResults":3,"contents":{"highlights":true}}'],
    ["searxng", "GET /search?q=a+b&format=json", "authorization", "Bearer search-key-value", ""],
  ] as const)("goes to %s in its own words", async (kind, line, header, value, body) => {
    const search = await searching(kind);
    site.on(line.split(" ")[1]?.split("?")[0] ?? "", (_, response) => response.end(JSON.stringify(results(kind))));
    const outcome = await search.call("web_search", { query: " a b ", count: 3 });
    expect(outcome).toMatchObject({ status: "completed", trust: "untrusted" });
    expect(outcome.text).toMatch(/^1\. A title & more\nhttps:\/\/example\.com\/a\na (?:… )?snippet$/);
    expect(site.requests[0]).toMatchObject({ line, body, headers: { [header]: value } });
    await search.close();
  });

  describe("by a model whose provider searches", () => {
    const found = { url: "https://example.com/a", title: "A page" };
    const answers = {
      responses: {
        output: [
          { type: "web_search_call", status: "completed", action: { type: "search", query: "a b" } },
          { type: "message", content: [{ type: "output_text", text: "It is so.", annotations: [{ type: "url_citation", ...found }] }] },
        ],
      },
      messages: {
        content: [
          { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "a b" } },
          {
            type: "web_search_tool_result",
            content: [
              { type: "web_search_result", ...found },
              { type: "web_search_result", url: "https://example.com/b" },
            ],
          },
          { type: "text", text: "It is " },
          { type: "text", text: "so.", citations: [{ type: "web_search_result_location", ...found, cited_text: "so" }] },
        ],
      },
      gemini: {
        candidates: [
          {
            content: { parts: [{ text: "hm", thought: true }, { text: "It is so." }] },
            groundingMetadata: { groundingChunks: [{ web: { uri: found.url, title: found.title } }, { web: { uri: found.url } }] },
          },
        ],
      },
    };
    const asking = async (wire: SearchModel["wire"], path: string) => {
      const model = {
        kind: "model",
        wire,
        url: `http://127.0.0.1:${site.port}${path}`,
        model: "m-1",
        apiKey: "model-key-value",
        headers: { "x-team": "team-secret" },
      } as const;
      return workbench({ http: httpPorts({}, { search: model }), hosts: [] });
    };

    test.each([
      ["responses", "/v1/responses", "authorization", "Bearer model-key-value", { type: "web_search" }],
      ["messages", "/v1/messages", "x-api-key", "model-key-value", { type: "web_search_20250305", name: "web_search", max_uses: 3 }],
      ["gemini", "/v1beta/models/m-1:generateContent", "x-goog-api-key", "model-key-value", { google_search: {} }],
    ] as const)("%s: it is asked by itself, and tells what it found and where", async (wire, path, header, value, tool) => {
      const search = await asking(wire, path);
      site.on(path, (_, response) => response.end(JSON.stringify(answers[wire])));
      const outcome = await search.call("web_search", { query: "a b", count: 3 });
      expect(outcome).toMatchObject({ status: "completed", trust: "untrusted" });
      expect(outcome.text).toBe(`It is so.\n\nSources:\n\n1. A page\nhttps://example.com/a${wire === "messages" ? "\nso" : ""}`);
      const [request] = site.requests;
      expect(request).toMatchObject({ line: `POST ${path}`, headers: { [header]: value, "x-team": "team-secret" } });
      expect(JSON.parse(request?.body ?? "")).toMatchObject({ tools: [tool] });
      expect(request?.body).toContain("a b");
      await search.close();
    });

    test("an answer without a page is told as it is; one of another shape can't be read; no key comes back", async () => {
      const search = await asking("responses", "/v1/responses");
      const answer = (status: number, body: unknown) =>
        site.on("/v1/responses", (_, response) => response.writeHead(status).end(JSON.stringify(body)));
      answer(200, { output: [{ type: "message", content: [{ type: "output_text", text: "Nothing about that." }] }] });
      expect((await search.call("web_search", { query: "x" })).text).toBe("Nothing about that.");
      for (const odd of [{}, { output: [] }, { output: "no" }, []]) {
        answer(200, odd);
        expect(await search.call("web_search", { query: "x" }), JSON.stringify(odd)).toMatchObject({ status: "failed" });
      }
      answer(403, { error: { message: "model-key-value of team-secret may not search" } });
      expect(await search.call("web_search", { query: "x" })).toMatchObject({
        status: "failed",
        text: 'The search service answered 403: {"error":{"message":"[redacted secret] of [redacted secret] may not search"}}',
      });
      await search.close();
    });
  });

  test("that fails says what the service said, without the key", async () => {
    const search = await searching("tavily");
    site.on("/search", (_, response) => response.writeHead(401).end("bad key search-key-value"));
    expect(await search.call("web_search", { query: "x" })).toMatchObject({
      status: "failed",
      text: "The search service answered 401: bad key [redacted secret]",
    });
    site.on("/search", (_, response) => response.end("<html>"));
    expect((await search.call("web_search", { query: "x" })).text).toContain("can't be read");
    site.on("/search", (_, response) => response.end('{"results":[]}'));
    expect((await search.call("web_search", { query: "x" })).text).toBe("Nothing was found.");
    await search.close();
  });

  test("is offered only where a service is configured; the tools of the web are deferred", () => {
    const names = (search: SearchProvider | null) =>
      createTools({ files: at.files, blobs: at.blobs, processes: null, isRedacted: () => false, http: httpPorts({}, { search }) })
        .filter((tool) => tool.isDeferred === true)
        .map((tool) => tool.spec.name);
    expect(names(null)).toEqual(["http_request", "web_fetch"]);
    expect(names({ kind: "searxng", baseUrl: "http://localhost:8080", apiKey: null })).toEqual(["http_request", "web_fetch", "web_search"]);
  });
});
