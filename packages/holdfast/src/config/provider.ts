import { HoldfastError } from "@holdfast/protocol/error";
import { showUrls } from "@holdfast/runtime/show-url";
import { needsKey, presets, type WireName } from "@holdfast/models/providers";
import { nearest } from "../cli/nearest.ts";
import type { Config } from "./config.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** A provider as preset, configuration and environment describe it together. Nothing is asked of its server. */
export interface Provider {
  readonly name: string;
  readonly wire: WireName;
  /** Without a slash at its end; null where nobody named one. */
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  /** Where the key comes from, or could come from: variables by name, `api_key` of the configuration. */
  readonly keyFrom: readonly string[];
  /** Its host is known to refuse requests without one. */
  readonly needsKey: boolean;
  /** Served on this machine, as far as its preset tells. */
  readonly isLocal: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly contextWindow: number | null;
  /** The person lets it keep requests and answers. */
  readonly isStored: boolean;
  /** Its models load tools that are found in its own way. */
  readonly loadsTools: boolean;
}

/** Names of all providers: the presets, then those of the configuration. */
export function providerNames(config: Config): string[] {
  return [...new Set([...Object.keys(presets), ...Object.keys(config.providers)])];
}

/** Null for a name that is neither a preset nor configured. */
export function providerOf(name: string, config: Config, env: Env): Provider | null {
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  const own = Object.hasOwn(config.providers, name) ? config.providers[name] : undefined;
  if (preset === undefined && own === undefined) return null;
  const fromEnv = preset?.baseUrlVariable == null ? undefined : env[preset.baseUrlVariable];
  const baseUrl = (own?.baseUrl ?? (fromEnv || preset?.baseUrl) ?? "").trim().replace(/\/+$/, "");
  const variables = own?.apiKeyEnv === undefined ? (preset?.keyVariables ?? []) : [own.apiKeyEnv];
  const set = variables.find((variable) => env[variable]);
  return {
    name,
    wire: own?.wire ?? preset?.wire ?? "chat",
    baseUrl: baseUrl === "" ? null : baseUrl,
    apiKey: own?.apiKey ?? (set === undefined ? null : (env[set] ?? null)),
    keyFrom: own?.apiKey !== undefined ? ["api_key"] : set === undefined ? variables : [set],
    needsKey: needsKey(baseUrl) || own?.apiKeyEnv !== undefined,
    isLocal: preset?.isLocal === true,
    headers: own?.headers ?? {},
    contextWindow: own?.contextWindow ?? null,
    isStored: own?.store === true,
    loadsTools: own?.toolSearch === true,
  };
}

/** A model of a provider that is neither a preset nor configured. */
export function unknownProvider(model: string, config: Config): HoldfastError {
  const slash = model.indexOf("/");
  const [name, own] = [model.slice(0, slash), model.slice(slash + 1)];
  const known = providerNames(config);
  const close = nearest(name, known);
  return new HoldfastError("no_model", `unknown provider ${JSON.stringify(name)} in the model ${JSON.stringify(model)}`, {
    hint:
      close === null ? `known providers: ${known.join(", ")}; add one as [providers.NAME] in config.toml` : `did you mean ${close}/${own}?`,
  });
}

/** Why its address can't be asked. */
export function addressProblem({ name, baseUrl }: Provider): HoldfastError | null {
  if (baseUrl === null) {
    const variable = Object.hasOwn(presets, name) ? presets[name]?.baseUrlVariable : null;
    return new HoldfastError("no_model", `no base URL for the provider ${name}`, {
      hint: `${variable == null ? "" : `set ${variable}, or `}set base_url under [providers.${name}] in config.toml`,
    });
  }
  const url = URL.parse(baseUrl);
  if (url === null) {
    return new HoldfastError("config_invalid", `the base URL of ${name} is no URL: ${JSON.stringify(showUrls(baseUrl))}`, {
      hint: "write the server's API root, such as http://127.0.0.1:11434/v1",
    });
  }
  if (url.username !== "" || url.password !== "") {
    return new HoldfastError("config_invalid", `the base URL of ${name} holds a user name or password`, { hint: "give the key by itself" });
  }
  return null;
}

/** Why nothing can be sampled there: what is wrong and what to do. Null where nothing is known to stand in the way. */
export function problemOf(provider: Provider): HoldfastError | null {
  const unreachable = addressProblem(provider);
  if (unreachable !== null) return unreachable;
  const { name, apiKey, keyFrom } = provider;
  if (apiKey === null && provider.needsKey) {
    const [variable] = keyFrom;
    return variable === undefined
      ? new HoldfastError("no_model", `no key for ${name}`, { hint: `set api_key_env under [providers.${name}] in config.toml` })
      : new HoldfastError("no_model", `no key for ${name}: ${keyFrom.join(" or ")} is not set`, {
          hint: `export ${variable}=…, or keep it: holdfast secrets set ${variable}`,
        });
  }
  return null;
}

/** Providers that something was set up for: a key, a base URL, an entry of the configuration. */
export function preparedProviders(config: Config, env: Env): Provider[] {
  return providerNames(config).flatMap((name) => {
    const provider = providerOf(name, config, env);
    if (provider === null || problemOf(provider) !== null) return [];
    const isPrepared = provider.apiKey !== null || Object.hasOwn(config.providers, name) || isElsewhere(name, env);
    return isPrepared ? [provider] : [];
  });
}

function isElsewhere(name: string, env: Env): boolean {
  const variable = Object.hasOwn(presets, name) ? presets[name]?.baseUrlVariable : null;
  return variable != null && Boolean(env[variable]);
}

/** Where the key of web_search is looked for. */
export function searchKeyVariables({ web: { search } }: Config): string[] {
  const usual = { brave: "BRAVE_API_KEY", tavily: "TAVILY_API_KEY", exa: "EXA_API_KEY", searxng: null };
  const variable = search?.apiKeyEnv ?? (search?.provider === undefined ? null : usual[search.provider]);
  return variable === null ? [] : [variable];
}

/** Headers that say what is sent and by whom, never a key: their values are ordinary words, which texts and commands need. */
const ordinaryHeaders =
  /^(?:accept(?:-.*)?|content-(?:type|language|encoding)|user-agent|referer|http-referer|origin|x-title|anthropic-(?:version|beta)|openai-(?:organization|project|beta)|x-goog-user-project)$/i;

function credentialsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (ordinaryHeaders.test(name) ? [] : [value]));
}

/** Every secret value that this process holds, for redaction. */
export function secretValues(config: Config, env: Env): string[] {
  const variables = [
    ...Object.values(presets).flatMap((preset) => preset.keyVariables),
    ...Object.values(config.providers).flatMap((own) => (own.apiKeyEnv === undefined ? [] : [own.apiKeyEnv])),
    ...Object.values(config.secrets).flatMap(({ env: variable }) => (variable === undefined ? [] : [variable])),
    ...searchKeyVariables(config),
  ];
  const written = Object.values(config.providers).flatMap((own) => [own.apiKey, ...credentialsIn(own.headers ?? {})]);
  return [...new Set([...variables.map((variable) => env[variable]), ...written])].filter((value): value is string => Boolean(value));
}
