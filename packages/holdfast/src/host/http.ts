import { HoldfastError } from "@holdfast/protocol/error";
import type { Network, SecretStore } from "@holdfast/runtime";
import type { HttpPorts, SearchProvider } from "@holdfast/tools";
import type { Config } from "../config/config.ts";
import { searchKeyVariables, secretValues, type Env } from "../config/provider.ts";

const services = { brave: "https://api.search.brave.com", tavily: "https://api.tavily.com", exa: "https://api.exa.ai" };

/** What the web tools act through. The network is loaded with the first request. */
export function createHttp(config: Config, env: Env): HttpPorts {
  const secretNames = Object.keys(config.secrets).filter((name) => callSecret(name, config, env) !== null);
  return {
    network: createLazyNetwork(),
    secrets: createCallSecrets(config, env),
    secretNames,
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

/** Secrets of `[secrets]` alone: a provider's key goes to its wire and nowhere else. */
function createCallSecrets(config: Config, env: Env): SecretStore {
  return { get: async (name) => callSecret(name, config, env), values: () => secretValues(config, env) };
}

function callSecret(name: string, { secrets }: Config, env: Env): { value: string; expiresAt: null; hosts: readonly string[] } | null {
  const { env: variable, hosts = [] } = (Object.hasOwn(secrets, name) ? secrets[name] : undefined) ?? {};
  const value = variable === undefined ? undefined : env[variable];
  return value === undefined || value === "" || hosts.length === 0 ? null : { value, expiresAt: null, hosts };
}

/** Null where none is configured, or its key is missing: there is no tool then. Throws `config_invalid` for one without address. */
export function searchProvider(config: Config, env: Env): SearchProvider | null {
  const { enabled = true, provider: kind, baseUrl } = config.web.search ?? {};
  if (kind === undefined || !enabled) return null;
  const [variable] = searchKeyVariables(config);
  const apiKey = (variable === undefined ? undefined : env[variable]) || null;
  if (apiKey === null && kind !== "searxng") return null;
  const address = baseUrl ?? (kind === "searxng" ? undefined : services[kind]);
  if (address === undefined) {
    throw new HoldfastError("config_invalid", "[web.search] has no address", { hint: "set base_url to that of your SearXNG" });
  }
  return { kind, baseUrl: address.replace(/\/+$/, ""), apiKey };
}
