import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Model } from "@holdfast/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultConfig, type Config } from "../src/config/config.ts";
import { chooseModel, endpointOf, modelForRole } from "../src/config/model-choice.ts";
import { secretValues } from "../src/config/provider.ts";
import { createModels } from "../src/host/model.ts";
import { createSecrets } from "../src/host/secrets.ts";

let server: Server;
let asked: IncomingMessage[] = [];
let root = "";
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(401).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const configOf = (fields: Partial<Config>): Config => ({ ...defaultConfig, ...fields });

function modelsOf(config: Config, env: Readonly<Record<string, string>>, notes: string[] = []): (name: string) => Promise<Model> {
  const replay = () => Promise.reject(new Error("nothing is recorded here"));
  return createModels({
    config,
    env,
    secrets: createSecrets({ config, env, kept: {}, keyring: async () => null, others: [], onValue: () => undefined }).all,
    onNote: (note) => notes.push(note),
    onSent: () => undefined,
    replay,
  });
}

/** Where one request of the model goes, and with which headers. */
async function goesTo(model: Model): Promise<{ readonly path: string; readonly headers: IncomingMessage["headers"] }> {
  const request = { instructions: "", tools: [], items: [], cacheKey: "k", effort: null, maxOutputTokens: null, image: async () => null };
  for await (const _ of model.sample(request, new AbortController().signal));
  const posted = asked.find(({ method }) => method === "POST");
  return { path: posted?.url ?? "", headers: posted?.headers ?? {} };
}

test.each<[model: string, env: (root: string) => Record<string, string>, path: string, header: [string, string]]>([
  ["openai/m", (at) => ({ OPENAI_API_KEY: "key-1", OPENAI_BASE_URL: `${at}/v1/` }), "/v1/responses", ["authorization", "Bearer key-1"]],
  [
    "openai-compatible/m",
    (at) => ({ OPENAI_API_KEY: "key-1", OPENAI_BASE_URL: `${at}/v1` }),
    "/v1/chat/completions",
    ["authorization", "Bearer key-1"],
  ],
  ["anthropic/m", (at) => ({ ANTHROPIC_API_KEY: "key-2", ANTHROPIC_BASE_URL: at }), "/v1/messages", ["x-api-key", "key-2"]],
  ["anthropic/m", (at) => ({ ANTHROPIC_API_KEY: "key-2", ANTHROPIC_BASE_URL: `${at}/v1/` }), "/v1/messages", ["x-api-key", "key-2"]],
  [
    "anthropic/m",
    (at) => ({ ANTHROPIC_API_KEY: "key-2", ANTHROPIC_BASE_URL: `${at}/proxy` }),
    "/proxy/v1/messages",
    ["x-api-key", "key-2"],
  ],
  [
    "google/m",
    (at) => ({ GEMINI_API_KEY: "key-3", GEMINI_BASE_URL: at }),
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    ["x-goog-api-key", "key-3"],
  ],
  [
    "google/m",
    (at) => ({ GOOGLE_GENERATIVE_AI_API_KEY: "key-4", GEMINI_BASE_URL: `${at}/v1beta` }),
    "/v1beta/models/m:streamGenerateContent?alt=sse",
    ["x-goog-api-key", "key-4"],
  ],
])("%s goes where the environment says, with its key", async (name, env, path, [header, value]) => {
  const { path: to, headers } = await goesTo(await modelsOf(defaultConfig, env(root))(name));
  expect([to, headers[header]]).toEqual([path, value]);
});

test("any base URL can have any wire, a key variable and headers of its own; one address of a preset can be another", async () => {
  const work = { baseUrl: `${root}/gateway`, wire: "messages", apiKeyEnv: "WORK_KEY", headers: { "x-team": "blue-team-1" } } as const;
  const config = configOf({ providers: { work, ollama: { baseUrl: `${root}/o/v1` } } });
  const env = { WORK_KEY: "work-key", ANTHROPIC_API_KEY: "not-this" };
  const { path, headers } = await goesTo(await modelsOf(config, env)("work/claude-opus-5-5"));
  expect([path, headers["x-api-key"], headers["x-team"]]).toEqual(["/gateway/v1/messages", "work-key", "blue-team-1"]);
  expect(secretValues(config, env).toSorted()).toEqual(["blue-team-1", "not-this", "work-key"]);
  expect(endpointOf("ollama/qwen", config, {})).toMatchObject({ baseUrl: `${root}/o/v1`, wire: "chat", apiKey: null, isLocal: true });
});

test.each([
  ["anthropic/x", "no key for anthropic: ANTHROPIC_API_KEY is not set"],
  ["google/x", "no key for google: GEMINI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY is not set"],
  ["openrouter/x", "no key for openrouter: OPENROUTER_API_KEY is not set"],
  ["openai-compatible/x", "no base URL for the provider openai-compatible"],
  ["antropic/x", 'unknown provider "antropic"'],
  ["__proto__/x", 'unknown provider "__proto__"'],
])("%s without what it needs is refused before anything is sent", (name, message) => {
  expect(() => endpointOf(name, defaultConfig, {})).toThrow(message);
});

describe("what is known of a model", () => {
  test("comes from the price list, then the configuration, and is told to the runtime", async () => {
    const env = { ANTHROPIC_API_KEY: "k" };
    const listed = await modelsOf(defaultConfig, env)("anthropic/claude-opus-5-5");
    expect([listed.contextWindow, listed.maxOutput]).toEqual([1_000_000, 128_000]);
    const modelFacts = { "anthropic/claude-opus-5-5": { contextWindow: 50_000, priceInput: 1, priceOutput: 2 } };
    const own = await modelsOf(configOf({ modelFacts }), env)("anthropic/claude-opus-5-5");
    const used = { inputTokens: 1_000_000, cachedInputTokens: 0, outputTokens: 1_000_000, reasoningTokens: 0 };
    expect([own.contextWindow, own.cost?.(used)]).toEqual([50_000, 3]);
  });

  test("and what isn't is told once, with what is assumed and where to say more", async () => {
    const notes: string[] = [];
    const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" };
    const models = modelsOf(configOf({ modelFacts: { "openai/priced": { priceInput: 1, priceOutput: 1 } } }), env, notes);
    for (const name of ["openai/new", "openai/new", "anthropic/claude-opus-5-5", "openai/priced"]) await models(name);
    expect((await models("openai/new")).contextWindow).toBe(128_000);
    expect(notes).toHaveLength(2);
    for (const part of ["openai/new", "128.0k tokens are assumed", "no limit of cost can hold", '[model."openai/new"]'])
      expect(notes[0]).toContain(part);
    expect(notes[1]).not.toContain("cost");
  });

  test("of a local server is asked again until the server has loaded the model", async () => {
    const notes: string[] = [];
    const models = modelsOf(configOf({ providers: { ollama: { baseUrl: `${root}/v1` } } }), {}, notes);
    expect((await models("ollama/m")).contextWindow).toBe(32_768);
    server.removeAllListeners("request");
    server.on("request", (request, response) =>
      response.end(JSON.stringify(request.url === "/api/ps" ? { models: [{ name: "m", context_length: 40_960 }] } : {})),
    );
    const loaded = await models("ollama/m");
    expect([loaded.contextWindow, notes.length]).toEqual([40_960, 1]);
    expect(await models("ollama/m")).toBe(loaded);
  });
});

test("a role has its own model, else the main one, whatever named that", () => {
  const config = configOf({ model: "openai/main", models: { main: "openai/main", review: "google/checker" } });
  expect(chooseModel(undefined, config, {}, "/")).toBe("openai/main");
  expect(modelForRole("review", config, "openai/main")).toBe("google/checker");
  for (const role of ["main", "compact", "judge", "child"] as const)
    expect(modelForRole(role, config, "anthropic/flagged")).toBe("anthropic/flagged");
});

test("what this machine serves is offered, never chosen, also where it is a single model", () => {
  const found = [{ provider: "ollama", baseUrl: "http://127.0.0.1:11434/v1", models: ["qwen3:8b"] }];
  for (const env of [{}, { ANTHROPIC_API_KEY: "k" }]) {
    const error = ((): unknown => {
      try {
        return chooseModel(undefined, defaultConfig, env, "/", found);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toMatchObject({ code: "no_model", hint: expect.stringContaining("--model ollama/qwen3:8b") });
  }
});

test("headers that are never a key are no secrets: their words stay in texts", () => {
  const headers = { Accept: "application/json", "anthropic-beta": "context-1m-2025-08-07", "X-Team": "engineering-key" };
  const config = configOf({ providers: { p: { headers } } });
  expect(secretValues(config, {})).toEqual(["engineering-key"]);
});
