import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Finished, Place } from "./run.ts";
import { createPlace } from "./run.ts";

/** A server that says everything back, as errors do. */
const heard: string[] = [];
const echo = createServer((request, response) => {
  const said = JSON.stringify({ path: request.url, headers: request.headers });
  heard.push(said);
  if (request.url === "/away") response.writeHead(307, { location: `http://localhost:${port}/elsewhere` }).end();
  else
    response
      .writeHead(request.url === "/api" ? 200 : 401, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message: said } }));
});
let port = 0;
beforeEach(async () => {
  heard.length = 0;
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  ({ port } = echo.address() as AddressInfo);
});
afterEach(() => {
  echo.closeAllConnections();
  echo.close();
});

/** By what each is for. Every one has a mark that no other text holds. */
const keys = {
  OPENAI_API_KEY: "canary-model-77aa01",
  INLINE: "canary-inline-77aa02",
  MCP_TOKEN: "canary-header-77aa03",
  SERVER_TOKEN: "canary-server-77aa04",
  API_TOKEN: "canary-api-77aa05",
  GITHUB_TOKEN: "canary-unused-77aa06",
  DATABASE_URL: "postgres://user:canary-url-77aa07@db/x",
} as const;
const anyKey = /canary-[a-z]+-77aa\d\d/;

/** Texts in which a key may hide from a search for it. */
function hasKey(bytes: Buffer | string): boolean {
  const text = typeof bytes === "string" ? bytes : bytes.toString("latin1");
  const encoded = Object.values(keys).flatMap((key) => [
    Buffer.from(key).toString("base64").slice(4, 20),
    Buffer.from(key).toString("hex"),
  ]);
  return anyKey.test(text) || encoded.some((each) => text.includes(each));
}

function filesWithKeys(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    return entry.isFile() && hasKey(readFileSync(path)) ? [path.slice(folder.length + 1)] : [];
  });
}

function config({ home }: Place): string {
  return `[providers.bad]
base_url = "http://127.0.0.1:${port}/v1"
api_key = "${keys.INLINE}"
headers = { x-also = "${keys.INLINE}" }
[secrets.api]
env = "API_TOKEN"
hosts = ["127.0.0.1:${port}"]
[mcp.far]
url = "http://127.0.0.1:${port}/mcp"
headers = { Authorization = "Bearer \${MCP_TOKEN}" }
[mcp.away]
url = "http://127.0.0.1:${port}/away"
headers = { X-Token = "\${MCP_TOKEN}" }
[mcp.near]
command = "sh"
args = ["-c", "env > ${home}/server.env; echo it needs $TOKEN >&2; exit 3"]
env = { TOKEN = "\${SERVER_TOKEN}" }
[[hooks.session_start]]
command = "env > ${home}/hook.env"
`;
}

test("no key shows in any record, output, request to another place or child's environment, whatever says it back", async () => {
  const use = (name: string, input: object) => ({ name: "use_tool", input: { name, input } });
  const secret = { secret: "api", prefix: "Bearer " };
  const place = await createPlace((results) => {
    if (results.length > 0) return { text: results.join("\n") };
    return {
      calls: [
        { name: "run_command", input: { command: "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; ps -ef" } },
        { name: "search_tools", input: { query: "anything" } },
        use("http_request", { url: `http://127.0.0.1:${port}/api`, headers: { Authorization: secret } }),
        use("http_request", { url: `http://localhost:${port}/api`, headers: { Authorization: secret } }),
        use("http_request", { url: `http://127.0.0.1:${port}/other`, headers: { Authorization: { secret: "OPENAI_API_KEY" } } }),
      ],
    };
  });
  mkdirSync(join(place.home, ".holdfast"), { mode: 0o700 });
  writeFileSync(join(place.home, ".holdfast/config.toml"), config(place), { mode: 0o600 });
  const { INLINE: _, ...env } = keys;
  const run = (...args: string[]): Promise<Finished> => place.start(args, { env }).finished;

  const exec = await run("exec", "--json", "--allow-net", `127.0.0.1:${port}`, "--allow-net", `localhost:${port}`, "go");
  expect(exec.code).toBe(0);
  const id = await place.session();
  const outputs = [exec];
  const failing = place.start(["exec", "resume", id, "--model", "bad/x", "again"], { env });
  outputs.push(await failing.finished);
  for (const line of [
    `sessions show ${id}`,
    `sessions export ${id}`,
    `sessions export --format json ${id}`,
    "config show",
    "config check",
    "mcp list",
    "mcp list --json",
    "mcp test",
    "mcp test --json",
    "models",
    "doctor",
  ])
    outputs.push(await run(...line.split(" ")));

  // They were used where they belong.
  const said = heard.join("\n");
  for (const key of [keys.API_TOKEN, keys.MCP_TOKEN]) expect(said).toContain(key);
  expect(readFileSync(join(place.home, "server.env"), "utf8")).toContain(keys.SERVER_TOKEN);
  expect(said).not.toMatch(/elsewhere|canary-(?:model|unused|url|server)/);
  expect(heard.filter((each) => each.includes(`localhost:${port}`)).filter((each) => anyKey.test(each))).toEqual([]);
  expect(readFileSync(join(place.home, "server.env"), "utf8").replace(keys.SERVER_TOKEN, "")).not.toMatch(anyKey);
  expect(readFileSync(join(place.home, "hook.env"), "utf8")).not.toMatch(anyKey);

  for (const { stdout, stderr } of outputs) expect([stdout, stderr].filter(hasKey)).toEqual([]);
  expect(place.server.requests.map((request) => JSON.stringify(request)).filter(hasKey)).toEqual([]);
  expect(filesWithKeys(join(place.home, ".holdfast"))).toEqual(["config.toml"]);
});

test("what is said with an answer is stored without keys from the moment it is posted", async () => {
  const ask = { calls: [{ name: "ask_user", input: { question: "which key?" } }] };
  const place = await createPlace(() => ask);
  const env = { API_TOKEN: keys.API_TOKEN, MCP_TOKEN: keys.MCP_TOKEN };
  mkdirSync(join(place.home, ".holdfast"));
  writeFileSync(
    join(place.home, ".holdfast/config.toml"),
    `[secrets.api]\nenv = "API_TOKEN"\nhosts = ["x.test"]\n[mcp.far]\nurl = "https://mcp.invalid/"\nheaders = { authorization = "Bearer \${MCP_TOKEN}" }\nenabled = false\n`,
  );
  expect((await place.exec("--approvals", "ask", "go")).code).toBe(4);
  const said = `it is ${keys.API_TOKEN} or ${keys.MCP_TOKEN}`;
  const { code, stderr } = await place.start(["answer", said], { env }).finished;
  expect([code, stderr]).toEqual([0, expect.stringContaining("answered")]);
  expect(filesWithKeys(join(place.home, ".holdfast"))).toEqual([]);
});
