import { resolve } from "node:path";
import { HoldfastError } from "@holdfast/protocol/error";
import type { Config, ProviderConfig } from "./config.ts";
import { nearest } from "../cli/nearest.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Where a model's requests go. */
export interface Endpoint {
  readonly provider: string;
  readonly name: string;
  readonly wire: "responses" | "chat";
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly contextWindow: number | null;
}

/** The providers known without a config file, with the wire each speaks. */
const builtin: Readonly<Record<string, { readonly wire: "responses" | "chat"; readonly baseUrl: string | null }>> = {
  openai: { wire: "responses", baseUrl: "https://api.openai.com/v1" },
  "openai-compatible": { wire: "chat", baseUrl: null },
};

/**
 * The model a session starts with: the flag, else the config's. There is no silent default: which model runs, and what it
 * costs, is the person's choice. Throws `no_model` with the ways to go on.
 */
export function chooseModel(flag: string | undefined, config: Config, env: Env, cwd: string): string {
  const chosen = flag ?? config.model;
  if (chosen === undefined) {
    throw hasEndpoint(config, env)
      ? new HoldfastError("no_model", "no model was named", {
          hint: 'name one: --model openai/NAME (or model = "openai/NAME" in config.toml in $HOLDFAST_HOME)',
        })
      : new HoldfastError("no_model", "no model was named, and there is no key for one", { hint: waysOn });
  }
  if (chosen.startsWith("script:")) {
    const file = chosen.slice("script:".length);
    if (file === "") throw new HoldfastError("usage", "script: names no file", { hint: "write --model script:FILE" });
    return `script:${resolve(cwd, file)}`;
  }
  if (!/^[^/\s]+\/\S+$/.test(chosen)) {
    throw new HoldfastError("usage", `${JSON.stringify(chosen)} is not a model`, {
      hint: "a model is written PROVIDER/NAME (openai/NAME, openai-compatible/NAME) or script:FILE",
    });
  }
  return chosen;
}

/** Ways to go on without a key, from the quickest. */
const waysOn = [
  "ways to go on:",
  "  a key          export OPENAI_API_KEY=…  and  --model openai/NAME",
  "  a base URL     export OPENAI_BASE_URL=https://…/v1  and  --model openai-compatible/NAME",
  '  a local server [providers.local] base_url = "http://127.0.0.1:11434/v1" in config.toml,  --model local/NAME',
  "  the demo       holdfast demo  (scripted model, no key)",
].join("\n");

function hasEndpoint(config: Config, env: Env): boolean {
  return Boolean(env["OPENAI_API_KEY"]) || Boolean(env["OPENAI_BASE_URL"]) || Object.keys(config.providers).length > 0;
}

/** Resolves `provider/name` to where it is served. Throws `no_model` for an unknown provider or a missing key. */
export function endpointOf(model: string, config: Config, env: Env): Endpoint {
  const slash = model.indexOf("/");
  const provider = model.slice(0, slash);
  const name = model.slice(slash + 1);
  const own = builtin[provider];
  const configured: ProviderConfig | undefined = config.providers[provider];
  if (own === undefined && configured === undefined) {
    const known = [...new Set([...Object.keys(builtin), ...Object.keys(config.providers)])];
    const close = nearest(provider, known);
    throw new HoldfastError("no_model", `unknown provider ${JSON.stringify(provider)} in the model ${JSON.stringify(model)}`, {
      hint:
        close === null
          ? `known providers: ${known.join(", ")}; add one as [providers.NAME] in config.toml`
          : `did you mean ${close}/${name}?`,
    });
  }
  const isOpenAi = own !== undefined;
  const baseUrl = configured?.baseUrl ?? (isOpenAi ? env["OPENAI_BASE_URL"] || own.baseUrl : null);
  if (!baseUrl) {
    throw new HoldfastError("no_model", `no base URL for the provider ${provider}`, {
      hint: isOpenAi
        ? "set OPENAI_BASE_URL, or base_url under [providers.openai-compatible]"
        : `set base_url under [providers.${provider}] in config.toml`,
    });
  }
  if (!URL.canParse(baseUrl)) {
    throw new HoldfastError("config_invalid", `the base URL of ${provider} is no URL: ${JSON.stringify(baseUrl)}`, {
      hint: "write the server's API root, such as http://127.0.0.1:11434/v1",
    });
  }
  const wire = configured?.wire ?? own?.wire ?? "chat";
  if (wire !== "responses" && wire !== "chat") {
    throw new HoldfastError("no_model", `the wire ${wire} of the provider ${provider} is not there yet`, { hint: "use responses or chat" });
  }
  const apiKey = keyOf(provider, configured, isOpenAi, env);
  if (apiKey === null && new URL(baseUrl).hostname === "api.openai.com") {
    throw new HoldfastError("no_model", `no key for ${model}`, { hint: waysOn });
  }
  return {
    provider,
    name,
    wire,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    apiKey,
    contextWindow: configured?.contextWindow ?? null,
  };
}

function keyOf(provider: string, configured: ProviderConfig | undefined, isOpenAi: boolean, env: Env): string | null {
  if (configured?.apiKey !== undefined) return configured.apiKey;
  if (configured?.apiKeyEnv !== undefined) {
    const value = env[configured.apiKeyEnv];
    if (value) return value;
    throw new HoldfastError("no_model", `the provider ${provider} takes its key from ${configured.apiKeyEnv}, which is not set`, {
      hint: `export ${configured.apiKeyEnv}=…`,
    });
  }
  return isOpenAi ? env["OPENAI_API_KEY"] || null : null;
}

/** Every secret value that this process holds, for redaction. */
export function secretValues(config: Config, env: Env): string[] {
  const named = Object.values(config.providers).flatMap((provider) => [
    provider.apiKey,
    provider.apiKeyEnv === undefined ? undefined : env[provider.apiKeyEnv],
  ]);
  return [...new Set([env["OPENAI_API_KEY"], ...named])].filter((value): value is string => Boolean(value));
}
