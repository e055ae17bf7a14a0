import type { SecretStore } from "@holdfast/runtime";
import type { Config } from "../config/config.ts";
import { secretValues } from "../config/provider.ts";
import { endpointOf } from "../config/model-choice.ts";

/** Keys of providers by the provider's name, from the environment and the config. */
export function createSecrets(config: Config, env: Readonly<Record<string, string | undefined>>): SecretStore {
  const values = secretValues(config, env);
  return {
    get: async (provider) => {
      const { apiKey } = endpointOf(`${provider}/any`, config, env);
      return apiKey === null ? null : { value: apiKey, expiresAt: null };
    },
    values: () => values,
  };
}
