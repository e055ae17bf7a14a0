import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { Network } from "@holdfast/runtime";
import { addressBelow } from "@holdfast/models/address";
import type { HttpPorts, SearchModel, SearchProvider } from "@holdfast/tools";
import type { Config } from "../config/config.ts";
import { endpointOf, type Endpoint } from "../config/model-choice.ts";
import type { Secrets } from "./secrets.ts";
import { providerOf, searchKeyVariables, type Env } from "../config/provider.ts";

const services = { brave: "https://api.search.brave.com", tavily: "https://api.tavily.com", exa: "https://api.exa.ai" };

/** What the web tools act through. The network is loaded with the first request. */
export function createHttp(config: Config, env: Env, { calls, names }: Pick<Secrets, "calls" | "names">): HttpPorts {
  return {
    network: createLazyNetwork(),
    secrets: calls,
    secretNames: names,
    keyedHosts: config.web.keyedHosts ?? [],
    search: searchProvider(config, env),
  };
}

function createLazyNetwork(): Network {
  let network: Promise<Network> | undefined;
  return {
    async exchange(request, signal) {
      network ??= import("@holdfast/node/network/index").then(({ createNetwork }) => createNetwork());
      return (await network).exchange(request, signal);
    },
  };
}

/**
 * Null where none is configured, or its key is missing: there is no tool then. Throws `config_invalid` for a service without
 * address and for a model that can't search, `no_model` for one that nobody serves.
 */
export function searchProvider(config: Config, env: Env): SearchProvider | null {
  const { enabled = true, provider: kind, baseUrl, model } = config.web.search ?? {};
  if (!enabled) return null;
  if (model !== undefined) return searchModel(model, config, env);
  if (kind === undefined) return null;
  const [variable] = searchKeyVariables(config);
  const apiKey = (variable === undefined ? undefined : env[variable]) || null;
  if (apiKey === null && kind !== "searxng") return null;
  const address = baseUrl ?? (kind === "searxng" ? undefined : services[kind]);
  if (address === undefined) {
    throw new HoldfastError("config_invalid", "[web.search] has no address", { hint: "set base_url to that of your SearXNG" });
  }
  return { kind, baseUrl: address.replace(/\/+$/, ""), apiKey };
}

/** Where a model is asked for one whole answer, below its base URL: the paths of the providers' own APIs. */
const askedAt = {
  responses: () => ({ path: "/responses", version: null }),
  messages: () => ({ path: "/messages", version: "v1" }),
  gemini: (model: string) => ({ path: `/models/${encodeURIComponent(model)}:generateContent`, version: "v1beta" }),
};

function searchModel(full: string, config: Config, env: Env): SearchModel | null {
  const endpoint = reachable(full, config, env);
  if (endpoint === null) return null;
  const { wire, baseUrl, apiKey, headers, model } = endpoint;
  if (wire === "chat") {
    throw new HoldfastError("config_invalid", `[web.search] names ${full}, whose wire (chat) has no search of its own`, {
      hint: "name a model of openai, anthropic or google, or a service with provider",
    });
  }
  return { kind: "model", wire, url: addressBelow(baseUrl, askedAt[wire](model), full), model, apiKey, headers };
}

/** Null where its provider is known and only lacks what a session may do without: its key, its address. */
function reachable(full: string, config: Config, env: Env): Endpoint | null {
  try {
    return endpointOf(full, config, env);
  } catch (error) {
    if (isHoldfastError(error, "no_model") && providerOf(full.slice(0, full.indexOf("/")), config, env) !== null) return null;
    throw error;
  }
}
