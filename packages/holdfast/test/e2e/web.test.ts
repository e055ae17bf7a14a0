import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createPlace, providers } from "./run.ts";

const secret = "shop-secret-4711";
const requests: { line: string; key: string | undefined }[] = [];
const site = createServer((request, response) => {
  const key = request.headers["x-key"] as string | undefined;
  requests.push({ line: `${request.method} ${request.url}`, key });
  if (request.url === "/page") response.writeHead(200, { "content-type": "text/html" }).end("<title>A page</title><p>Its <b>words</b>.");
  else if (request.url?.startsWith("/res/v1/web/search") === true)
    response.end(JSON.stringify({ web: { results: [{ title: "Found", url: "https://example.com/", description: "it" }] } }));
  else response.writeHead(201, { "content-type": "text/plain" }).end(`stored for ${key}\n`.repeat(2000));
});
let port = 0;
beforeEach(async () => {
  requests.length = 0;
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  ({ port } = site.address() as AddressInfo);
});
afterEach(() => {
  site.closeAllConnections();
  return new Promise((done) => site.close(() => done(undefined)));
});

const config = () => `[secrets.shop]
env = "SHOP_KEY"
hosts = ["127.0.0.1:${port}"]
[web.search]
provider = "brave"
base_url = "http://127.0.0.1:${port}"
`;
const order = () => ({ url: `http://127.0.0.1:${port}/orders`, method: "POST", json: { n: 1 }, headers: { "X-Key": { secret: "shop" } } });

test("pages, requests with a secret and searches work from end to end, and the secret is nowhere but at its server", async () => {
  const place = await createPlace((results) => {
    switch (results.length) {
      case 0:
        return { calls: [{ name: "search_tools", input: { query: "http request" } }] };
      case 1:
        return { calls: [{ name: "use_tool", input: { name: "web_fetch", input: { url: `http://127.0.0.1:${port}/page` } } }] };
      case 2:
        return { calls: [{ name: "http_request", input: { ...order(), expect: { status: 201 } } }] };
      case 3:
        return { calls: [{ name: "web_search", input: { query: "x" } }] };
      case 4:
        return {
          calls: [{ name: "read_output", input: { handle: /read_output (\S+?)\]/.exec(results[2] ?? "")?.[1], search: "stored" } }],
        };
      default:
        return { text: results.join("\n=====\n") };
    }
  });
  mkdirSync(join(place.home, ".holdfast"), { mode: 0o700 });
  writeFileSync(join(place.home, ".holdfast", "config.toml"), config(), { mode: 0o600 });
  const env = { SHOP_KEY: secret, BRAVE_API_KEY: "brave-key-0815" };
  const { code, stdout, stderr } = await place.start(["exec", "--allow-net", `127.0.0.1:${port}`, "go"], { env }).finished;
  expect(code, stderr).toBe(0);
  const [found = "", page = "", ordered = "", searched = "", read = ""] = stdout.split("\n=====\n");
  expect(found).toContain("Secrets for headers: shop.");
  expect(page).toBe("Title: A page\nIts **words**.");
  expect(ordered).toContain("HTTP 201");
  expect(ordered).toContain("stored for [redacted secret]");
  expect(searched).toContain("1. Found\nhttps://example.com/\nit");
  expect(read).toContain("stored for [redacted secret]");
  expect(stderr).toContain("HTTP 201");
  expect(requests.map(({ line }) => line)).toEqual([
    "GET /page",
    "POST /orders",
    "GET /res/v1/web/search?q=x&count=8&text_decorations=false",
  ]);
  expect(requests[1]?.key).toBe(secret);
  const kept = readdirSync(place.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const entry of kept) {
    const content = readFileSync(join(entry.parentPath, entry.name), "latin1");
    for (const value of [secret, "brave-key-0815"]) expect(content.includes(value), entry.name).toBe(false);
  }
  expect(JSON.stringify(place.server.requests)).not.toContain(secret);
});

test("without a network nothing is sent where nobody can be asked, and the model is told", async () => {
  const place = await createPlace((results) =>
    results.length === 0
      ? {
          calls: [
            { name: "web_fetch", input: { url: `http://127.0.0.1:${port}/page` } },
            { name: "http_request", input: { url: `http://127.0.0.1:${port}/`, method: "POST" } },
          ],
        }
      : { text: results.join("\n=====\n") },
  );
  const { stdout } = await place.exec("go");
  expect(stdout.match(/was refused: Needs a person/g)).toHaveLength(2);
  expect(requests).toEqual([]);
});

test.each(providers)("the first request to %s stays below 8 kB with all tools that are offered from the start", async (wire) => {
  const place = await createPlace(() => ({ text: "Done." }));
  await place.start(["exec", "go"], { wire }).finished;
  const bytes = new TextEncoder().encode(JSON.stringify(place.server.requests[0])).length;
  expect(bytes).toBeGreaterThan(4_000);
  expect(bytes).toBeLessThan(8_000);
});
