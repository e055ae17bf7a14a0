import type { Confinement, SecretStore } from "@holdfast/runtime";
import { clock } from "@holdfast/node/host/clock";
import type { Keyring } from "@holdfast/node/secrets/keyring";
import type { KeptSecrets } from "@holdfast/node/secrets/kept-file";
import { createSecretStore, type SecretDefinition } from "@holdfast/node/secrets/store";
import { isNamedHost } from "@holdfast/runtime/network/hosts";
import type { Config } from "../config/config.ts";
import { endpointOf } from "../config/model-choice.ts";
import { type Env, secretValues } from "../config/provider.ts";
import { serversOf } from "../mcp/servers.ts";
import type { HostOptions } from "../runtime-api.ts";
import { readKeptSecrets } from "../secrets/kept.ts";

export interface SecretParts {
  readonly config: Config;
  readonly env: Env;
  readonly kept: KeptSecrets;
  readonly keyring: () => Promise<Keyring | null>;
  /** Values of others, to be hidden as well. */
  readonly others: readonly string[];
  readonly onValue: (value: string) => void;
}

export interface Secrets {
  /** Keys of providers by the provider's name. Its `values` are all that this process holds. */
  readonly all: SecretStore;
  /** Those of `[secrets]` alone: a provider's key goes to its wire and nowhere else. */
  readonly calls: SecretStore;
  /** Takes up a value that an earlier process held. */
  readonly hold: (value: string) => void;
  /** Names of those that a call may use now. */
  readonly names: readonly string[];
}

export function createSecrets({ config, env, kept, keyring, others, onValue }: SecretParts): Secrets {
  const find = (name: string): SecretDefinition | null => {
    const found = Object.hasOwn(config.secrets, name) ? config.secrets[name] : undefined;
    if (found?.env === undefined || (found.hosts ?? []).length === 0) return null;
    const { env: variable, refresh, lifetimeMs = null, hosts = [] } = found;
    const own = Object.hasOwn(kept, variable) ? (kept[variable] ?? null) : null;
    const set = env[variable] || null;
    // What is kept stands in the environment, too, but doesn't end there.
    const isKept = own !== null && (set === null || own.in === "keyring" || set === own.value);
    const fresh = async (command: string) => (await import("../secrets/refresh.ts")).refreshSecret(command, env, lifetimeMs, clock.now());
    return {
      fromEnvironment: isKept ? null : set,
      kept: own,
      keptAs: variable,
      hosts,
      refresh: refresh === undefined ? null : () => fresh(refresh),
    };
  };
  const keptValues = Object.values(kept).flatMap(({ value }) => (value === undefined ? [] : [value]));
  const calls = createSecretStore({
    find,
    keyring,
    clock,
    values: [...new Set([...secretValues(config, env), ...others, ...keptValues])],
    onValue,
  });
  const all: SecretStore = {
    get: async (provider) => {
      const { apiKey } = endpointOf(`${provider}/any`, config, env);
      return apiKey === null ? null : { value: apiKey, expiresAt: null };
    },
    values: () => calls.values(),
  };
  const names = Object.keys(config.secrets).filter((name) => {
    const found = find(name);
    return found !== null && (found.fromEnvironment ?? found.kept ?? found.refresh) !== null;
  });
  return { all, calls, hold: calls.hold, names };
}

/** The values that a process holds without a host, and that nothing it posts may bring into the store. */
export async function heldValues({ config, env, home }: Pick<HostOptions, "config" | "env" | "home">): Promise<readonly string[]> {
  const kept = Object.values(await readKeptSecrets(home)).flatMap(({ value }) => (value === undefined ? [] : [value]));
  const { usable } = await serversOf(config, home, undefined);
  const secretsOf = usable.length === 0 ? null : (await import("@holdfast/mcp/expand")).secretsOf;
  const ofServers = usable.flatMap((server) => secretsOf?.(server.config, env) ?? []);
  return [...new Set([...secretValues(config, env), ...kept, ...ofServers])];
}

/** What a rule gives to a command: only where the sandbox lets it reach no other hosts than those of the secret. */
export function createCommandSecrets(config: Config, secrets: SecretStore) {
  return async (names: readonly string[], { mode, network, scope }: Confinement) => {
    const refuse = (text: string) => ({ type: "refused" as const, text: `${text} The command was not started.` });
    const given: Record<string, string> = {};
    for (const name of names) {
      const secret = await secrets.get(name);
      if (secret === null)
        return refuse(
          `A rule gives it the secret ${name}, and there is none, or it has ended: the user can set it (holdfast secrets set).`,
        );
      const reached = [network, scope.network ?? "none"].flatMap((access) =>
        access === "none" ? [] : access === "all" ? ["all"] : access,
      );
      const beyond = reached.find((host) => host === "all" || !isAmong(host, secret.hosts ?? []));
      if (mode !== "off" && beyond !== undefined)
        return refuse(
          `A rule gives it the secret ${name}, which is for ${(secret.hosts ?? []).join(", ")} alone, and it could reach ${beyond === "all" ? "every host" : beyond}.`,
        );
      const { as, env: variable } = config.secrets[name] ?? {};
      given[as ?? variable ?? name] = secret.value;
    }
    return given;
  };
}

/** A pattern is among others where it is one of them, or one name that they cover. */
function isAmong(host: string, hosts: readonly string[]): boolean {
  if (hosts.includes(host)) return true;
  const [, name = host, port = "443"] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(host) ?? [];
  return !host.startsWith("*") && isNamedHost(name.replace(/^\[|\]$/g, ""), Number(port), hosts);
}
