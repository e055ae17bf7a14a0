import { expect, test } from "vitest";
import { defaultConfig, type Config } from "../src/config/config.ts";
import { secretValues } from "../src/config/provider.ts";
import { createHttp, searchProvider } from "../src/host/http.ts";
import { createSecrets } from "../src/host/secrets.ts";

const configOf = (more: Partial<Config>): Config => ({ ...defaultConfig, ...more });

test("a call's secrets are those of [secrets] that are set and have hosts; a provider's key is none of them", async () => {
  const config = configOf({
    providers: { shop: { apiKey: "provider-key" } },
    secrets: {
      github: { env: "GH", hosts: ["api.github.com"] },
      unset: { env: "NO", hosts: ["a.example"] },
      nowhere: { env: "GH", hosts: [] },
    },
  });
  const env = { GH: "github-token-1", OPENAI_API_KEY: "openai-key-1" };
  const held = createSecrets({ config, env, kept: {}, keyring: async () => null, others: [], onValue: () => undefined });
  const { secrets, secretNames } = createHttp(config, env, held);
  expect(secretNames).toEqual(["github"]);
  expect(await secrets.get("github")).toEqual({ value: "github-token-1", expiresAt: null, hosts: ["api.github.com"] });
  for (const name of ["unset", "nowhere", "shop", "openai", "constructor", "__proto__"]) expect(await secrets.get(name), name).toBeNull();
  for (const value of ["github-token-1", "openai-key-1", "provider-key"]) expect(secrets.values()).toContain(value);
});

test("web_search has a provider where one is configured and its key is there", () => {
  const find = (search?: Config["web"]["search"], env: Record<string, string> = {}) =>
    searchProvider(configOf({ web: { ...defaultConfig.web, ...(search && { search }) } }), env);
  expect(find()).toBeNull();
  expect(find({ provider: "brave" })).toBeNull();
  expect(find({ provider: "brave" }, { BRAVE_API_KEY: "k" })).toEqual({
    kind: "brave",
    baseUrl: "https://api.search.brave.com",
    apiKey: "k",
  });
  expect(find({ provider: "exa", apiKeyEnv: "MINE" }, { EXA_API_KEY: "no", MINE: "k" })).toMatchObject({ apiKey: "k" });
  expect(find({ provider: "tavily", baseUrl: "https://proxy.example/" }, { TAVILY_API_KEY: "k" })).toMatchObject({
    baseUrl: "https://proxy.example",
  });
  expect(find({ provider: "searxng", baseUrl: "http://localhost:8080" })).toEqual({
    kind: "searxng",
    baseUrl: "http://localhost:8080",
    apiKey: null,
  });
  expect(() => find({ provider: "searxng" })).toThrow("[web.search] has no address");
});

test("a model searches with its provider's own tool, where that can be asked", () => {
  const find = (model: string, env: Record<string, string> = {}) =>
    searchProvider(configOf({ web: { ...defaultConfig.web, search: { model } } }), env);
  expect(find("openai/gpt-5-mini", { OPENAI_API_KEY: "k" })).toMatchObject({
    kind: "model",
    wire: "responses",
    url: "https://api.openai.com/v1/responses",
    model: "gpt-5-mini",
    apiKey: "k",
  });
  const addressOf = (model: string, env: Record<string, string>) => {
    const found = find(model, env);
    return found?.kind === "model" ? found.url : null;
  };
  expect(addressOf("anthropic/claude-haiku-4-5", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" })).toBe(
    "http://127.0.0.1:1/v1/messages",
  );
  expect(addressOf("google/gemini-3-flash", { GEMINI_API_KEY: "k" })).toBe(
    "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:generateContent",
  );
  // Without its key there is no tool; a session may do without.
  expect(find("openai/gpt-5-mini")).toBeNull();
  expect(() => find("opanai/gpt-5-mini")).toThrow("unknown provider");
  expect(() => find("ollama/llama", {})).toThrow("no search of its own");
});

test("every key of the web tools is hidden from whatever is shown", () => {
  const config = configOf({
    secrets: { a: { env: "A", hosts: ["a.example"] } },
    web: { ...defaultConfig.web, search: { provider: "exa" } },
  });
  expect(secretValues(config, { A: "value-a", EXA_API_KEY: "value-exa", OTHER: "other" }).toSorted()).toEqual(["value-a", "value-exa"]);
});
