import { describe, expect, it } from "vitest";
import { noUsage, type Usage } from "@holdfast/protocol";
import { costOf, factsOf, resolveFacts, table, withFacts, withOverride, createScriptModel, type ModelFacts } from "../src/index.ts";
import { isLoopback, needsKey, presets, vendorOf } from "../src/providers.ts";

const usage = (fields: Partial<Usage>): Usage => ({ ...noUsage, ...fields });
const facts: ModelFacts = {
  contextWindow: 200_000,
  maxOutput: 64_000,
  prices: { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 10 },
  longPrompt: { above: 100_000, prices: { input: 4, cachedInput: 0.4, cacheWrite: 5, output: 15 } },
};

describe("a cost", () => {
  it("is priced apart for what was read from the cache, written to it, neither, and said", () => {
    const used = usage({ inputTokens: 10_000, cachedInputTokens: 6_000, cacheWriteTokens: 1_000, outputTokens: 500 });
    expect(costOf(facts, used)).toBeCloseTo((3_000 * 2 + 1_000 * 2.5 + 6_000 * 0.2 + 500 * 10) / 1e6, 12);
  });

  it("counts all fresh input as written where the provider bills writing and doesn't tell how much: never too little", () => {
    const used = { inputTokens: 10_000, cachedInputTokens: 6_000, outputTokens: 0 };
    expect(costOf(facts, usage(used))).toBeCloseTo((4_000 * 2.5 + 6_000 * 0.2) / 1e6, 12);
    for (let cacheWriteTokens = 0; cacheWriteTokens <= 4_000; cacheWriteTokens += 500) {
      expect(costOf(facts, usage({ ...used, cacheWriteTokens }))).toBeLessThanOrEqual(costOf(facts, usage(used)) ?? 0);
    }
  });

  it("is all at the price of long prompts once the input is longer", () => {
    const used = { cacheWriteTokens: 0, outputTokens: 100 };
    expect(costOf(facts, usage({ ...used, inputTokens: 100_000 }))).toBeCloseTo((100_000 * 2 + 100 * 10) / 1e6, 12);
    expect(costOf(facts, usage({ ...used, inputTokens: 100_001 }))).toBeCloseTo((100_001 * 4 + 100 * 15) / 1e6, 12);
  });

  it("is unknown without prices, and nothing where nobody bills", () => {
    expect(costOf({ ...facts, prices: null }, usage({ inputTokens: 1 }))).toBeNull();
    const own = resolveFacts({ provider: "ollama", name: "qwen3", baseUrl: "http://127.0.0.1:11434/v1" });
    expect(costOf(own, usage({ inputTokens: 1e6, outputTokens: 1e6 }))).toBe(0);
  });

  it("of more tokens is never less, so that a worst case is one", () => {
    for (const rows of Object.values(table)) {
      for (const row of rows.values()) {
        if (row.prices === null) continue;
        let before = -1;
        for (const inputTokens of [0, 1_000, 99_999, 100_001, 199_999, 200_001, 271_999, 272_001, 900_000]) {
          const now = costOf(row, usage({ inputTokens, outputTokens: 1_000 })) ?? -1;
          expect(now).toBeGreaterThanOrEqual(before);
          before = now;
        }
      }
    }
  });
});

describe("the price list", () => {
  it("knows a release of a model by its name, and takes no longer name for a shorter one", () => {
    const known = (vendor: string, name: string) => factsOf(vendor, name)?.prices?.input ?? null;
    expect(known("anthropic", "claude-haiku-4-5-20251001")).toBe(1);
    expect(known("openai", "gpt-5-mini-2025-08-07")).toBe(0.25);
    expect(known("openai", "gpt-5-2025-08-07")).toBe(1.25);
    expect(known("anthropic", "claude-sonnet-5-5")).toBe(2);
    expect(known("google", "gemini-2.5-flash-001")).toBe(0.3);
    expect(known("google", "gemini-2.5-flash-lite")).toBe(0.1);
    for (const other of ["gpt-5.5-pro", "gpt-5-pro", "gpt-5-codex", "gpt-50", "gpt-5.", "gpt", "", "toString", "gpt-5-2025"]) {
      const isRelease = other === "gpt-5-2025";
      expect([other, known("openai", other)]).toEqual([other, isRelease ? 1.25 : null]);
    }
    expect(factsOf("nobody", "gpt-5")).toBeNull();
    expect(factsOf("__proto__", "x")).toBeNull();
  });

  it("has no price below zero, no cached input above fresh, no answer longer than its window", () => {
    for (const [vendor, rows] of Object.entries(table)) {
      for (const [name, row] of rows) {
        const where = `${vendor}/${name}`;
        expect([where, (row.contextWindow ?? 0) >= (row.maxOutput ?? 0)]).toEqual([where, true]);
        for (const prices of [row.prices, row.longPrompt?.prices ?? null]) {
          if (prices === null) continue;
          const { input, cachedInput, cacheWrite = input, output } = prices;
          expect([where, cachedInput > 0 && cachedInput <= input && input <= cacheWrite && input <= output]).toEqual([where, true]);
        }
      }
    }
  });

  it("is overridden by a person, for what they say and nothing else", () => {
    expect(withOverride(facts, { contextWindow: 32_000 })).toEqual({ ...facts, contextWindow: 32_000 });
    expect(withOverride(facts, { priceInput: 1 })).toEqual({
      ...facts,
      prices: { input: 1, cachedInput: 1, output: 10 },
      longPrompt: null,
    });
    expect(withOverride(facts, { priceOutput: 1, maxOutput: 8 })).toEqual({
      ...facts,
      maxOutput: 8,
      prices: { input: 2, cachedInput: 0.2, cacheWrite: 2.5, output: 1 },
      longPrompt: null,
    });
    const unknown = { ...facts, prices: null, longPrompt: null };
    expect(withOverride(unknown, { priceInput: 1 }).prices).toBeNull();
    expect(withOverride(unknown, { priceInput: 1, priceOutput: 2 }).prices).toEqual({ input: 1, cachedInput: 1, output: 2 });
  });
});

describe("what holds for a model", () => {
  const hosted = { provider: "anthropic", name: "claude-opus-5-5", baseUrl: "https://api.anthropic.com/v1" };
  const here = { provider: "ollama", name: "gpt-5", baseUrl: "http://127.0.0.1:11434/v1" };

  it.each([
    ["the list", hosted, 1_000_000, "table", 4],
    ["the list, by the host, whatever the provider is called", { ...hosted, provider: "work" }, 1_000_000, "table", 4],
    ["the provider's own setting", { ...hosted, providerWindow: 50_000 }, 50_000, "config", 4],
    ["the model's own setting", { ...hosted, providerWindow: 50_000, override: { contextWindow: 9, priceInput: 7 } }, 9, "config", 7],
    ["a local server's word", { ...here, loadedWindow: 4_096 }, 4_096, "server", 0],
    ["nothing, on this machine", here, 32_768, "assumed", 0],
    ["nothing, for a server elsewhere", { provider: "work", name: "x", baseUrl: "https://models.example/v1" }, 128_000, "assumed", null],
    // A proxy on this machine may pass requests on to anybody: they are not free.
    ["nothing, for a proxy here", { provider: "proxy", name: "gpt-5", baseUrl: "http://127.0.0.1:4000/v1" }, 32_768, "assumed", null],
  ])("comes from %s", (_, query, window, from, input) => {
    const found = resolveFacts(query);
    expect([found.contextWindow, found.windowFrom, found.prices?.input ?? null]).toEqual([window, from, input]);
  });

  it("is what the model tells the runtime", () => {
    const model = createScriptModel([{ text: "Hi." }]);
    const told = withFacts(model, facts);
    expect([told.id, told.contextWindow, told.maxOutput]).toEqual([model.id, 200_000, 64_000]);
    expect(told.cost?.(usage({ inputTokens: 1e5, cacheWriteTokens: 0 }))).toBeCloseTo(0.2, 12);
    expect(withFacts(model, { ...facts, prices: null }).cost).toBeNull();
  });
});

describe("the presets", () => {
  it("serve local models on this machine alone, without a key", () => {
    const local = Object.entries(presets).filter(([, preset]) => preset.isLocal);
    expect(local.map(([name, { baseUrl }]) => [name, URL.parse(baseUrl ?? "")?.port])).toEqual([
      ["ollama", "11434"],
      ["lmstudio", "1234"],
      ["vllm", "8000"],
      ["llama-server", "8080"],
    ]);
    for (const [, { baseUrl, keyVariables }] of local) expect([isLoopback(baseUrl ?? ""), keyVariables]).toEqual([true, []]);
  });

  it("need a key where their host is known to, and have that vendor's prices", () => {
    for (const [name, { baseUrl, isLocal }] of Object.entries(presets)) {
      if (baseUrl === null) continue;
      expect([name, needsKey(baseUrl), vendorOf(name, baseUrl)]).toEqual([name, !isLocal, isLocal ? null : name]);
    }
    expect(vendorOf("openai", "http://127.0.0.1:9/v1")).toBe("openai");
    expect(vendorOf("toString", "https://models.example")).toBeNull();
  });

  it("tell this machine's addresses from others that look like them", () => {
    for (const url of ["http://127.0.0.1:1", "http://127.1.2.3", "http://localhost:8080/v1", "http://[::1]:80"])
      expect([url, isLoopback(url)]).toEqual([url, true]);
    for (const url of ["http://127.0.0.1.example.org", "http://localhost.example.org", "http://10.0.0.1", "no url", ""])
      expect([url, isLoopback(url)]).toEqual([url, false]);
  });
});
