import { isHoldfastError, type ErrorCode } from "@holdfast/protocol";
import { describe, expect, it } from "vitest";
import { createModelResolver, type Fetch, type ProviderSettings } from "../src/index.ts";
import { collect, items, last, sse } from "./loopback.ts";

const key = (value: string | null) => async () => value;
const local: ProviderSettings = { wire: "chat", baseUrl: "http://localhost:11434/v1/", apiKey: key(null), contextWindow: 32_000 };

async function refused(promise: Promise<unknown>, code: ErrorCode): Promise<string> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!isHoldfastError(error, code)) throw new Error(`expected ${code}, got ${String(error)}`);
  return `${error.message} — ${error.hint ?? ""}`;
}

/** A fetch that answers properly and notes the addresses. */
function recording(): { readonly urls: string[]; readonly fetch: Fetch } {
  const urls: string[] = [];
  const fetch: Fetch = async (url) => {
    urls.push(url);
    return new Response(sse({ type: "response.completed", response: {} }, { choices: [{ delta: {}, finish_reason: "stop" }] }));
  };
  return { urls, fetch };
}

describe("a model's name", () => {
  it("leads to its provider's wire and address; the name itself may hold slashes", async () => {
    const { urls, fetch } = recording();
    const resolve = createModelResolver({
      providers: {
        openai: { wire: "responses", apiKey: key("sk-1") },
        mock: { wire: "responses", baseUrl: "http://127.0.0.1:9/v1", apiKey: key(null) },
        "openai-compatible": local,
      },
      fetch,
    });
    const names = ["openai/gpt-5", "mock/gpt-5", "openai-compatible/meta-llama/Llama-3"];
    const models = await Promise.all(names.map(resolve));
    for (const model of models) expect(last(await collect(model)).type).toBe("finished");
    expect(models.map((model) => model.id)).toEqual(names);
    expect(models.map((model) => model.contextWindow)).toEqual([null, null, 32_000]);
    expect(urls).toEqual([
      "https://api.openai.com/v1/responses",
      "http://127.0.0.1:9/v1/responses",
      "http://localhost:11434/v1/chat/completions",
    ]);
  });

  it("leads to the same model each time", async () => {
    const resolve = createModelResolver({ providers: { "openai-compatible": local } });
    const [a, b] = await Promise.all([resolve("openai-compatible/x"), resolve("openai-compatible/x")]);
    expect(a).toBe(b);
    expect(await resolve("openai-compatible/x")).toBe(a);
  });

  it("leads to a script, by list or by function", async () => {
    const script = { name: "demo", steps: [{ text: "Hi." }] };
    for (const scripts of [{ demo: script }, async (name: string) => (name === "demo" ? script : null)]) {
      const resolve = createModelResolver({ providers: {}, scripts });
      const model = await resolve("script/demo");
      expect(model.id).toBe("script/demo");
      expect(items(await collect(model))).toEqual([{ kind: "assistant_message", text: "Hi." }]);
      expect(await refused(resolve("script/other"), "no_model")).toContain("script/");
    }
  });

  it("that leads nowhere is refused with what is known", async () => {
    const resolve = createModelResolver({
      providers: { openai: { wire: "responses", apiKey: key("k") }, "openai-compatible": local },
      scripts: { demo: { name: "demo", steps: [] } },
    });
    for (const name of ["gpt-5", "", "/x", "openai/", "anthropic/claude", "toString/x", "__proto__/x"]) {
      const text = await refused(resolve(name), "no_model");
      for (const known of ["openai/NAME", "openai-compatible/NAME", "script/demo"]) expect(text).toContain(known);
    }
  });

  it("of OpenAI itself needs a key", async () => {
    for (const baseUrl of [undefined, "", "https://api.openai.com/v1/"]) {
      const resolve = createModelResolver({
        providers: { openai: { wire: "responses", apiKey: key(" "), ...(baseUrl === undefined ? {} : { baseUrl }) } },
      });
      expect(await refused(resolve("openai/gpt-5"), "no_model")).toContain("OPENAI_API_KEY");
    }
  });

  it("of a provider without a usable address is refused, without showing it", async () => {
    const at = (baseUrl: string | null) =>
      createModelResolver({ providers: { other: { wire: "chat", baseUrl, apiKey: key(null) } } })("other/x");
    expect(await refused(at(null), "config_invalid")).toContain("OPENAI_BASE_URL");
    expect(await refused(at(" "), "config_invalid")).toContain("other");
    for (const bad of ["sk-key-in-the-wrong-place", "ftp://host/v1", "https://user:secret@host/v1"]) {
      const text = await refused(at(bad), "config_invalid");
      expect(text).not.toMatch(/wrong-place|secret/);
    }
  });
});
