import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { defaultConfig, type Config } from "../src/config/config.ts";
import { findLocalServers, isAbsent, loadedWindow } from "../src/config/local-servers.ts";
import { providerOf, type Provider } from "../src/config/provider.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

type Answers = Readonly<Record<string, unknown>> | ((url: string, response: ServerResponse) => void);

/** A server on this machine; the paths that `answers` names give its JSON, others 404. */
async function serve(answers: Answers, asked: string[] = []): Promise<string> {
  const server = createServer((request, response) => {
    const url = request.url ?? "";
    asked.push(`${request.method} ${url}`);
    if (typeof answers === "function") return answers(url, response);
    const answer = Object.hasOwn(answers, url) ? answers[url] : undefined;
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(answer ?? {}));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const models = (...ids: unknown[]) => ({ object: "list", data: ids.map((id) => ({ id, object: "model" })) });
/** No server of the person who runs the test is asked: each preset is elsewhere. */
const nobody = "http://127.0.0.1:9/v1";
const configOf = (urls: Readonly<Record<string, string>>): Config => ({
  ...defaultConfig,
  providers: Object.fromEntries(["ollama", "lmstudio", "vllm", "llama-server"].map((name) => [name, { baseUrl: urls[name] ?? nobody }])),
});
function providerAt(baseUrl: string, name = "ollama"): Provider {
  const provider = providerOf(name, configOf({ [name]: baseUrl }), {});
  if (provider === null) throw new Error(`there is no ${name}`);
  return provider;
}

test("local servers are found with their models, beside others that aren't there or never answer", async () => {
  const [ollama, vllm, silent] = [
    await serve({ "/v1/models": models("qwen3:8b", "org/model-b") }),
    await serve({ "/v1/models": models() }),
    await serve(() => {}),
  ];
  expect(await findLocalServers(configOf({ ollama, vllm, "llama-server": silent }), {})).toEqual([
    { provider: "ollama", baseUrl: ollama, models: ["qwen3:8b", "org/model-b"] },
    { provider: "vllm", baseUrl: vllm, models: [] },
  ]);
});

test.each<[string, Answers]>([
  ["a page", (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html></html>")],
  ["an error", (_, response) => response.writeHead(500).end(JSON.stringify(models("m")))],
  ["a redirect", (_, response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end()],
  ["other JSON", { "/v1/models": { models: ["m"] } }],
  ["no JSON at all", (_, response) => response.end("{")],
  ["more than a list of models is", (_, response) => response.end(`{"data":[],"x":"${"y".repeat(2_000_000)}"}`)],
  ["a connection that breaks", (_, response) => response.destroy()],
])("%s is no server of models", async (_, answers) => {
  expect(await findLocalServers(configOf({ ollama: await serve(answers) }), {})).toEqual([]);
});

test("a listed name that no --model could name is left out: blanks, control codes, another type", async () => {
  const ollama = await serve({ "/v1/models": models("good", "two words", "\u001b[31mred", "", 7, null, "x".repeat(300)) });
  expect((await findLocalServers(configOf({ ollama }), {}))[0]?.models).toEqual(["good"]);
});

test("a preset that was put on another machine is not looked for", async () => {
  const config = { ...configOf({}), providers: { ...configOf({}).providers, ollama: { baseUrl: "http://models.example/v1" } } };
  expect(await findLocalServers(config, {})).toEqual([]);
});

test.each<[string, Record<string, unknown>, number | null]>([
  [
    "vLLM",
    {
      "/v1/models": {
        data: [
          { id: "other", max_model_len: 1 },
          { id: "m", max_model_len: 32_768 },
        ],
      },
    },
    32_768,
  ],
  ["llama-server", { "/v1/models": models("m"), "/props": { default_generation_settings: { n_ctx: 16_384 } } }, 16_384],
  [
    "LM Studio",
    { "/v1/models": models("m"), "/api/v0/models": { data: [{ id: "m", max_context_length: 131_072, loaded_context_length: 4_096 }] } },
    4_096,
  ],
  ["LM Studio before it has loaded the model", { "/api/v0/models": { data: [{ id: "m", max_context_length: 131_072 }] } }, null],
  ["Ollama", { "/api/ps": { models: [{ name: "m:latest", context_length: 40_960 }] } }, 40_960],
  ["Ollama with another model loaded", { "/api/ps": { models: [{ name: "n", context_length: 40_960 }] } }, null],
  [
    "one that tells nonsense",
    { "/v1/models": { data: [{ id: "m", max_model_len: "lots" }] }, "/props": { default_generation_settings: { n_ctx: -1 } } },
    null,
  ],
])("the window that %s has loaded a model with is asked for", async (_, answers, window) => {
  expect(await loadedWindow(providerAt(await serve(answers)), "m")).toBe(window);
});

test("only this machine is asked for a window", async () => {
  expect(await loadedWindow({ ...providerAt(nobody), baseUrl: "http://models.example/v1" }, "m")).toBeNull();
});

test("a server is absent only where nothing listens: not where it is slow, odd, or on another machine", async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  expect(await isAbsent({ baseUrl: `http://127.0.0.1:${port}/v1` })).toBe(true);
  expect(await isAbsent({ baseUrl: await serve(() => undefined) })).toBe(false);
  expect(await isAbsent({ baseUrl: await serve({}) })).toBe(false);
  expect(await isAbsent({ baseUrl: "http://model.invalid/v1" })).toBe(false);
});
